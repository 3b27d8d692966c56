/// @file
/// The thread that puts trapped exceptions on record.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include <pthread.h>

#include <nanlens/capture/environment.inl>
#include <nanlens/capture/fp_flags.hpp>
#include <nanlens/capture/symbolizer.hpp>
#include <nanlens/hosts/traps/called_function.hpp>
#include <nanlens/hosts/traps/trapping.hpp>
#include <nanlens/nanlens.hpp>

namespace nanlens::inline NANLENS_ABI::traps::detail {

using nanlens::detail::Observation;
using nanlens::detail::OpRef;
using nanlens::detail::ResolvedFrame;
using nanlens::detail::SourcePlace;

/// What NanlensExtension.fp_flags has of a trap.
constexpr std::uint32_t recorded_flags(const Trap& trap) noexcept {
  const std::uint32_t flags = trap.flags;
  const bool compares = trap.instruction.target == Target::mask_or_flags;  // which makes no number
  const bool result_unknown = !trap.has_result && !trap.taken_by_program && !compares;
  return (trap.taken_by_program ? logdir::fp_taken_by_program : 0) | (result_unknown ? logdir::fp_result_unknown : 0) |
         ((flags & mxcsr_invalid) != 0 ? nanlens::detail::fp_invalid : 0) |
         ((flags & mxcsr_divide_by_zero) != 0 ? nanlens::detail::fp_divide_by_zero : 0) |
         ((flags & mxcsr_overflow) != 0 ? nanlens::detail::fp_overflow : 0);
}

inline void follow_recorder();

/// Records traps; used by one thread at a time.
class NANLENS_HIDDEN TrapRecorder {
 public:
  void record(Trap& trap) noexcept {
    try {
      put(trap);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "nanlens: a trapped exception is not recorded: %s\n", error.what());
    }
  }

  /// Ends what was begun again.
  void end() noexcept {
    if (began_again_) disable_dump_debug_info();
    began_again_ = false;
  }

 private:
  /// The process may end at the very moment at which the recorder has begun: then it is over before its first event.
  void begin_again() {
    DumpOptions options;
    std::string why;
    if (nanlens::detail::environment("NANLENS_LOGDIR").empty()) return;
    if (nanlens::detail::options_from_environment(options, why))
      began_again_ = nanlens::detail::start_dump(options, why);
  }

  /// Where a trap happened.
  struct Where {
    std::size_t begin = 0;  ///< the first frame outside the C library
    std::string in;         ///< the function of the C library that was called there; empty if none was
    std::string within;     ///< else the function that the instruction is in, where its line isn't known but a caller's
    ResolvedFrame instruction;                    ///< or the call that led to it
    std::string line;                             ///< the innermost that is known, else the function, to count by
    std::uint32_t stack = SourcePlace::no_stack;  ///< the recorder's, of a program in Python
  };

  void put(Trap& trap) {
    forget(&trap, sizeof trap);  // the first event of all: with it the recorder begins, and plans its own end
    if (!began_) follow_recorder();
    began_ = true;
    const Where& where = find(trap);
    const Instruction& i = trap.instruction;
    const std::string_view type = i.name;
    const std::string kind = words_of(trap, where);
    auto& hits = hits_[std::string(type) + "\n" + kind + "\n" + where.line];
    hits[trap.key] = trap.hits;
    Observation observed{trap.frames + where.begin, trap.num_frames - where.begin, trap.thread, 0, 0, !all_counted()};
    for (const auto& [place, count] : hits) observed.hits += count;
    if (trap.wall_time > start_) observed.since_start_ns = static_cast<std::uint64_t>((trap.wall_time - start_) * 1e9);
    const SourcePlace place = place_of(where);
    std::vector<TensorView> operands;
    for (std::size_t k = 0; k < i.num_operands; ++k)
      if (trap.operand_known[k]) operands.push_back(view(i, trap.operands[k], i.from));
    std::vector<TensorView> results;
    if (trap.has_result) results.push_back(view(i, trap.result, i.to));
    auto input_refs = inputs(operands);
    auto output_refs = outputs(results);
    // Last, since finding symbols takes long: what ends the recorder may be under way.
    if ((nanlens::detail::active_bits() & nanlens::detail::dumping_bit) == 0) begin_again();
    nanlens::detail::record(OpRef(type, kind, place), input_refs, output_refs, {0, recorded_flags(trap), &observed});
  }

  static std::string words_of(const Trap& trap, const Where& where) {
    const char* const words = kind_words(trap.kind);
    if (where.in.empty()) return where.within.empty() ? words : words + (" in " + where.within);
    return kind_words(kind_of_call(trap.kind, trap.instruction.action, where.in)) + (" in " + where.in);
  }

  static TensorView view(const Instruction& i, const unsigned char* bytes, Element element) {
    return dense_view(bytes, dtype_of(element), i.is_packed ? Shape{i.lanes} : Shape{});
  }

  static SourcePlace source_place(const ResolvedFrame& at) {
    return {at.file.c_str(), at.function.c_str(), static_cast<std::uint32_t>(at.line), 0};
  }
  static SourcePlace place_of(const Where& where) {
    if (where.stack != SourcePlace::no_stack) return SourcePlace::of_stack(where.stack);
    return source_place(where.instruction);  // without debug information the function and its file, with line 0
  }

  const Where& find(const Trap& trap) {
    const auto [found, is_new] = where_.try_emplace(trap.key);
    if (!is_new) return found->second;
    Where& where = found->second;
    find_caller(trap, where);
    const SourcePlace nowhere;
    const std::span frames(trap.frames + where.begin, trap.num_frames - where.begin);
    const auto innermost = symbolizer_.resolve(frames.first(1), nowhere);
    if (!innermost.empty()) where.instruction = innermost.back();
    const std::span python = Python::get().stacks.frames(trap.python_stack);
    if (Python::get().is_unreadable() && outside_python(frames).size() < frames.size()) python::say_unreadable();
    const auto resolved = symbolizer_.resolve(python.empty() ? frames : outside_python(frames), nowhere);
    const auto known =
        std::find_if(resolved.rbegin(), resolved.rend(), [](const ResolvedFrame& frame) { return frame.line > 0; });
    const auto line = [](std::string_view file, const std::string& number_or_function) {
      return std::string(file) + ":" + number_or_function;
    };
    where.line = known != resolved.rend() ? line(known->file, std::to_string(known->line))
                 : python.empty()         ? line(where.instruction.file, where.instruction.function)
                                          : line(python.front().file, std::to_string(python.front().line));
    if (!python.empty()) where.stack = joint_stack(python, resolved);
    if (where.instruction.line == 0 && (known != resolved.rend() || !python.empty()))
      where.within = bare_name(where.instruction.function);
    return where;
  }

  /// The frames of the native code that Python called.
  static std::span<const std::uintptr_t> outside_python(std::span<const std::uintptr_t> frames) {
    std::size_t count = 0;
    while (count < frames.size() && !Python::has(frames[count])) ++count;
    return frames.first(count);
  }
  /// The stack of a program in Python: within its frames those of native code whose lines are known, an extension's
  /// own.
  static std::uint32_t joint_stack(std::span<const PythonFrame> python, std::span<const ResolvedFrame> native) {
    std::vector<SourcePlace> places;
    for (std::size_t i = python.size(); i-- > 0;)
      places.emplace_back(python[i].file, python[i].function, python[i].line, 0U);
    for (const ResolvedFrame& frame : native)
      if (frame.line > 0) places.push_back(source_place(frame));
    return nanlens::detail::recorder().add_stack(places.data(), places.size());
  }

  /// Nobody looks for his bug in the C library: what counts is which function of it was called, and where.
  static void find_caller(const Trap& trap, Where& where) {
    for (std::uint32_t i = 0; i < trap.num_frames; ++i) {
      const auto object = object_of(reinterpret_cast<const void*>(trap.frames[i] - 1));
      if (!object || !in_c_library(*object)) {
        where.begin = i;
        if (std::string called = i > 0 ? called_function(trap.frames[i]) : ""; !called.empty())
          where.in = std::move(called);
        return;
      }
      where.in = object->dli_sname == nullptr ? "the C library" : plain_name(object->dli_sname);
    }
    where.in.clear();
  }

  bool began_ = false;
  bool began_again_ = false;
  nanlens::detail::Symbolizer symbolizer_;
  std::map<std::uint64_t, Where> where_;                                // by place
  std::map<std::string, std::map<std::uint64_t, std::uint64_t>> hits_;  // of each op, kind and line, by place
  double start_ = trapping.start_time;
};

/// Runs until the process ends. Its own arithmetic is never trapped.
class NANLENS_HIDDEN RecordingThread {
 public:
  static RecordingThread& get() {
    static RecordingThread* const thread = new RecordingThread;  // never destroyed: it runs until the process is gone
    return *thread;
  }

  /// False if there can be no thread.
  bool start() noexcept {
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    real_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread{};
    const bool started = ::pthread_create(&thread, nullptr, &run, this) == 0;
    real_sigmask(SIG_SETMASK, &before, nullptr);
    if (started) ::pthread_detach(thread);
    return started;
  }

  /// Has everything recorded that was trapped until now, the last trap of each place, too. Waits for it as long as it
  /// gets on: the first needs all symbols of the program.
  void finish() noexcept {
    if (!trapping.on.load()) return;
    const std::uint32_t asked = asked_.fetch_add(1) + 1;
    constexpr timespec millisecond{0, 1000000};
    constexpr int longest = 10000;
    std::uint64_t recorded = recorded_.load();
    for (int i = 0; i < longest && done_.load() < asked; ++i) {
      trapping.queue.wake();
      ::nanosleep(&millisecond, nullptr);
      if (recorded != recorded_.load()) i = 0;
      recorded = recorded_.load();
    }
    const std::uint64_t lost = trapping.queue.lost();
    if (lost > 0 && !said_lost_.exchange(true))
      std::fprintf(stderr,
                   "nanlens: %llu exceptions are not on record: more threads trapped at once than can be noted\n",
                   static_cast<unsigned long long>(lost));
    if (Python::get().stacks.full() && !said_full_.exchange(true))
      std::fputs("nanlens: of some exceptions the Python lines are not on record: there are too many stacks\n", stderr);
  }

  /// While the process is copied nothing is under way here: a child could not get what this thread has locked, in the
  /// loader say, and a recorder that has only half begun is of no use to it. For ten seconds at most (the first trap
  /// needs all symbols of the program), since the caller may hold just what this thread waits for.
  void hold() noexcept {
    if (!trapping.on.load()) return;
    held_.store(true);
    constexpr timespec millisecond{0, 1000000};
    for (int i = 0; i < 10000 && busy_.load(); ++i) ::nanosleep(&millisecond, nullptr);
  }
  void release() noexcept { held_.store(false); }

  /// In a forked child, which has neither the thread nor its traps.
  void start_in_child() noexcept {
    trapping.queue.clear();
    trapping.places.clear();
    Python::get().stacks.forget_unfinished();
    recorder_ = new (std::nothrow) TrapRecorder;  // the parent's may have been in use
    asked_.store(0);
    done_.store(0);
    busy_.store(false);
    held_.store(false);
    if (recorder_ == nullptr || !start()) trapping.on.store(false);
  }

 private:
  static void* run(void* self) noexcept {
    __builtin_ia32_ldmxcsr(0x1F80);
    static_cast<RecordingThread*>(self)->loop();
    return nullptr;
  }
  void begin_record() noexcept {
    constexpr timespec millisecond{0, 1000000};
    for (busy_.store(true); held_.load(); busy_.store(true)) {
      busy_.store(false);
      ::nanosleep(&millisecond, nullptr);
    }
  }
  void loop() noexcept {
    trapping.awaited.begin();
    for (;;) {
      const std::uint32_t seen = trapping.queue.signal();
      const std::uint32_t asked = asked_.load();
      const auto record = [&](Trap& trap) {
        begin_record();
        recorder_->record(trap);
        recorded_.fetch_add(1);
        add_unrecorded(trap, -1);
        trapping.awaited.get_on();
        busy_.store(false);
      };
      trapping.queue.drain(record);
      if (trapping.queue.has_deferred())
        trapping.places.drain_first([&](Trap& trap) {
          record(trap);
          trapping.queue.end_deferral();
        });
      if (asked != done_.load()) {
        trapping.places.drain_last(record);
        recorder_->end();
        done_.store(asked);
      }
      trapping.queue.wait(seen, Python::get().look());
    }
  }

  TrapRecorder* recorder_ = new TrapRecorder;
  std::atomic<std::uint64_t> recorded_{0};
  std::atomic<bool> busy_{false};
  std::atomic<bool> held_{false};
  std::atomic<bool> said_lost_{false};
  std::atomic<bool> said_full_{false};
  std::atomic<std::uint32_t> asked_{0};
  std::atomic<std::uint32_t> done_{0};
};

inline void finish_recording() noexcept { RecordingThread::get().finish(); }

/// The recorder has begun, with plans of its own for the end of the process, and for its copies: what is done last is
/// planned first, and what was planned last is done first.
inline void follow_recorder() {
  std::atexit([] { finish_recording(); });
  ::at_quick_exit([] { finish_recording(); });
  ::pthread_atfork([] { RecordingThread::get().hold(); }, [] { RecordingThread::get().release(); }, nullptr);
}

}  // namespace nanlens::inline NANLENS_ABI::traps::detail
