/// @file
/// The traps as an object that is loaded into a program as it is (LD_PRELOAD): attaches before main, and stands between
/// the program and what it does with signals and with its floating-point environment. One translation unit of a shared
/// library includes this, and nothing else does.
///
/// Read from the environment: NANLENS_TRAPS, which exceptions (see `parse`); NANLENS_RUN_MARK, a file that is made to
/// show that the program is watched. It holds one int64: how many first traps of a place are not on record.
#pragma once

#include <cfenv>
#include <cstdarg>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <nanlens/hosts/traps.hpp>
#include <nanlens/hosts/traps/own_malloc.hpp>

#define NANLENS_INTERPOSED extern "C" __attribute__((visibility("default")))

namespace nanlens::inline NANLENS_ABI::traps::detail {

/// One line on stderr, once for each `said`.
inline void say_once(std::atomic<bool>& said, const char* text) noexcept {
  if (said.exchange(true)) return;
  (void)!::write(STDERR_FILENO, text, std::strlen(text));
}

inline struct sigaction* program_action(int signal) noexcept {
  if (!trapping.on.load()) return nullptr;
  return signal == SIGFPE ? &trapping.program_fpe : signal == SIGTRAP ? &trapping.program_trap : nullptr;
}

/// libgfortran handles SIGFPE in every program, to print a backtrace before it dies.
inline bool is_own_wish(void* handler) noexcept {
  Dl_info info{};
  if (handler == reinterpret_cast<void*>(SIG_DFL) || handler == reinterpret_cast<void*>(SIG_IGN)) return false;
  return ::dladdr(handler, &info) == 0 || info.dli_fname == nullptr ||
         std::strstr(info.dli_fname, "libgfortran") == nullptr;
}

inline void say_handled(int signal, void* handler) noexcept {
  static std::atomic<bool> said{false};
  if (signal == SIGFPE && is_own_wish(handler))
    say_once(said,
             "nanlens: the program handles SIGFPE itself: its handler gets what the program has unmasked itself\n");
}

/// A set without the signals that a trapped exception needs: where they are blocked, it ends the process.
inline const sigset_t* without_traps(const sigset_t* set, sigset_t& copy) noexcept {
  if (set == nullptr || !trapping.on.load()) return set;
  copy = *set;
  ::sigdelset(&copy, SIGFPE);
  ::sigdelset(&copy, SIGTRAP);
  return &copy;
}

/// What is not on record is counted in the mark, where it is found when the process is gone.
inline void keep_count_in(int file) noexcept {
  using Count = std::atomic<std::int64_t>;
  if (::ftruncate(file, sizeof(Count)) != 0) return;
  void* const begin = ::mmap(nullptr, sizeof(Count), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (begin != MAP_FAILED) trapping.num_unrecorded.store(static_cast<Count*>(begin));
}

inline void attach_at_start() noexcept {
  const char* const list = std::getenv("NANLENS_TRAPS");
  Exceptions wanted;
  if (list == nullptr || *list == '\0') return;
  if (!parse(list, wanted)) {
    std::fprintf(stderr, "nanlens: NANLENS_TRAPS: '%s' is not a list of invalid, divbyzero, overflow\n", list);
    return;
  }
  if (brings_malloc_for_one_thread()) {
    std::fputs(
        "nanlens: exceptions are not trapped: the program brings its own malloc and starts no threads, so that "
        "nothing may run beside it\n",
        stderr);
    return;
  }
  if (!attach(wanted)) return;
  const char* const mark = std::getenv("NANLENS_RUN_MARK");
  const int file = mark == nullptr ? -1 : ::open(mark, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0) return;
  keep_count_in(file);
  ::close(file);
}

/// The x87 unit is not armed: it reports an exception at its next instruction, by when the operands in memory may hold
/// something else, so that the instruction can't be run again for certain. But its flags stay.
inline void say_x87() noexcept {
  static std::atomic<bool> said{false};
  std::uint16_t flags = 0;
  __asm__ volatile("fnstsw %0" : "=a"(flags));
  if (trapping.on.load() && (flags & trapping.wanted.load()) != 0)
    say_once(said,
             "nanlens: long double arithmetic, which is not trapped (the x87 unit's), has raised an exception, too, in "
             "the thread that ended the program\n");
}

struct AtStart {
  AtStart() noexcept { attach_at_start(); }
  AtStart(const AtStart&) = delete;
  AtStart& operator=(const AtStart&) = delete;
  ~AtStart() {
    finish_recording();  // of what was trapped too late for the recorder to have begun
    say_x87();
  }
};
inline const AtStart at_start;

}  // namespace nanlens::inline NANLENS_ABI::traps::detail

NANLENS_INTERPOSED int sigaction(int signal, const struct sigaction* action, struct sigaction* before) noexcept {
  using namespace nanlens::traps::detail;
  Python::get().ask_at_start();  // which handles SIGINT then
  struct sigaction* const program = program_action(signal);
  if (program == nullptr) return real_sigaction(signal, action, before);
  if (before != nullptr) *before = *program;
  if (action == nullptr) return 0;
  *program = *action;
  say_handled(signal, reinterpret_cast<void*>(action->sa_sigaction));
  return 0;
}

NANLENS_INTERPOSED sighandler_t signal(int signal, sighandler_t handler) noexcept {
  using namespace nanlens::traps::detail;
  static auto* const next = real<sighandler_t(int, sighandler_t)>("signal");
  struct sigaction* const program = program_action(signal);
  if (program == nullptr) return next(signal, handler);
  const sighandler_t before = program->sa_handler;
  *program = {};
  program->sa_handler = handler;
  say_handled(signal, reinterpret_cast<void*>(handler));
  return before;
}

NANLENS_INTERPOSED int pthread_sigmask(int how, const sigset_t* set, sigset_t* before) noexcept {
  using namespace nanlens::traps::detail;
  sigset_t copy;
  return real_sigmask(how, how == SIG_UNBLOCK ? set : without_traps(set, copy), before);
}

NANLENS_INTERPOSED int sigprocmask(int how, const sigset_t* set, sigset_t* before) noexcept {
  using namespace nanlens::traps::detail;
  static auto* const next = real<int(int, const sigset_t*, sigset_t*)>("sigprocmask");
  sigset_t copy;
  return next(how, how == SIG_UNBLOCK ? set : without_traps(set, copy), before);
}

// The C library keeps what a program unmasks in both units alike, and asks the x87 unit what it was; nanlens unmasks in
// the other alone. So the x87 unit's word is what the program wants, in every thread.
NANLENS_INTERPOSED int feenableexcept(int exceptions) noexcept {
  using namespace nanlens::traps::detail;
  static auto* const next = real<int(int)>("feenableexcept");
  static std::atomic<bool> said{false};
  say_once(said, "nanlens: the program unmasks floating-point exceptions itself: they go to it once they are noted\n");
  return next(exceptions);
}

NANLENS_INTERPOSED int fedisableexcept(int exceptions) noexcept {
  using namespace nanlens::traps::detail;
  static auto* const next = real<int(int)>("fedisableexcept");
  const int before = next(exceptions);
  arm();
  return before;
}

NANLENS_INTERPOSED int fesetenv(const fenv_t* environment) noexcept {
  using namespace nanlens::traps::detail;
  static auto* const next = real<int(const fenv_t*)>("fesetenv");
  const int result = next(environment);
  if (environment == FE_DFL_ENV) arm();
  return result;
}

NANLENS_INTERPOSED int feupdateenv(const fenv_t* environment) noexcept {
  using namespace nanlens::traps::detail;
  static auto* const next = real<int(const fenv_t*)>("feupdateenv");
  const int result = next(environment);
  if (environment == FE_DFL_ENV) arm();
  return result;
}

// A thread begins with the masks of the one that starts it.
NANLENS_INTERPOSED int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                                      void* argument) noexcept {
  using namespace nanlens::traps::detail;
  static auto* const next = real<int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>("pthread_create");
  if (rests.end() != 0) arm();
  return next(thread, attributes, run, argument);
}

// The recorder's own plans for a copy of the process are made when it begins: with the first trap, which may be under
// way right now.
NANLENS_INTERPOSED pid_t fork() noexcept {
  using namespace nanlens::traps::detail;
  static auto* const next = real<pid_t()>("fork");
  RecordingThread& thread = RecordingThread::get();
  thread.hold();
  const pid_t child = next();
  if (child != 0) thread.release();
  return child;
}

NANLENS_INTERPOSED void _exit(int code) {
  using namespace nanlens::traps::detail;
  static auto* const next = real<void(int)>("_exit");
  finish_recording();
  say_x87();
  next(code);
  __builtin_unreachable();
}

NANLENS_INTERPOSED void _Exit(int code) noexcept { ::_exit(code); }

NANLENS_INTERPOSED void abort() noexcept {
  using namespace nanlens::traps::detail;
  static auto* const next = real<void()>("abort");
  finish_recording();
  next();
  __builtin_unreachable();
}
