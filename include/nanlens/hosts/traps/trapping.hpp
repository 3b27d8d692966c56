/// @file
/// The signal handlers: note what a floating-point exception is about, run the instruction again with exceptions
/// masked, note its result, and unmask them again. The program goes on as if nothing had been.
#pragma once

#include <link.h>
#include <unwind.h>
#include <cerrno>
#include <csignal>
#include <ctime>

#include <nanlens/capture/hash.hpp>
#include <nanlens/hosts/traps/awaited.hpp>
#include <nanlens/hosts/traps/decode.hpp>
#include <nanlens/hosts/traps/places.hpp>
#include <nanlens/hosts/traps/python_of_process.hpp>
#include <nanlens/hosts/traps/real_functions.hpp>
#include <nanlens/hosts/traps/rests.hpp>
#include <nanlens/hosts/traps/trap_queue.hpp>

namespace nanlens::inline NANLENS_ABI::traps {

namespace detail {

using nanlens::detail::mix;

/// What a thread that runs one instruction masked comes back to.
struct Step {
  bool on;
  bool program_steps;     ///< the program had the trap flag set itself
  std::uintptr_t place;   ///< of the instruction
  std::uint32_t masks;    ///< of MXCSR, before
  std::uint32_t flags;    ///< of MXCSR, before
  TrapQueue::Slot* slot;  ///< what is noted of it; null if there was no room
};

/// Of each thread, where a handler finds it without a call into the loader.
[[gnu::tls_model("initial-exec")]] inline thread_local constinit Step step{};

/// What the handlers share.
struct Trapping {
  Places places;
  TrapQueue queue;
  Awaited awaited;
  /// First traps of their places that are not on record yet: a number that outlives the process, under `nanlens run`.
  std::atomic<std::atomic<std::int64_t>*> num_unrecorded{nullptr};
  std::atomic<std::uint32_t> wanted{0};  ///< flags of MXCSR that are trapped
  std::uintptr_t program_begin = 0;      ///< of the executable
  std::uintptr_t program_end = 0;
  double start_time = 0;  ///< wall time, seconds
  std::atomic<bool> on{false};
  /// What the program wants done with SIGFPE and SIGTRAP.
  struct sigaction program_fpe{};
  struct sigaction program_trap{};
};
inline constinit Trapping trapping{};

struct FrameWalk {
  Trap* trap;
  bool found;
};

inline _Unwind_Reason_Code add_frame(_Unwind_Context* context, void* data) noexcept {
  auto& walk = *static_cast<FrameWalk*>(data);
  const std::uintptr_t pc = _Unwind_GetIP(context);
  Trap& trap = *walk.trap;
  walk.found = walk.found || pc == trap.place;
  if (!walk.found) return _URC_NO_REASON;
  if (pc == 0 || trap.num_frames == most_frames) return _URC_END_OF_STACK;
  // The recorder takes all for return addresses, which lie behind what they are of.
  trap.frames[trap.num_frames] = trap.num_frames == 0 ? pc + 1 : pc;
  ++trap.num_frames;
  return _URC_NO_REASON;
}

/// The frames from the trapped instruction outwards: by the unwind tables, which on Linux need neither lock nor memory
/// once they were used (`prepare`), and know signal frames.
inline void walk_frames(Trap& trap) noexcept {
  FrameWalk walk{&trap, false};
  _Unwind_Backtrace(&add_frame, &walk);
  if (trap.num_frames == 0) trap.frames[trap.num_frames++] = trap.place + 1;
}

inline void walk_python(Trap& trap) noexcept {
  python::Walk walked;
  if (!Python::get().walk(walked)) return;
  trap.python_place = walked.hash;
  trap.python_stack = Python::get().put(walked);
}

/// A place in the executable is its instruction. In a library, such as that of logarithms and powers, one instruction
/// serves many lines: there the calls that lead to it are part of the place. So are Python's, everywhere.
inline std::uint64_t key_of(const Trap& trap) noexcept {
  std::uint64_t key = mix(mix(trap.place, static_cast<std::uint64_t>(trap.kind)), trap.python_place);
  const bool in_program = trap.place >= trapping.program_begin && trap.place < trapping.program_end;
  for (std::uint32_t i = 1; !in_program && i < trap.num_frames; ++i) key = mix(key, trap.frames[i]);
  return key;
}

inline double wall_time_now() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// Is each trap of each place counted? If not, counts are what is known.
inline bool all_counted() noexcept { return !Rests::any() && !trapping.places.full() && trapping.queue.lost() == 0; }

/// Notes everything but what comes of it. Where no slot is free, the trap is lost, and that is counted.
inline void note(const MachineState& state) noexcept {
  TrapQueue::Slot* const slot = trapping.queue.take();
  step.slot = slot;
  if (slot == nullptr) return;
  Trap& trap = slot->trap;
  trap.wall_time = wall_time_now();
  trap.place = state.pc();
  trap.thread = static_cast<std::uint64_t>(::syscall(SYS_gettid));
  decode(reinterpret_cast<const std::uint8_t*>(trap.place), trap.instruction);
  read_operands(state, trap);
  walk_frames(trap);
  walk_python(trap);
}

/// One more or less first trap of a place under way.
inline void add_unrecorded(const Trap& trap, std::int64_t number) noexcept {
  if (auto* const count = trapping.num_unrecorded.load(); count != nullptr && trap.hits == 1) count->fetch_add(number);
}

/// Counts a noted trap, now that it is known what it raised.
inline Place* count(const MachineState& state, std::uint32_t flags) noexcept {
  Trap& trap = step.slot->trap;
  trap.flags = flags;
  trap.kind = kind_of(trap, flags, state.lanes_of_mask(trap.instruction.mask));
  trap.key = key_of(trap);
  Place* const place = trapping.places.find(trap.key);
  trap.hits = place == nullptr ? 1 : place->hits.fetch_add(1) + 1;
  add_unrecorded(trap, 1);
  return place;
}

/// Hands a trap over. With the first at a place the thread waits until that is on record, unless many are under way.
inline void hand_over(TrapQueue::Slot& slot) noexcept {
  const bool waits = slot.trap.hits == 1 && !trapping.queue.is_crowded();
  const std::uint32_t uses = slot.uses.load();
  trapping.queue.hand_over(slot);
  if (waits) trapping.awaited.wait([&] { return slot.uses.load() != uses; });
}

/// Hands the noted trap on with its result: the first at its place, the second, the fourth and so on at once, of the
/// others the last when the program ends. Where too many are under way, the first waits at its place. How often its
/// place has trapped by now; of a place without room to count, that it was often enough.
inline std::uint64_t finish_note(const MachineState& state) noexcept {
  if (step.slot == nullptr) return 0;
  Trap& trap = step.slot->trap;
  read_result(state, trap);
  Place* const place = count(state, state.mxcsr() & mxcsr_flags);
  const std::uint64_t hits = trap.hits;
  if (place == nullptr) {
    trapping.queue.hand_over(*step.slot);
    return most_counted + 1;
  }
  const bool crowded = trapping.queue.is_crowded();
  const bool waits = crowded && hits == 1 && Places::keep_first(*place, trap);
  if ((hits & (hits - 1)) == 0 && !waits && (!crowded || hits == 1)) {
    hand_over(*step.slot);
    return hits;
  }
  if (waits)
    trapping.queue.defer();
  else
    Places::keep_last(*place, trap);
  trapping.queue.give_back(*step.slot);
  return hits;
}

/// The masks that a thread goes on with after a trap.
inline std::uint32_t masks_after(const MachineState& state, std::uint64_t hits) noexcept {
  rests.end();
  const std::uint32_t raised = state.mxcsr() & trapping.wanted.load();
  return step.masks | (hits > most_counted ? rests.after_trap(raised) : 0);
}

/// A rest is over: the thread, or what it is about to come back to, traps again.
inline void end_rest(const MachineState& state) noexcept {
  const std::uint32_t masks = rests.at_tick();
  if (step.on)
    step.masks &= ~masks;
  else
    state.mxcsr() &= ~masks;
}

/// Lets the program's own handler have a signal; does what the system would where it has none.
inline void pass_on(const struct sigaction& to, int signal, siginfo_t* info, void* context) noexcept {
  if ((to.sa_flags & SA_SIGINFO) != 0 && to.sa_sigaction != nullptr) return to.sa_sigaction(signal, info, context);
  if (to.sa_handler != SIG_DFL && to.sa_handler != SIG_IGN) return to.sa_handler(signal);
  const bool forced = info->si_code > 0;  // by an instruction: it can't be ignored
  if (to.sa_handler == SIG_IGN && !forced) return;
  trapping.queue.flush();
  struct sigaction fatal{};
  fatal.sa_handler = SIG_DFL;
  ::syscall(SYS_rt_sigaction, signal, &fatal, nullptr, 8);
  if (!forced) ::raise(signal);
}

/// The si_code of an exception that a program has unmasked itself: the system tells of any flag that was ever raised.
constexpr int code_of(std::uint32_t flags) noexcept {
  return (flags & mxcsr_invalid) != 0 ? FPE_FLTINV : (flags & mxcsr_divide_by_zero) != 0 ? FPE_FLTDIV : FPE_FLTOVF;
}

inline void on_fpe(int signal, siginfo_t* info, void* context) noexcept {
  const int error = errno;
  const MachineState state(context);
  const bool raised = info->si_code >= FPE_FLTDIV && info->si_code <= FPE_FLTSUB && !state.at_x87();
  const std::uint32_t flags = state.mxcsr() & ~(state.mxcsr() >> mxcsr_mask_shift) & mxcsr_flags;
  const bool ours = raised && trapping.on.load() && (flags & trapping.wanted.load()) != 0;
  const std::uint32_t programs = flags & state.unmasked_by_program();
  if (ours) note(state);
  if (!ours || programs != 0) {  // the program's: here it never gets to a result
    if (ours && step.slot != nullptr) {
      count(state, programs);
      step.slot->trap.taken_by_program = true;
      info->si_code = code_of(programs);
      hand_over(*step.slot);
    }
    pass_on(trapping.program_fpe, signal, info, context);
    errno = error;
    return;
  }
  step.on = true;
  step.place = state.pc();
  step.masks = state.mxcsr() & (mxcsr_flags << mxcsr_mask_shift);
  step.flags = state.mxcsr() & mxcsr_flags;
  state.mxcsr() = (state.mxcsr() | mxcsr_flags << mxcsr_mask_shift) & ~mxcsr_flags;
  step.program_steps = state.single_step(true);
  state.unblock(SIGTRAP);
  errno = error;
}

/// Has the instruction that was to run alone been run? Virtual machines lose now and then that a debug exception was of
/// a single step (bit BS of DR6); Linux then calls it a breakpoint.
inline bool is_step_done(const siginfo_t& info, const MachineState& state) noexcept {
  constexpr std::uintptr_t longest_instruction = 15;
  const bool just_behind = state.pc() > step.place && state.pc() <= step.place + longest_instruction;
  return step.on && (info.si_code == TRAP_TRACE || (info.si_code == TRAP_BRKPT && just_behind));
}

inline void on_trap(int signal, siginfo_t* info, void* context) noexcept {
  const int error = errno;
  const MachineState state(context);
  if (Rests::is_tick(*info)) {
    end_rest(state);
    errno = error;
    return;
  }
  if (!is_step_done(*info, state)) {
    pass_on(trapping.program_trap, signal, info, context);
    errno = error;
    return;
  }
  step.on = false;
  const std::uint32_t masks = masks_after(state, finish_note(state));
  state.mxcsr() = (state.mxcsr() & ~(mxcsr_flags << mxcsr_mask_shift)) | masks | step.flags;
  const bool program_steps = step.program_steps;
  if (!program_steps) state.single_step(false);
  info->si_code = TRAP_TRACE;
  errno = error;
  if (program_steps) pass_on(trapping.program_trap, signal, info, context);
}

}  // namespace detail
}  // namespace nanlens::inline NANLENS_ABI::traps
