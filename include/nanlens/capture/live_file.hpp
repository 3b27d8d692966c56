/// @file
/// The memory of a recording: a file mapped into the process, which outlives it (logdir/live_format.hpp).
#pragma once

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <nanlens/capture/platform.hpp>
#include <nanlens/capture/signal_block.hpp>
#include <nanlens/capture/wall_clock.hpp>
#include <nanlens/config.hpp>
#include <nanlens/logdir/live_format.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN detail {

namespace live = logdir::live;
using live::no_stack;
using live::RegionHeader;
using live::RegionKind;
using QueuedEvent = live::LiveEvent;

/// A number that a process that died may leave, and that a reader looks at meanwhile. What std::atomic_ref is, which
/// not every standard library of today has.
template <class T>
class Shared {
 public:
  explicit Shared(T& number) noexcept : number_(&number) {}
  [[nodiscard]] T load(std::memory_order order) const noexcept {
    T value;
    __atomic_load(number_, &value, static_cast<int>(order));
    return value;
  }
  void store(T value, std::memory_order order) const noexcept {
    __atomic_store(number_, &value, static_cast<int>(order));
  }

 private:
  T* number_;
};

inline Shared<std::uint64_t> shared(std::uint64_t& number) noexcept { return Shared<std::uint64_t>(number); }

inline unsigned char* content_of(RegionHeader* region) noexcept {
  return reinterpret_cast<unsigned char*>(region) + live::region_content;
}
inline const unsigned char* content_of(const RegionHeader* region) noexcept {
  return reinterpret_cast<const unsigned char*>(region) + live::region_content;
}
inline std::size_t capacity_of(const RegionHeader* region) noexcept {
  return static_cast<std::size_t>(region->bytes) - live::region_content;
}

/// Regions of memory, in a file while that can be had. Where it can't (no room, no mapping on that file system), a
/// region is plain memory, and one line on stderr says what that costs.
class LiveFile {
 public:
  LiveFile() = default;
  LiveFile(const LiveFile&) = delete;
  LiveFile& operator=(const LiveFile&) = delete;
  ~LiveFile() { close(); }

  /// Makes the file, with its header. Fails only for want of memory.
  bool create(const std::string& path, std::int64_t ring, const live::Commit& commit) {
    path_ = path;
    fd_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd_ >= 0) hold();
    RegionHeader* const region = allocate(RegionKind::header, sizeof(live::LiveHeader), 0);
    if (region == nullptr) return false;
    header_ = new (content_of(region)) live::LiveHeader{};
    header_->process_id = static_cast<std::uint64_t>(::getpid());
    header_->ring = ring;
    header_->commits[0] = header_->commits[1] = commit;
    touch(wall_time_now());
    Shared(header_->version).store(live::version, std::memory_order_release);
    return true;
  }

  /// A new region with room for `bytes`; null if there is no memory.
  RegionHeader* allocate(RegionKind kind, std::size_t bytes, std::uint64_t thread_id) noexcept {
    const std::lock_guard guard(lock_);
    if (!reserve()) return nullptr;
    const std::size_t size =
        (bytes + live::region_content + live::page_bytes - 1) / live::page_bytes * live::page_bytes;
    void* memory = in_file(size);
    if (memory == MAP_FAILED)
      memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    regions_.emplace_back(memory, size);
    auto* const region = new (memory) RegionHeader{live::magic, RegionKind::none, size, thread_id, 0, 0, {0, 0}};
    set_kind(*region, kind);
    return region;
  }
  static void set_kind(RegionHeader& region, RegionKind kind) noexcept {
    Shared(region.kind).store(kind, std::memory_order_release);
  }

  /// The commit that is to hold next, and its parity. `commit()` makes it hold.
  [[nodiscard]] live::Commit& next_commit() noexcept { return header_->commits[next_parity()]; }
  [[nodiscard]] std::uint32_t next_parity() const noexcept { return header_->parity ^ 1U; }
  void commit() noexcept { Shared(header_->parity).store(next_parity(), std::memory_order_release); }
  [[nodiscard]] bool ready() const noexcept { return header_ != nullptr; }
  /// Tells readers that the process lives, and that what events before this wall time refer to is in the files.
  void touch(double wall_time) noexcept { Shared(header_->alive).store(wall_time, std::memory_order_release); }

  /// What somebody else asks for, by the file.
  [[nodiscard]] bool switched_off() const noexcept {
    return header_ != nullptr && Shared(header_->switched_off).load(std::memory_order_acquire) != 0;
  }
  void obey(bool off) noexcept { Shared(header_->obeyed).store(off ? 1 : 0, std::memory_order_release); }

  /// Ends the file: all is in the six files.
  void remove() {
    if (fd_ >= 0) ::unlink(path_.c_str());
    close();
  }
  /// In a forked child the file is the parent's. Threads of the parent's may have stood anywhere: the memory stays.
  void forget() noexcept {
    regions_.clear();
    close();
  }

 private:
  void close() noexcept {
    for (const auto& [memory, size] : regions_) ::munmap(memory, size);
    regions_.clear();
    header_ = nullptr;
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
    end_ = 0;
  }

  // A lock on the open file tells readers that the process lives. It ends with the process; forked children let go of
  // it.
  void hold() const noexcept {
#if defined(F_OFD_SETLK)
    struct flock lock{};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    ::fcntl(fd_, F_OFD_SETLK, &lock);
#endif
  }

  // Makes room in the list of regions.
  bool reserve() noexcept {
#if NANLENS_HAS_EXCEPTIONS
    try {
#endif
      regions_.reserve(regions_.size() + 1);
      return true;
#if NANLENS_HAS_EXCEPTIONS
    } catch (...) {
      return false;
    }
#endif
  }

  // Blocks are reserved first: to touch a page that a full disk has no room for would end the process.
  void* in_file(std::size_t size) {
    int error = fd_ < 0 ? errno : 0;
#if defined(__EMSCRIPTEN__)
    error = ENOTSUP;
#else
    const NoSizeSignal blocked;
    if (error == 0) error = ::posix_fallocate(fd_, static_cast<off_t>(end_), static_cast<off_t>(size));
#endif
    void* memory = MAP_FAILED;
    if (error == 0) {
      memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, static_cast<off_t>(end_));
      if (memory == MAP_FAILED) error = errno;
    }
    if (memory != MAP_FAILED) {
      end_ += size;
    } else if (!std::exchange(complained_, true)) {
      std::fprintf(
          stderr, "nanlens: '%s' can't hold events (%s): if the program dies, those not written yet are lost with it\n",
          path_.c_str(), std::strerror(error));
    }
    return memory;
  }

  std::mutex lock_;
  std::string path_;
  int fd_ = -1;
  std::size_t end_ = 0;
  bool complained_ = false;
  live::LiveHeader* header_ = nullptr;
  std::vector<std::pair<void*, std::size_t>> regions_;
};

}  // namespace NANLENS_HIDDEN detail
}  // namespace nanlens::inline NANLENS_ABI
