/// @file
/// What a host can choose.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nanlens/capture/rule_handler.hpp>
#include <nanlens/config.hpp>
#include <nanlens/summary/debug_mode.hpp>
#include <nanlens/tensor/dtype.hpp>

namespace nanlens::inline NANLENS_ABI {

/// How much of the stack is recorded with every event.
enum class StackMode {
  call_site,       ///< only the line that names the op
  unwind,          ///< the whole stack, by unwind tables (about 0.2 µs per frame)
  frame_pointers,  ///< the whole stack, by frame pointers: for programs built with -fno-omit-frame-pointer
};

/// Options of `enable_dump_debug_info`; the defaults are those of TensorFlow's function of that name.
struct DumpOptions {
  /// Directory for the file set; it is made if it is missing.
  std::string logdir = {};
  TensorDebugMode tensor_debug_mode = TensorDebugMode::no_tensor;
  /// Keep only the last so many executions and traces, in memory, until recording ends; 0 or less: write everything.
  std::int64_t circular_buffer_size = 1000;
  /// POSIX extended regular expression that an op's type must match from its start, for its tensors to be recorded.
  std::string op_regex = {};
  /// Dtypes whose tensors are recorded; empty: all.
  std::vector<DType> tensor_dtypes = {};
  StackMode stack = StackMode::unwind;
  /// Thread, call, duration: facts that TensorFlow has no field for, in a field that its readers skip.
  bool extension = true;
  /// Minimum, maximum, mean and a histogram of exponents of every floating tensor, in the extension field: a further
  /// pass over its elements.
  bool statistics = false;
  /// Which floating-point exceptions an op has raised, for ops that are recorded with a callable or an OpScope, in the
  /// extension field. They show a NaN that was made and removed inside one op.
  bool fp_flags = false;
  /// Forked children record, too: each into a run of its own beside the parent's, from its first event on.
  bool record_children = true;
  /// Bytes of a recording for the values of the first event with a NaN or infinity of each op and place: its inputs and
  /// outputs are stored in full, in the extension field, so that the op can be run again on them. 0: none.
  std::int64_t value_budget = std::int64_t{16} << 20;
  /// Of a recording that keeps only the last events: at how many call sites the first event with a NaN or infinity is
  /// kept for good, with those around it. 0: nowhere.
  std::int64_t pinned_sites = 8;
  /// How many events are kept there: at least as many before it of each thread and kind, and as many behind it.
  std::int64_t pinned_events = 500;
  /// Of so many steps one is recorded, the first: long trainings stay cheap. A step ends where `nanlens::step()` is
  /// called, and with each `step()` of a PyTorch optimizer in Python. A program in which no step ends has one.
  std::int64_t every = 1;
  /// The first step that is recorded, and the last; they count from 0, from where recording begins. −1: no last one.
  std::int64_t first_step = 0;
  std::int64_t last_step = -1;
  /// Rules to judge by as events are made: each "[error|warning|note] NAME: CONDITIONS [-- REASON]", "standard", or @
  /// and the path of a file of them. Needs <nanlens/capture/rules.hpp>, or `nanlens::compiled`. One that can't be read
  /// is told on stderr and left out.
  std::vector<std::string> rules = {};
  /// Called at the first hit of each rule, by the thread that has made it, once that is recorded; else a line on stderr
  /// tells it. May record ops, which are not judged. What it throws is told on stderr.
  RuleHandler on_rule = {};
  /// A rule of level error that holds ends the program, with exit code 97: the logdir is complete then.
  bool stop = false;

  friend bool operator==(const DumpOptions&, const DumpOptions&) = default;
};

}  // namespace nanlens::inline NANLENS_ABI
