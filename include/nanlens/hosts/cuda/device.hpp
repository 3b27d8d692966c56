/// @file
/// A GPU that is asked about tensors in its memory: how many of their elements are what, a few words of their content,
/// or all of it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>

#include <nanlens/config.hpp>
#include <nanlens/hosts/cuda/driver.hpp>
#include <nanlens/hosts/cuda/scan.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN cuda_host {

using namespace ::nanlens::cuda_scan;

/// The kernel; the driver compiles it for the GPU that is there.
inline constexpr char scan_ptx[] =
#include <nanlens/hosts/cuda/scan_ptx.inl>
    ;

/// Makes a device's primary context, in which programs of CUDA's runtime live, this thread's for a while, and lets it
/// do what it may not do while somebody's stream is being captured.
class Visit {
 public:
  Visit(const Driver& driver, Driver::Context context) noexcept
      : driver_(driver), entered_(driver.cuCtxPushCurrent_v2(context) == Driver::success) {
    if (entered_) driver_.cuThreadExchangeStreamCaptureMode(&capture_mode_);
  }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;
  ~Visit() {
    if (!entered_) return;
    driver_.cuThreadExchangeStreamCaptureMode(&capture_mode_);
    Driver::Context context = nullptr;
    driver_.cuCtxPopCurrent_v2(&context);
  }
  [[nodiscard]] bool entered() const noexcept { return entered_; }

 private:
  const Driver& driver_;
  int capture_mode_ = Driver::relaxed_capture;
  bool entered_;
};

class Device {
 public:
  static constexpr std::size_t most_devices = 64;

  /// Null where it can't be asked: no driver, no such device, or one that the kernel can't be compiled for.
  static Device* get(std::size_t number) noexcept {
    const Driver* const driver = Driver::get();
    if (driver == nullptr || number >= most_devices) return nullptr;
    static std::array<Device, most_devices> devices;
    Device& device = devices[number];
    const std::lock_guard guard(device.lock_);
    if (!device.begun_) device.begin(*driver, static_cast<int>(number));
    return device.kernel_ != nullptr ? &device : nullptr;
  }

  /// Is the stream being captured into a CUDA graph? Then nothing runs, and nothing can be asked.
  [[nodiscard]] bool is_capturing(Driver::Stream stream) noexcept {
    int status = Driver::not_capturing;
    return driver_->cuStreamIsCapturing(stream, &status) != Driver::success || status != Driver::not_capturing;
  }

  /// Answers each scan, once the stream has done what it had to do. False if the device can't.
  bool scan(Driver::Stream stream, std::span<const TensorScan> scans, std::span<ScanResult> results) noexcept {
    const Visit visit(*driver_, context_);
    if (!visit.entered() || is_capturing(stream)) return false;
    for (std::size_t begin = 0; begin < scans.size(); begin += scans_per_lane) {
      const std::size_t count = std::min(scans_per_lane, scans.size() - begin);
      const Lane lane = take_lane();
      if (lane.results == nullptr || !scan_some(stream, lane, scans.subspan(begin, count))) return false;
      std::copy_n(lane.results, count, results.begin() + static_cast<std::ptrdiff_t>(begin));
      give_back(lane);
    }
    return true;
  }

  /// Copies the device's memory, once the stream has done what it had to do.
  bool copy(Driver::Stream stream, void* to, std::uintptr_t from, std::size_t bytes) noexcept {
    const Visit visit(*driver_, context_);
    return visit.entered() && !is_capturing(stream) &&
           driver_->cuMemcpyDtoHAsync_v2(to, from, bytes, stream) == Driver::success &&
           driver_->cuStreamSynchronize(stream) == Driver::success;
  }

 private:
  static constexpr std::size_t scans_per_lane = 16 * scans_at_once;
  static constexpr std::size_t most_lanes = 128;
  /// Where one thread's answers are put together, and where they come.
  struct Lane {
    ScanResult* results = nullptr;  // in the host's memory, which the device writes
    Driver::Address totals = 0;
  };
  static constexpr std::size_t totals_bytes = 48;  // of each scan

  void begin(const Driver& driver, int number) noexcept {
    begun_ = true;
    driver_ = &driver;
    int device = 0;
    if (driver.cuDeviceGet(&device, number) != Driver::success ||
        driver.cuDevicePrimaryCtxRetain(&context_, device) != Driver::success)
      return;
    const Visit visit(driver, context_);
    void* module = nullptr;
    void* kernel = nullptr;
    if (visit.entered() && driver.cuModuleLoadData(&module, scan_ptx) == Driver::success &&
        driver.cuModuleGetFunction(&kernel, module, "nanlens_scan") == Driver::success)
      kernel_ = kernel;
  }

  // There are as many as threads ask at once, and they are kept. One that a device has not answered on may still be
  // written: it is lost.
  Lane take_lane() noexcept {
    Lane lane;
    {
      const std::lock_guard guard(lock_);
      if (num_free_ > 0) return free_[--num_free_];
      if (num_lanes_ == most_lanes) return lane;
      ++num_lanes_;
    }
    void* results = nullptr;
    if (driver_->cuMemAlloc_v2(&lane.totals, scans_per_lane * totals_bytes) == Driver::success &&
        driver_->cuMemsetD8_v2(lane.totals, 0, scans_per_lane * totals_bytes) == Driver::success &&
        driver_->cuMemHostAlloc(&results, scans_per_lane * sizeof(ScanResult), Driver::portable_memory) ==
            Driver::success)
      lane.results = static_cast<ScanResult*>(results);
    return lane;
  }
  void give_back(const Lane& lane) noexcept {
    const std::lock_guard guard(lock_);
    free_[num_free_++] = lane;
  }

  bool scan_some(Driver::Stream stream, const Lane& lane, std::span<const TensorScan> scans) noexcept {
    for (std::size_t begin = 0; begin < scans.size(); begin += scans_at_once) {
      const std::size_t count = std::min<std::size_t>(scans_at_once, scans.size() - begin);
      ScanBatch batch;
      std::copy_n(scans.begin() + static_cast<std::ptrdiff_t>(begin), count, batch.scans);
      std::uint64_t most_bytes = 0;
      for (const TensorScan& scan : batch.scans)
        most_bytes = std::max<std::uint64_t>(most_bytes, scan.count * scan.element_bytes * scan.parts);
      ScanResult* results = lane.results + begin;
      void* totals = reinterpret_cast<void*>(lane.totals + begin * totals_bytes);
      void* arguments[] = {&batch, &results, &totals};
      if (driver_->cuLaunchKernel(kernel_, blocks_for(most_bytes), static_cast<unsigned>(count), 1, threads_per_block,
                                  1, 1, 0, stream, arguments, nullptr) != Driver::success)
        return false;
    }
    return driver_->cuStreamSynchronize(stream) == Driver::success;
  }

  // Each thread has 64 bytes at least; beyond, as many blocks as keep the memory of the largest GPUs busy.
  static unsigned blocks_for(std::uint64_t bytes) noexcept {
    constexpr std::uint64_t bytes_per_block = 64 * threads_per_block;
    constexpr std::uint64_t most_blocks = 1056;
    return static_cast<unsigned>(std::clamp<std::uint64_t>(bytes / bytes_per_block, 1, most_blocks));
  }

  std::mutex lock_;
  bool begun_ = false;
  const Driver* driver_ = nullptr;
  Driver::Context context_ = nullptr;
  void* kernel_ = nullptr;
  std::size_t num_lanes_ = 0;
  std::array<Lane, most_lanes> free_;
  std::size_t num_free_ = 0;
};

}  // namespace NANLENS_HIDDEN cuda_host
}  // namespace nanlens::inline NANLENS_ABI
