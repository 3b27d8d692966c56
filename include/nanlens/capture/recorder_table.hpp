/// @file
/// What lies between the headers in a host's code and the recorder, of which a process has one: plain structs and a
/// table of functions. Whoever changes anything here, or in a struct that it names, raises `recorder_version`.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string_view>

#include <nanlens/capture/content_sample.hpp>
#include <nanlens/capture/hash.hpp>
#include <nanlens/capture/tensor_handle.hpp>
#include <nanlens/config.hpp>
#include <nanlens/logdir/exchange.hpp>
#include <nanlens/summary/health_counts.hpp>
#include <nanlens/summary/work_sharing.hpp>

namespace nanlens::inline NANLENS_ABI::detail {

/// Recorders of another version are not seen: each serves its own.
inline constexpr std::uint32_t recorder_version = 11;

/// A text of somebody else's, valid during a call.
struct TextRef {
  const char* data = nullptr;
  std::size_t size = 0;
  constexpr TextRef() noexcept = default;
  // NOLINTNEXTLINE(google-explicit-constructor): it is a std::string_view with a layout that is fixed
  constexpr TextRef(std::string_view text) noexcept : data(text.data()), size(text.size()) {}
  [[nodiscard]] constexpr std::string_view view() const noexcept { return {data, size}; }
};

/// A line of a source file, whose texts may be gone once the call that brings it returns; or the number of a stack that
/// the host knows better than its return addresses tell: that of an interpreter, say.
class SourcePlace {
 public:
  static constexpr std::uint32_t no_stack = 0xffffffffU;
  constexpr SourcePlace() noexcept = default;
  constexpr SourcePlace(const char* file, const char* function, std::uint32_t line, std::uint32_t column) noexcept
      : file_(file), function_(function), line_(line), column_(column) {}
  // NOLINTNEXTLINE(google-explicit-constructor): the same in another layout
  constexpr SourcePlace(const std::source_location& where) noexcept
      : SourcePlace(where.file_name(), where.function_name(), where.line(), where.column()) {}
  /// A stack, by the number that RecorderTable::add_stack gave it.
  static constexpr SourcePlace of_stack(std::uint32_t number) noexcept {
    SourcePlace place;
    place.stack_ = number;
    return place;
  }
  /// The host's stack; no_stack if this is a line.
  [[nodiscard]] constexpr std::uint32_t stack() const noexcept { return stack_; }
  [[nodiscard]] constexpr const char* file_name() const noexcept { return file_; }
  [[nodiscard]] constexpr const char* function_name() const noexcept { return function_; }
  [[nodiscard]] constexpr std::uint32_t line() const noexcept { return line_; }
  [[nodiscard]] constexpr std::uint32_t column() const noexcept { return column_; }

 private:
  const char* file_ = "";
  const char* function_ = "";
  std::uint32_t line_ = 0;
  std::uint32_t column_ = 0;
  std::uint32_t stack_ = no_stack;
};

/// A key made of what a place is, not of where its texts lie: a library may be unloaded, and another take its address.
inline std::uint64_t hash_place(const SourcePlace& where) noexcept {
  if (where.stack() != SourcePlace::no_stack) return mix(0x737461636b, where.stack());  // apart from lines
  return mix(hash_text(where.file_name()), std::uint64_t{where.line()} << 32 | where.column());
}

/// An op's type, its own name where it has one, and the line that names it.
class OpRef {
 public:
  constexpr OpRef(std::string_view type, std::string_view name, const SourcePlace& where) noexcept
      : type_(type), name_(name), where_(where) {}
  [[nodiscard]] constexpr std::string_view type() const noexcept { return type_.view(); }
  [[nodiscard]] constexpr std::string_view name() const noexcept { return name_.view(); }
  [[nodiscard]] constexpr const SourcePlace& where() const noexcept { return where_; }
  /// True if the op has a name that is not its type.
  [[nodiscard]] constexpr bool has_own_name() const noexcept {
    return name_.data != type_.data && name_.view() != type_.view();
  }

 private:
  TextRef type_;
  TextRef name_;
  SourcePlace where_;
};

/// What is known of an op that another thread ran before the recording call.
struct Observation {
  const std::uintptr_t* stack = nullptr;  ///< return addresses, innermost first
  std::size_t num_frames = 0;
  std::uint64_t thread_id = 0;
  std::uint64_t hits = 0;            ///< how often this has been seen of the op and place by then; 0: not counted
  std::uint64_t since_start_ns = 0;  ///< when it ran, counted from the beginning of the program
  bool hits_at_least = false;        ///< not all were counted
};

/// What a host calls the tensors of an op: asked for when an output is bad, and only then.
struct TensorNames {
  const void* op = nullptr;
  /// Calls take(to, name) with the name of an input, or of an output, where it has one.
  void (*name_of)(const void* op, bool is_output, std::size_t index, void (*take)(void* to, TextRef name),
                  void* to) = nullptr;
};

/// What was measured of an op that ran inside the recording call, or before it.
struct Measured {
  std::uint64_t duration_ns = 0;
  std::uint32_t fp_flags = 0;
  const Observation* observed = nullptr;
  const TensorNames* names = nullptr;
  const logdir::Exchange* exchange = nullptr;  ///< with other processes: such an op is no part of a function's graph
};

/// A function that begins; `kind` is a FunctionKind.
struct CallRef {
  TextRef name;
  std::int32_t kind = 0;
  SourcePlace where;
  const InputRef* arguments = nullptr;
  const TextRef* names = nullptr;  ///< one for each argument
  const bool* traced = nullptr;    ///< one for each argument
  std::size_t num_arguments = 0;
};

/// A RuleHit.
struct RuleHitRef {
  struct Frame {
    TextRef file;
    TextRef function;
    std::int32_t line = 0;
  };
  TextRef rule;
  TextRef level;
  TextRef expression;
  TextRef reason;
  TextRef op_type;
  TextRef op_name;
  TextRef graph_name;
  TextRef numbers;
  TextRef message;
  std::int32_t output_slot = 0;
  const Frame* stack = nullptr;
  std::size_t num_frames = 0;
};

/// A RuleHandler.
struct RuleHandlerRef {
  void (*tell)(void* context, const RuleHitRef& hit) = nullptr;
  void* context = nullptr;
  void (*end)(void* context) noexcept = nullptr;  ///< called once nobody tells it any more
  const void* identity = nullptr;
};

/// DumpOptions.
struct DumpOptionsRef {
  TextRef logdir;
  TextRef op_regex;
  const DType* tensor_dtypes = nullptr;
  std::size_t num_dtypes = 0;
  std::int32_t tensor_debug_mode = 0;
  std::int32_t stack = 0;
  std::int64_t circular_buffer_size = 0;
  std::int64_t value_budget = 0;
  std::int64_t pinned_sites = 0;
  std::int64_t pinned_events = 0;
  std::int64_t every = 1;
  std::int64_t first_step = 0;
  std::int64_t last_step = -1;
  bool extension = true;
  bool statistics = false;
  bool fp_flags = false;
  bool record_children = true;
  bool stop = false;
  const TextRef* rules = nullptr;
  std::size_t num_rules = 0;
  RuleHandlerRef on_rule;
  const struct RuleEngine* rule_engine = nullptr;  ///< what judges by rules, where the caller contains one
};

/// A NumericsEvent. Its owner is the recorder: `release` ends it.
struct NumericsRef {
  struct Input {
    TextRef name;
    DType dtype = DType::invalid;
    Shape shape;
  };
  struct Frame {
    TextRef file;
    TextRef function;
    std::int32_t line = 0;
  };
  TextRef op_type;
  TextRef op_name;
  TextRef graph_name;
  TextRef message;
  std::int32_t output_slot = 0;
  std::int32_t num_outputs = 0;
  DType dtype = DType::invalid;
  Shape shape;
  HealthCounts counts;
  std::uint64_t nonfinite_complex = 0;
  const Input* inputs = nullptr;
  std::size_t num_inputs = 0;
  const Frame* stack = nullptr;
  std::size_t num_frames = 0;
  /// Whom to tell; null: the caller throws.
  void (*handler)(void* context, const NumericsRef* event) = nullptr;
  void* context = nullptr;
  void (*release)(const NumericsRef*) noexcept = nullptr;
};

/// CheckNumericsOptions.
struct CheckOptionsRef {
  struct Slot {
    TextRef op_type;
    std::int32_t slot = 0;
  };
  const TextRef* exempt_ops = nullptr;
  std::size_t num_exempt_ops = 0;
  const Slot* exempt_slots = nullptr;
  std::size_t num_exempt_slots = 0;
  void (*handler)(void* context, const NumericsRef* event) = nullptr;
  void* context = nullptr;
  void (*end)(void* context) noexcept = nullptr;  ///< called once nobody calls the handler any more
  std::int32_t stack_height_limit = 30;
  std::int32_t path_length_limit = 50;
};

/// A program or library that records, as far as it was compiled with the same flags. The recorder tells each what is
/// switched on: a recording call has one word to look at while nothing is.
struct Client {
  std::atomic<unsigned> active;
  std::atomic<const struct RecorderTable*> recorder;
};

/// The recorder's functions. None throws; what they are given is theirs during the call only.
struct RecorderTable {
  std::uint32_t version;
  std::uint32_t bytes;  ///< of this struct

  /// From now on `client->active` is kept right, until `leave`, which must come before its memory goes.
  void (*join)(Client* client) noexcept;
  void (*leave)(Client* client) noexcept;
  /// Reads the environment at the first event of a process; what is switched on then.
  unsigned (*begin)() noexcept;

  /// False, with the reason given to `say`, if recording can't start.
  bool (*enable_dump)(const DumpOptionsRef& options, void (*say)(void* to, TextRef why), void* to) noexcept;
  void (*disable_dump)() noexcept;
  void (*flush)() noexcept;
  /// False if it was on already: then its options stay.
  bool (*enable_check)(const CheckOptionsRef& options) noexcept;
  void (*disable_check)() noexcept;

  /// Records an op that has run. What check_numerics has to say, for the caller to release; null: nothing.
  const NumericsRef* (*record)(const OpRef& op, InputRef* inputs, std::size_t num_inputs, OutputRef* outputs,
                               std::size_t num_outputs, const Measured& measured) noexcept;
  /// Finds out what tensors are before an op runs that may write over them, or end them.
  void (*identify)(InputRef* inputs, std::size_t num_inputs) noexcept;
  /// Looks at those that nothing recorded, while they can be: `seen` has a place for each.
  void (*look)(InputRef* inputs, std::size_t num_inputs, InputSeen* seen) noexcept;
  /// The same op with texts that last until the program ends.
  OpRef (*keep)(const OpRef& op) noexcept;
  void (*declare_variable)(const TensorKey& key) noexcept;
  void (*forget)(std::uintptr_t begin, std::uintptr_t end) noexcept;

  /// The call that begins; null if nothing is recorded of it.
  void* (*enter_function)(const CallRef& call) noexcept;
  /// Ends the call; `unwinding`: an exception has left it.
  void (*leave_function)(void* call, bool unwinding) noexcept;
  /// This thread's ops belong to the call, until it is given back to what it had before: what this returns, maybe null.
  void* (*adopt_function)(void* call) noexcept;
  void (*give_back_function)(void* before) noexcept;
  /// This thread's ops don't belong to the call any more; any thread may end it.
  void (*hand_over_function)(void* call) noexcept;
  void (*capture_argument)(void* call, TextRef name, const InputRef& input) noexcept;
  void (*add_result)(void* call, const OutputRef& output, const InputRef& inside) noexcept;

  /// A graph that the host declares; null if there is no memory for it.
  void* (*new_graph)(TextRef name, const void* outer) noexcept;
  /// An op of it, whose name becomes unique. `inputs` are ops, `slots` their outputs.
  const GraphOp* (*add_op)(void* graph, const OpRef& op, const GraphOp* const* inputs, const std::int32_t* slots,
                           std::size_t num_inputs, std::size_t num_outputs) noexcept;
  /// What an output was. `graph_run`: in which run of its graph, from 1 on; 0 where that is not told.
  const NumericsRef* (*trace)(const GraphOp* op, std::int32_t slot, const TensorView& view,
                              std::uint64_t graph_run) noexcept;

  /// The number of a stack that the host knows, outermost frame first, for SourcePlace::of_stack; the same frames give
  /// the same number. SourcePlace::no_stack where there are too many, or is no memory.
  std::uint32_t (*add_stack)(const SourcePlace* frames, std::size_t num_frames) noexcept;
  /// The stack that has the frames of one such stack, and within them those of another.
  std::uint32_t (*join_stacks)(std::uint32_t outer, std::uint32_t inner) noexcept;
  /// An adapter that sees all ops of a host claims it before it begins: true for the first, false while another has it.
  /// `rest`, unless it is null, is called with true when ops are no longer wanted, and with false when they are again.
  bool (*claim_host)(TextRef host, void (*rest)(bool) noexcept) noexcept;
  void (*release_host)(TextRef host, void (*rest)(bool) noexcept) noexcept;
  /// The threads of a host help with large tensors from now on; null: nobody's do.
  void (*share_work)(ShareWork with) noexcept;
  /// Memory that only a device reads is read by it from now on.
  void (*read_far_with)(ReadFar reader) noexcept;

  /// Ends a step of the program.
  void (*step)() noexcept;
  /// Counts an op that is not recorded because recording rests.
  void (*leave_out)() noexcept;
};

}  // namespace nanlens::inline NANLENS_ABI::detail
