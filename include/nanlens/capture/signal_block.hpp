/// @file
/// Signals that are the host's own affair, and stay so while nanlens starts threads and writes files.
#pragma once

#include <cerrno>
#include <csignal>
#include <ctime>
#include <initializer_list>

#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN detail {

/// While it lives, the calling thread gets no signals but those of its own faults, and a thread that it starts never
/// does: a signal that the host waits for in a thread of its own would otherwise come to that one, and end the process.
/// In a recording call that has to write, or to take memory, a handler waits until that is done: one that ends the
/// program there would leave the locks of the recorder, or of malloc, taken.
class NoSignals {
 public:
  NoSignals() noexcept {
    sigset_t all;
    ::sigfillset(&all);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP}) ::sigdelset(&all, fault);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;
  ~NoSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

/// While it lives, a file that may not grow any further (RLIMIT_FSIZE) is an error of the call that writes; without it
/// there is a signal, too, which ends the process.
class NoSizeSignal {
 public:
#if defined(__linux__)
  NoSizeSignal() noexcept {
    sigset_t pending;
    ::sigpending(&pending);
    is_hosts_ = ::sigismember(&pending, SIGXFSZ) == 1;
    ::sigemptyset(&signal_);
    ::sigaddset(&signal_, SIGXFSZ);
    ::pthread_sigmask(SIG_BLOCK, &signal_, &before_);
  }
  ~NoSizeSignal() {
    const int error = errno;
    constexpr std::timespec at_once{};
    while (!is_hosts_ && ::sigtimedwait(&signal_, nullptr, &at_once) < 0 && errno == EINTR) continue;
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error;
  }

 private:
  sigset_t signal_{};
  sigset_t before_{};
  bool is_hosts_ = false;
#else
  NoSizeSignal() noexcept = default;
  ~NoSizeSignal() {}
#endif
 public:
  NoSizeSignal(const NoSizeSignal&) = delete;
  NoSizeSignal& operator=(const NoSizeSignal&) = delete;
};

}  // namespace NANLENS_HIDDEN detail
}  // namespace nanlens::inline NANLENS_ABI
