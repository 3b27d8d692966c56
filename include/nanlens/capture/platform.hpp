/// @file
/// A clock for durations, thread and host names, and a lock for sections of a few nanoseconds.
#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>
#include <string>
#include <string_view>

#include <sched.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/syscall.h>
#endif

#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN detail {

/// Nanoseconds of a clock that never goes back, for durations.
inline std::uint64_t steady_now_ns() noexcept {
  std::timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(t.tv_nsec);
}

/// The operating system's number of this thread; 1 where there is none.
inline std::uint64_t thread_number() noexcept {
#if defined(SYS_gettid)
  return static_cast<std::uint64_t>(::syscall(SYS_gettid));
#else
  return 1;
#endif
}

inline std::string host_name() {
  char name[256] = {};
  if (::gethostname(name, sizeof name - 1) != 0 || name[0] == '\0') return "localhost";
  std::string text = name;
  for (char& c : text)
    if (c == '/') c = '-';  // it becomes part of file names
  return text;
}

/// `count` random characters of an alphabet.
inline std::string random_text(std::size_t count, std::string_view alphabet) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t bits = 0;
    if (::getentropy(&bits, sizeof bits) != 0)  // a kernel without it: unlike what other processes and moments give
      bits = static_cast<std::uint32_t>(
          (steady_now_ns() ^ static_cast<std::uint64_t>(::getpid())) * 0x9e3779b97f4a7c15U >> 32);
    text += alphabet[bits % alphabet.size()];
  }
  return text;
}

inline std::string base36(std::uint64_t value) {
  constexpr std::string_view digits = "0123456789abcdefghijklmnopqrstuvwxyz";
  std::string text;
  do text.insert(text.begin(), digits[value % 36]);
  while (value /= 36);
  return text;
}

/// For sections of a few nanoseconds that are nearly never contended.
class SpinLock {
 public:
  void lock() noexcept {
    while (flag_.test_and_set(std::memory_order_acquire))
      for (int i = 0; flag_.test(std::memory_order_relaxed); ++i)
        if (i % 128 == 127) ::sched_yield();  // whoever has it waits for a processor
  }
  void unlock() noexcept { flag_.clear(std::memory_order_release); }

 private:
  std::atomic_flag flag_;
};

}  // namespace NANLENS_HIDDEN detail
}  // namespace nanlens::inline NANLENS_ABI
