/// @file
/// One run: everything recorded under one run id, by one host or several.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <nanlens/logdir/rule_outcomes.hpp>
#include <nanlens/reader/definitions.hpp>
#include <nanlens/reader/details.hpp>
#include <nanlens/reader/event_digest.hpp>
#include <nanlens/reader/memory_guard.hpp>
#include <nanlens/reader/places_in_order.hpp>
#include <nanlens/reader/run_files.hpp>
#include <nanlens/reader/time_order.hpp>

namespace nanlens::reader {

/// A bad tensor, as the index keeps it. Details come from `Run::alert`.
struct AlertRef {
  double wall_time;
  std::uint32_t event;  ///< index of the trace, or of the execution
  std::uint32_t op;     ///< traces: index of the op; executions: the op type, as a number in `definitions()`
  bool is_execution;
  std::uint16_t nth_bad;  ///< executions: which of the bad outputs
};

/// An op that raised floating-point exceptions (NanlensExtension.fp_flags) although no output is bad: a NaN or infinity
/// was made and removed inside it, or the program trapped the exception itself, or what came of it is not on record.
struct HiddenException {
  std::uint32_t event = 0;  ///< index of the trace, or of the execution
  bool is_execution = false;
  std::uint32_t fp_flags = 0;

  /// The program trapped it itself: there is no output. Of executions alone, whatever a file says of a trace.
  [[nodiscard]] bool taken_by_program() const noexcept {
    return is_execution && (fp_flags & logdir::fp_taken_by_program) != 0;
  }
  /// Whether a NaN or infinity came of it is not on record.
  [[nodiscard]] bool result_unknown() const noexcept {
    return is_execution && (fp_flags & logdir::fp_result_unknown) != 0;
  }
};

/// An event at which a rule of the recording program held (NanlensExtension.rule_hits).
struct RuleHitRow {
  std::uint32_t event = 0;  ///< index of the trace, or of the execution
  bool is_execution = false;
};

/// A bad tensor in full. `size` and counts are −1 where the mode does not tell them.
struct Alert {
  double wall_time = 0;
  std::string graph_id;  ///< traces only
  std::string op_name;   ///< traces only
  std::string op_type;
  std::int32_t output_slot = 0;
  TensorHealth health;
  std::uint32_t execution = none;
  std::uint32_t trace = none;
};

/// The compact index of a run and the questions it answers. Indices of executions and traces never change; new events
/// are appended by `update`. Not thread-safe.
class Run {
 public:
  /// `id` is the run id, or the name of the only set of a run that has none.
  explicit Run(std::string id);
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  /// @name What the run is
  ///@{
  [[nodiscard]] const std::string& id() const noexcept { return id_; }
  /// The metadata of the set that was started first.
  [[nodiscard]] const SetMetadata& metadata() const noexcept { return sets_.front()->metadata; }
  [[nodiscard]] double starting_wall_time() const noexcept { return metadata().wall_time; }
  [[nodiscard]] std::vector<std::string> hosts() const;
  /// File sets of the run, one per process that recorded; the one an event is in, and its host.
  [[nodiscard]] std::size_t num_sets() const noexcept { return sets_.size(); }
  [[nodiscard]] std::size_t set_of_trace(std::size_t i) const { return trace_locators_[i].set(); }
  [[nodiscard]] std::size_t set_of_execution(std::size_t i) const { return execution_locators_[i].set(); }
  /// Where the record of an event begins in its set's file, in bytes.
  [[nodiscard]] std::uint64_t offset_of_trace(std::size_t i) const { return trace_locators_[i].offset(); }
  [[nodiscard]] std::uint64_t offset_of_execution(std::size_t i) const { return execution_locators_[i].offset(); }
  [[nodiscard]] std::string host_of_set(std::size_t set) const { return sets_[set]->host(); }
  /// Which rank of a job recorded it; −1: it is not told.
  [[nodiscard]] std::int32_t rank_of_set(std::size_t set) const { return sets_[set]->rank(); }
  /// Path of a set without the ending that names the kind of file.
  [[nodiscard]] std::string set_path(std::size_t set) const { return sets_[set]->path(); }
  /// Events that the program could not record, as it counted them itself.
  [[nodiscard]] std::uint64_t dropped() const noexcept;
  /// Tensors of which the values could not be read, as those in a GPU's memory; also counted by the program.
  [[nodiscard]] std::uint64_t unread_tensors() const noexcept;
  /// What the program did not record, as was asked for, as far as it is known: the longest time of all sets.
  [[nodiscard]] logdir::LeftOut left_out() const noexcept;
  /// Of each kind of event, the last so many of a process were kept, besides those around what went bad first, and
  /// there are so many that others may not be on record; 0: nothing says so. TensorFlow's logdirs do not tell.
  [[nodiscard]] std::uint64_t kept_last() const noexcept;
  /// Did the recording end in order? Only nanlens' own logdirs tell.
  [[nodiscard]] std::optional<bool> clean_end() const;
  ///@}

  /// Takes the id that the metadata of the run's only set tells, now that it can be read.
  void rename(std::string id) { id_ = std::move(id); }
  /// Adds a fault that was found outside the run's files.
  void add_fault(const Diagnostic& fault) { diagnostics_.add(fault.file, fault.offset, fault.what); }
  /// Adds a file set, with the faults found while it was opened. The first set added describes the run.
  void adopt(std::unique_ptr<SetFiles> set, const Diagnostics& faults);

  /// The files of the only set of a run whose metadata came late; null if it has several sets.
  [[nodiscard]] SetFiles* only_set() noexcept { return sets_.size() == 1 ? sets_.front().get() : nullptr; }

  /// Reads what is new in the run's files. True if anything was. Where there is not enough memory, that becomes a
  /// diagnostic, and what was read stays.
  bool update(Storage& storage, const Progress& progress);

  /// @name Events
  ///@{
  [[nodiscard]] std::size_t num_executions() const noexcept { return execution_flags_.size(); }
  [[nodiscard]] std::size_t num_traces() const noexcept { return trace_executions_.size(); }
  [[nodiscard]] std::uint8_t execution_flags(std::size_t i) const noexcept { return execution_flags_[i]; }
  [[nodiscard]] double execution_wall_time(std::size_t i) const noexcept { return execution_times_[i]; }
  [[nodiscard]] std::uint8_t trace_flags(std::size_t i) const noexcept { return trace_flags_[i]; }
  /// Index of the op in `definitions().ops()`.
  [[nodiscard]] std::uint32_t trace_op(std::size_t i) const noexcept { return trace_ops_[i]; }
  /// Index of the call to which a trace belongs: by call id where it is recorded; else the first execution that ended
  /// at or after the trace, if that is a function call. `none` if there is no such call.
  [[nodiscard]] std::uint32_t trace_execution(std::size_t i) const noexcept { return trace_executions_[i]; }
  /// The event in full; nothing if its record can't be read any more.
  [[nodiscard]] std::optional<ExecutionDetail> execution(std::size_t i);
  [[nodiscard]] std::optional<TraceDetail> trace(std::size_t i);
  /// The part of a trace that a look-up needs, without an allocation; its views last until the next question.
  [[nodiscard]] std::optional<TraceDigest> trace_digest(std::size_t i) {
    return reader::trace_digest(payload(trace_locators_[i], logdir::FileKind::graph_execution_traces));
  }
  /// Which inputs of its op were seen clean (see reader::clean_inputs).
  [[nodiscard]] std::uint64_t clean_inputs(std::size_t i) {
    return reader::clean_inputs(payload(trace_locators_[i], logdir::FileKind::graph_execution_traces));
  }
  /// What ties an execution to others; false if its record can't be read any more.
  [[nodiscard]] bool execution_links(std::size_t i, ExecutionLinks& links) {
    return reader::execution_links(payload(execution_locators_[i], logdir::FileKind::execution), links);
  }
  ///@}

  /// @name Definitions
  ///@{
  [[nodiscard]] const GraphTable& definitions() const noexcept { return graphs_; }
  [[nodiscard]] std::uint32_t find_op(std::string_view graph_id, std::string_view op_name) const {
    const std::uint32_t graph = graphs_.find_graph(graph_id);
    return graph == none ? none : graphs_.find_op(graph, op_name);
  }
  [[nodiscard]] std::optional<OpDetail> op(std::uint32_t index);
  /// The record of its creation alone.
  [[nodiscard]] std::optional<logdir::GraphOpCreation> op_creation(std::uint32_t index);
  /// The number of a string in `definitions()`; it is added if it is new.
  [[nodiscard]] std::uint32_t intern(std::string_view text) { return graphs_.strings().add(text); }
  [[nodiscard]] const std::vector<SourceFileEntry>& source_files() const noexcept { return files_; }
  [[nodiscard]] std::vector<std::string> source_lines(std::size_t index);
  [[nodiscard]] const std::vector<FrameEntry>& frames() const noexcept { return frames_; }
  /// The frame with this id; nothing if it, or its file, is not on record.
  [[nodiscard]] std::optional<StackFrame> frame(const std::string& id) const;
  [[nodiscard]] const std::vector<Device>& devices() const noexcept { return devices_; }
  /// The name of a device of a file set; empty if it is not on record.
  [[nodiscard]] std::string device_name(std::size_t set, std::int32_t id) const;
  ///@}

  /// @name Alerts
  ///@{
  /// All bad tensors, by wall_time; ties: traces before executions, then index.
  [[nodiscard]] const std::vector<AlertRef>& alerts() const noexcept { return alerts_; }
  [[nodiscard]] std::optional<Alert> alert(const AlertRef& ref);
  /// Clean outputs of ops that raised invalid, divide by zero or overflow; only where exceptions are recorded.
  [[nodiscard]] const std::vector<HiddenException>& hidden_exceptions() const noexcept { return hidden_; }
  /// Executions with a complex output that is bad, in their order; only where nanlens recorded. It is no alert, as in
  /// TensorFlow.
  [[nodiscard]] const std::vector<std::uint32_t>& bad_complex() const noexcept { return bad_complex_; }
  /// Events at which a rule of the recording program held, as it ran.
  [[nodiscard]] const std::vector<RuleHitRow>& rule_hit_rows() const noexcept { return rule_hit_rows_; }
  /// What became of the rules of recording programs, as these wrote when they ended; of all file sets together.
  [[nodiscard]] std::vector<logdir::RuleHit> rule_outcomes() const;
  /// The same of one file set.
  [[nodiscard]] const std::vector<logdir::RuleHit>& rule_outcomes_of_set(std::size_t set) const {
    return sets_[set]->metadata.rules;
  }
  ///@}

  /// Everything that could not be read, and every reference that leads nowhere so far.
  [[nodiscard]] std::vector<Diagnostic> diagnostics();

  /// Bytes that the event index takes.
  [[nodiscard]] std::size_t index_bytes() const noexcept;

 private:
  struct Scan;        // one update under way
  struct CallLookup;  // executions by time

  template <class OnEvent>
  void scan_definitions(Scan& scan, std::size_t set, logdir::FileKind kind, OnEvent&& on_event, bool keep_gaps = false);
  void read_all(Storage& storage, Scan& scan);
  template <class Digest>
  bool within_limits(const Digest& digest, std::size_t set, logdir::FileKind kind, std::uint64_t offset);
  void read_source_files(Scan& scan, std::size_t set);
  void read_stack_frames(Scan& scan, std::size_t set);
  void read_graphs(Scan& scan, std::size_t set);
  void add_graph(const logdir::DebuggedGraph& event, Locator where);
  void add_op(const logdir::GraphOpCreation& event, Locator where);
  void read_executions(Scan& scan);
  void read_traces(Scan& scan, CallLookup& calls);
  void append_execution(const ExecutionDigest& digest, Locator where);
  [[nodiscard]] std::uint32_t find_call(std::size_t set, std::uint64_t call_id);
  // A trace until it has its place: those of several sets are merged.
  struct FoundTrace {
    double wall_time = 0;
    std::uint32_t op = 0;
    std::uint32_t call = none;  // where it is known by its id
    Locator where;
    std::uint8_t flags = 0;
    std::uint8_t fp_flags : 6 = 0;
    std::uint8_t has_call_id : 1 = 0;
    std::uint8_t has_rule_hits : 1 = 0;
  };
  FoundTrace found_trace(const TraceDigest& digest, Locator where);
  template <class Visit>
  static void merge_by_time(std::vector<Column<FoundTrace>>& sets, Visit&& visit);
  static void sort_by_time(Column<FoundTrace>& set);
  void append_trace(const FoundTrace& trace, CallLookup& calls);
  void add_rule_hit_row(RuleHitRow row) {
    if (rule_hit_rows_.size() < limits::elements) rule_hit_rows_.push_back(row);
  }
  void join_pending(CallLookup& calls);
  void check_stack(logdir::Bytes code_location, Locator where, logdir::FileKind file);
  void link_consumers(std::uint32_t graph);
  void sort_alerts(std::size_t first_new);
  bool look_at_outputs(std::uint32_t execution);
  static bool decoded(Bytes payload, logdir::DebugEvent& event);
  void fault(std::size_t set, logdir::FileKind kind, std::uint64_t offset, Fault what) {
    diagnostics_.add(sets_[set]->name(kind), offset, std::move(what));
  }
  Bytes payload(Locator where, logdir::FileKind kind) {
    SetFile& f = (*sets_[where.set()])[kind];
    return f.file ? f.file->payload(where.offset()) : Bytes{};
  }

  std::string id_;
  std::vector<std::unique_ptr<SetFiles>> sets_;
  Diagnostics diagnostics_;

  GraphTable graphs_;
  std::vector<SourceFileEntry> files_;
  std::vector<std::vector<std::uint32_t>> files_of_set_;  // position in a set's file -> index in files_
  std::vector<FrameEntry> frames_;
  std::unordered_map<std::string, std::uint32_t> frame_by_id_;
  std::vector<Device> devices_;

  Column<Locator> execution_locators_;
  Column<double> execution_times_;
  Column<std::uint8_t> execution_flags_;
  Column<Locator> trace_locators_;
  Column<std::uint32_t> trace_ops_;
  Column<std::uint8_t> trace_flags_;
  Column<std::uint32_t> trace_executions_;
  // Calls of one file set by id, where ids are recorded: they belong to a process.
  struct CallIds {
    std::vector<std::pair<std::uint64_t, std::uint32_t>> calls;
    bool sorted = true;
    std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> traces_of_open_call;
  };
  std::vector<CallIds> call_ids_;  // by set
  // Traces without a call id whose call has not ended yet, the earliest on top.
  using OpenTrace = std::pair<double, std::uint32_t>;
  std::priority_queue<OpenTrace, std::vector<OpenTrace>, std::greater<>> open_traces_;
  std::vector<std::uint32_t> executions_by_time_;  // only filled where they are out of order
  std::size_t executions_sorted_ = 0;

  std::vector<AlertRef> alerts_;
  std::vector<HiddenException> hidden_;
  std::vector<std::uint32_t> bad_complex_;
  std::vector<RuleHitRow> rule_hit_rows_;
  std::unordered_set<std::uint64_t> seen_stacks_;  // hashes of code locations whose frames were looked up
  struct FrameReference {
    std::string id;
    Locator where;
    logdir::FileKind file;
  };
  std::vector<FrameReference> unknown_frames_;
  struct OpConsumers {
    std::size_t ops_seen = 0;
    std::unordered_map<std::uint32_t, std::vector<std::pair<std::int32_t, Consumer>>> of_op;  // by name number
  };
  std::unordered_map<std::uint32_t, OpConsumers> consumers_;
  // Health of the bad outputs of the execution whose alert was asked for last.
  struct BadOutputs {
    std::uint32_t execution = none;
    std::uint32_t op_type = 0;
    std::vector<std::pair<std::int32_t, TensorHealth>> list;
  };
  BadOutputs bad_outputs_;
  bool out_of_memory_ = false;
};

}  // namespace nanlens::reader

#if !defined(NANLENS_SPLIT)
#include <nanlens/reader/run_queries.inl>
#include <nanlens/reader/run_sets.inl>
#include <nanlens/reader/run_update.inl>
#endif
