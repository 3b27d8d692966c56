/// @file
/// Floating-point exceptions of any native code of the process, trapped where they are raised and put on record: 0/0,
/// x/0, ∞−∞, 0·∞, overflow and the like, with instruction, operands, result and stack. For x86-64 on Linux.
///
///     nanlens::traps::attach();  // in main, before threads are started; NANLENS_LOGDIR says where to
///
/// `nanlens run --traps -- PROGRAM` does the same for programs as they are.
///
/// The thread that attaches is watched from then on, and so are all threads that it starts afterwards: threads begin
/// with the floating-point environment of the one that starts them. What code masks in its environment, for a time or
/// for good, isn't trapped meanwhile. Signal handlers run with all exceptions masked, as ever on Linux. A process that
/// blocks SIGFPE or SIGTRAP in a thread, or handles them itself, must not attach: the kernel ends a process that traps
/// where the signal is blocked (`nanlens run` sees to that). Arithmetic of the x87 unit, which x86-64 has for long
/// double alone, is not trapped.
///
/// In a program in Python (3.11 and later) a place is a line of Python, too, and the stack is Python's; inside of it
/// are the lines of an extension's own code, where they are known.
///
/// A place is counted exactly up to 10,000 times. From then on its thread masks the exception for 20 ms of its CPU time
/// after every 48 traps of such places: counts are lower bounds then, and what is rare may go unseen. A program that
/// attaches itself starts threads while none of its own rests, if it wants them watched from their first instruction.
#pragma once

#include <nanlens/config.hpp>

#if NANLENS_X86_64 && defined(__linux__)

#include <cstdio>
#include <string_view>

#include <nanlens/hosts/traps/recording.hpp>

namespace nanlens::inline NANLENS_ABI::traps {

/// Which exceptions are trapped.
struct Exceptions {
  bool invalid = true;
  bool divide_by_zero = true;
  bool overflow = true;
};

namespace detail {

constexpr std::uint32_t flags_of(const Exceptions& wanted) noexcept {
  return (wanted.invalid ? mxcsr_invalid : 0) | (wanted.divide_by_zero ? mxcsr_divide_by_zero : 0) |
         (wanted.overflow ? mxcsr_overflow : 0);
}

/// Unmasks what is wanted in the calling thread.
inline void arm() noexcept {
  if (!trapping.on.load()) return;
  __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() & ~(trapping.wanted.load() << mxcsr_mask_shift));
}

inline int find_program(dl_phdr_info* info, std::size_t, void*) noexcept {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    if (info->dlpi_phdr[i].p_type != PT_LOAD) continue;
    const std::uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
    if (trapping.program_begin == 0 || begin < trapping.program_begin) trapping.program_begin = begin;
    trapping.program_end = std::max(trapping.program_end, begin + info->dlpi_phdr[i].p_memsz);
  }
  return 1;  // the first is the executable
}

inline bool handle(int signal, void (*handler)(int, siginfo_t*, void*), struct sigaction& before) noexcept {
  struct sigaction action{};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  ::sigaddset(&action.sa_mask, SIGTRAP);  // of a timer: handlers themselves run masked
  return real_sigaction(signal, &action, &before) == 0;
}

/// What the handlers call must have been called before: the first time it may allocate.
inline void prepare() noexcept {
  ::dl_iterate_phdr(&find_program, nullptr);
  trapping.start_time = wall_time_now();
  Python::get().find();
  static Trap trap;
  walk_frames(trap);
}

}  // namespace detail

/// Traps exceptions in the calling thread, and in all that it starts from now on. Does nothing more if it was done
/// before. False, with a line on stderr, if there can be no thread to record them.
inline bool attach(const Exceptions& wanted = {}) noexcept {
  using namespace detail;
  if (trapping.on.load()) {
    arm();
    return true;
  }
  const std::uint32_t before = __builtin_ia32_stmxcsr();
  prepare();
  trapping.wanted.store(flags_of(wanted));
  if (!RecordingThread::get().start() || !handle(SIGTRAP, &on_trap, trapping.program_trap) ||
      !handle(SIGFPE, &on_fpe, trapping.program_fpe)) {
    std::fputs("nanlens: exceptions are not trapped: no thread could be started\n", stderr);
    return false;
  }
  ::pthread_atfork(nullptr, nullptr, [] {
    Rests::forget();
    if (rests.end_in_child() != 0) arm();
    RecordingThread::get().start_in_child();
  });
  trapping.on.store(true);
  __builtin_ia32_ldmxcsr(before);  // what was computed here is not the program's
  arm();
  return true;
}

/// "invalid,divbyzero,overflow", or some of them; "all". False for anything else.
inline bool parse(std::string_view list, Exceptions& wanted) noexcept {
  wanted = {false, false, false};
  while (!list.empty()) {
    const std::string_view name = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), name.size() + 1));
    if (name != "all" && name != "invalid" && name != "divbyzero" && name != "overflow") return false;
    wanted.invalid = wanted.invalid || name == "all" || name == "invalid";
    wanted.divide_by_zero = wanted.divide_by_zero || name == "all" || name == "divbyzero";
    wanted.overflow = wanted.overflow || name == "all" || name == "overflow";
  }
  return true;
}

}  // namespace nanlens::inline NANLENS_ABI::traps

#else
#error "nanlens/hosts/traps.hpp is for x86-64 on Linux"
#endif
