#include "fake_cuda.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include <sys/mman.h>
#include <unistd.h>
#include <nanlens/hosts/cuda/scan.hpp>

using namespace nanlens::cuda_scan;

namespace {

constexpr std::size_t memory_bytes = std::size_t{1} << 28;
constexpr int failure = 719;
constexpr int invalid_value = 1;

// One memory, mapped twice: where programs see it nobody may read it.
struct Memory {
  Memory() {
    const int file = ::memfd_create("fake_cuda", MFD_CLOEXEC);
    if (file < 0 || ::ftruncate(file, memory_bytes) != 0) std::abort();
    outside = reinterpret_cast<std::uintptr_t>(::mmap(nullptr, memory_bytes, PROT_NONE, MAP_SHARED, file, 0));
    inside = static_cast<char*>(::mmap(nullptr, memory_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
    ::close(file);
  }
  std::uintptr_t outside;
  char* inside;
  std::size_t used = 512;
};

struct Gpu {
  Memory memory;
  std::recursive_mutex lock;
  std::map<void*, std::vector<std::function<void()>>> streams;
  std::set<void*> capturing;
  std::string failing;
  std::size_t launches = 0;
};

Gpu& gpu() {
  static auto* const one = new Gpu;
  return *one;
}

thread_local std::size_t contexts = 0;
thread_local int capture_mode = 0;
thread_local void* current_stream = nullptr;

int result(const char* name) {
  const std::lock_guard guard(gpu().lock);
  return gpu().failing == name ? failure : 0;
}

bool is_inside(std::uintptr_t address, std::size_t bytes) {
  const Memory& memory = gpu().memory;
  return address >= memory.outside && address + bytes <= memory.outside + memory_bytes;
}

Word64 translated(Word64 address) { return reinterpret_cast<Word64>(fake_cuda::inside(address)); }

// What the kernel does, thread by thread.
void scan_all(const ScanBatch& batch, unsigned blocks, unsigned rows, ScanResult* results) {
  for (unsigned row = 0; row < rows; ++row) {
    TensorScan scan = batch.scans[row];
    ScanResult& to = results[row];
    for (unsigned i = 0; i < scan.num_places; ++i) {
      scan.places[i].address = translated(scan.places[i].address);
      to.words[i] = word_at(scan.places[i]);
    }
    if (scan.count == 0) continue;
    scan.address = translated(scan.address);
    const Word64 threads = Word64{blocks} * threads_per_block;
    ThreadCounts sums;
    for (Word64 thread = 0; thread < threads; ++thread) {
      const ThreadCounts counts = count_share(scan, thread, threads);
      sums.neg_inf += counts.neg_inf;
      sums.pos_inf += counts.pos_inf;
      sums.nan += counts.nan;
      sums.negative += counts.negative;
      sums.zero += counts.zero;
    }
    to.neg_inf = sums.neg_inf;
    to.pos_inf = sums.pos_inf;
    to.nan = sums.nan;
    to.negative = sums.negative;
    to.zero = sums.zero;
  }
}

}  // namespace

namespace fake_cuda {

std::uintptr_t allocate(std::size_t bytes, std::size_t alignment) {
  const std::lock_guard guard(gpu().lock);
  Memory& memory = gpu().memory;
  memory.used = (memory.used + 511) / 512 * 512 + alignment % 512;
  const std::uintptr_t address = memory.outside + memory.used;
  memory.used += bytes;
  if (memory.used > memory_bytes) std::abort();
  return address;
}
void* inside(std::uintptr_t address) { return gpu().memory.inside + (address - gpu().memory.outside); }

void enqueue(void* stream, std::function<void()> work) {
  const std::lock_guard guard(gpu().lock);
  gpu().streams[stream].push_back(std::move(work));
}
void synchronise() {
  const std::lock_guard guard(gpu().lock);
  for (auto& [stream, queue] : gpu().streams)
    for (const auto& work : std::exchange(queue, {})) work();
}
void set_current_stream(void* stream) { current_stream = stream; }
void set_capturing(void* stream, bool capturing) {
  const std::lock_guard guard(gpu().lock);
  if (capturing)
    gpu().capturing.insert(stream);
  else
    gpu().capturing.erase(stream);
}
void set_failing(const std::string& name) {
  const std::lock_guard guard(gpu().lock);
  gpu().failing = name;
}
std::size_t launches() { return gpu().launches; }
std::size_t contexts_entered() { return contexts; }

}  // namespace fake_cuda

// NOLINTBEGIN(readability-identifier-naming): the driver's names
extern "C" {
int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return ordinal < 2 ? result("cuDeviceGet") : invalid_value;
}
int cuDevicePrimaryCtxRetain(void** context, int device) {
  *context = reinterpret_cast<void*>(static_cast<std::intptr_t>(device) + 1);
  return result("cuDevicePrimaryCtxRetain");
}
int cuCtxPushCurrent_v2(void* context) {
  if (result("cuCtxPushCurrent_v2") != 0 || context == nullptr) return failure;
  ++contexts;
  return 0;
}
int cuCtxPopCurrent_v2(void** context) {
  *context = nullptr;
  --contexts;
  return 0;
}
int cuModuleLoadData(void** module, const void* image) {
  *module = &gpu();
  const bool is_ptx = std::strncmp(static_cast<const char*>(image), ".version", 8) == 0;
  return is_ptx && contexts > 0 ? result("cuModuleLoadData") : failure;
}
int cuModuleGetFunction(void** function, void*, const char* name) {
  *function = &gpu();
  return std::strcmp(name, "nanlens_scan") == 0 ? result("cuModuleGetFunction") : failure;
}
int cuLaunchKernel(void*, unsigned grid_x, unsigned grid_y, unsigned, unsigned block_x, unsigned, unsigned, unsigned,
                   void* stream, void** arguments, void**) {
  if (result("cuLaunchKernel") != 0 || contexts == 0 || block_x != threads_per_block) return failure;
  const std::lock_guard guard(gpu().lock);
  ++gpu().launches;
  const ScanBatch batch = *static_cast<const ScanBatch*>(arguments[0]);
  ScanResult* const results = *static_cast<ScanResult**>(arguments[1]);
  fake_cuda::enqueue(stream, [=] { scan_all(batch, grid_x, grid_y, results); });
  return 0;
}
int cuStreamSynchronize(void* stream) {
  if (result("cuStreamSynchronize") != 0 || contexts == 0) return failure;
  const std::lock_guard guard(gpu().lock);
  for (const auto& work : std::exchange(gpu().streams[stream], {})) work();
  return 0;
}
int cuStreamIsCapturing(void* stream, int* status) {
  const std::lock_guard guard(gpu().lock);
  *status = gpu().capturing.contains(stream) ? 1 : 0;
  return result("cuStreamIsCapturing");
}
int cuThreadExchangeStreamCaptureMode(int* mode) {
  std::swap(*mode, capture_mode);
  return 0;
}
int cuMemAlloc_v2(unsigned long long* address, std::size_t bytes) {
  if (capture_mode != 2) return failure;  // a program that captures must not be disturbed
  *address = fake_cuda::allocate(bytes);
  return result("cuMemAlloc_v2");
}
int cuMemHostAlloc(void** memory, std::size_t bytes, unsigned) {
  static auto* const all = new std::vector<std::vector<char>>;
  const std::lock_guard guard(gpu().lock);
  *memory = all->emplace_back(bytes).data();
  return result("cuMemHostAlloc");
}
int cuMemsetD8_v2(unsigned long long address, unsigned char value, std::size_t bytes) {
  std::memset(fake_cuda::inside(address), value, bytes);
  return result("cuMemsetD8_v2");
}
int cuMemcpyDtoHAsync_v2(void* to, unsigned long long from, std::size_t bytes, void* stream) {
  if (result("cuMemcpyDtoHAsync_v2") != 0 || !is_inside(from, bytes)) return failure;
  fake_cuda::enqueue(stream, [=] { std::memcpy(to, fake_cuda::inside(from), bytes); });
  return 0;
}
int cuPointerGetAttribute(void* value, int attribute, unsigned long long address) {
  if (!is_inside(address, 1) || (attribute != 2 && attribute != 9)) return invalid_value;
  if (attribute == 2)
    *static_cast<unsigned*>(value) = 2;
  else
    *static_cast<int*>(value) = 0;
  return result("cuPointerGetAttribute");
}
}
// NOLINTEND(readability-identifier-naming)

namespace c10::cuda {

/// As large as PyTorch's, and returned in the same way.
struct CUDAStream {
  std::int16_t device;
  std::int64_t id;
  [[nodiscard]] void* stream() const;
};
void* CUDAStream::stream() const { return reinterpret_cast<void*>(id); }
CUDAStream getCurrentCUDAStream(signed char device) {
  return {static_cast<std::int16_t>(device), reinterpret_cast<std::int64_t>(current_stream)};
}

}  // namespace c10::cuda
