/// @file
/// How the recorders of a process find the one that serves all, whatever the visibility of their symbols.
///
/// The first in use publishes its table in a page that the process's memory map shows under a name of its own; the
/// others look there before they serve anybody. Where there is no such map, each serves its own program or library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__linux__)
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <nanlens/capture/recorder_table.hpp>
#include <nanlens/capture/signal_block.hpp>
#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN detail {

#if defined(__linux__) && defined(SYS_memfd_create)

struct MeetingPoint {
  static constexpr char page_name[] = "nanlens-recorder-11";
  static_assert(recorder_version == 11, "the page is named after the version");
  char name[sizeof page_name];
  const RecorderTable* recorder;
};

/// Reads /proc/self/maps line by line, without allocation: it runs while the loader is locked.
class MemoryMap {
 public:
  MemoryMap() noexcept : file_(::open("/proc/self/maps", O_RDONLY | O_CLOEXEC)) {}
  MemoryMap(const MemoryMap&) = delete;
  MemoryMap& operator=(const MemoryMap&) = delete;
  ~MemoryMap() {
    if (file_ >= 0) ::close(file_);
  }
  /// The next line, with a 0 for its end; null after the last. Of very long ones, the beginning.
  const char* next() noexcept {
    std::size_t size = 0;
    for (char c = 0; get(c);) {
      if (c == '\n') break;
      if (size + 1 < sizeof line_) line_[size++] = c;
    }
    line_[size] = '\0';
    return size == 0 ? nullptr : line_;
  }

 private:
  bool get(char& c) noexcept {
    if (at_ == size_) {
      const ssize_t n = file_ < 0 ? 0 : ::read(file_, buffer_, sizeof buffer_);
      at_ = 0;
      size_ = n > 0 ? static_cast<std::size_t>(n) : 0;
      if (size_ == 0) return false;
    }
    c = buffer_[at_++];
    return true;
  }
  int file_;
  std::size_t at_ = 0;
  std::size_t size_ = 0;
  char buffer_[4096];
  char line_[512];
};

/// What another program or library of this process has published; null if none has.
inline const RecorderTable* published_recorder() noexcept {
  MemoryMap map;
  while (const char* const line = map.next()) {
    const char* const path = std::strstr(line, "/memfd:");
    if (path == nullptr || std::strncmp(path + 7, MeetingPoint::page_name, sizeof MeetingPoint::page_name - 1) != 0)
      continue;
    std::uintptr_t address = 0;
    for (const char* c = line; *c != '-' && *c != '\0'; ++c)
      address = address * 16 + static_cast<std::uintptr_t>(*c <= '9' ? *c - '0' : *c - 'a' + 10);
    const auto* const point = reinterpret_cast<const MeetingPoint*>(address);
    if (std::memcmp(point->name, MeetingPoint::page_name, sizeof point->name) == 0 &&
        point->recorder->version == recorder_version && point->recorder->bytes == sizeof(RecorderTable))
      return point->recorder;
  }
  return nullptr;
}

/// False if it can't be had.
inline bool publish(const RecorderTable& own) noexcept {
  const auto file = static_cast<int>(::syscall(SYS_memfd_create, MeetingPoint::page_name, 1U));  // MFD_CLOEXEC
  if (file < 0) return false;
  MeetingPoint point{};
  std::memcpy(point.name, MeetingPoint::page_name, sizeof point.name);
  point.recorder = &own;
  const NoSizeSignal blocked;
  const bool written = ::write(file, &point, sizeof point) == static_cast<ssize_t>(sizeof point);
  void* const page = written ? ::mmap(nullptr, sizeof point, PROT_READ, MAP_SHARED, file, 0) : MAP_FAILED;
  ::close(file);
  return page != MAP_FAILED;
}

/// The recorder that serves the process. Called once by each program and library; two at a time are kept apart by the
/// loader's lock, which all of them share.
inline const RecorderTable& meet(const RecorderTable& own) noexcept {
  struct Meeting {
    const RecorderTable* own;
    const RecorderTable* chosen;
  } meeting{&own, nullptr};
  const auto choose = [](dl_phdr_info*, std::size_t, void* data) {
    auto& m = *static_cast<Meeting*>(data);
    m.chosen = published_recorder();
    if (m.chosen == nullptr && publish(*m.own)) m.chosen = m.own;
    return 1;
  };
  ::dl_iterate_phdr(choose, &meeting);
  if (meeting.chosen != nullptr && meeting.chosen != &own) return *meeting.chosen;
  // What serves others, and has a thread, must not be unloaded.
  Dl_info info{};
  if (::dladdr(&own, &info) != 0 && info.dli_fname != nullptr)
    (void)::dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
  return own;
}

#else

inline const RecorderTable& meet(const RecorderTable& own) noexcept { return own; }

#endif

}  // namespace NANLENS_HIDDEN detail
}  // namespace nanlens::inline NANLENS_ABI
