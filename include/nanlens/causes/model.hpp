/// @file
/// A run as the cause analysis sees it: facts, windows and health of its events.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nanlens/causes/evidence.hpp>
#include <nanlens/causes/limits.hpp>
#include <nanlens/causes/nan_choice.hpp>
#include <nanlens/causes/nested_calls.hpp>
#include <nanlens/causes/numerics.hpp>
#include <nanlens/causes/window.hpp>

namespace nanlens::causes {

/// Where an event was recorded. Texts are empty where the record does not tell.
struct Recorder {
  std::string host;
  std::string device;
  std::string file_set;  ///< path of the set of files, without the ending of a kind
};

/// Limits of the search (limits.hpp).
enum class Limit : std::uint8_t { inputs, consumers, link_steps, causes };

/// What it means that a limit was reached.
inline reader::Fault fault_of(Limit limit) {
  using reader::FaultId;
  switch (limit) {
    case Limit::inputs: return {FaultId::many_op_inputs, {{"n", limits::inputs_looked_at}}};
    case Limit::consumers: return {FaultId::many_consumers, {{"n", limits::consumers_looked_at}}};
    case Limit::link_steps: return {FaultId::far_away, {{"n", limits::link_steps}, {"most", limits::link_depth}}};
    case Limit::causes: return {FaultId::many_causes, {{"n", limits::causes}}};
  }
  return {};
}

/// Everything that resolving a link asks for. Not thread-safe: it reads records on demand.
class Model {
 public:
  explicit Model(Run& run)
      : run_(run), graphs_(run), calls_(run, graphs_), owners_(run, graphs_, calls_), nested_(graphs_) {}
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  [[nodiscard]] Run& run() const noexcept { return run_; }
  [[nodiscard]] GraphFacts& graphs() noexcept { return graphs_; }
  [[nodiscard]] CallTable& calls() noexcept { return calls_; }
  [[nodiscard]] RowOwners& owners() noexcept { return owners_; }
  [[nodiscard]] NestedCalls& nested() noexcept { return nested_; }
  /// Seconds that the clock of the calls is ahead of that of the rows.
  [[nodiscard]] double clock_offset() const noexcept { return owners_.clock_offset(); }

  /// Takes in executions that are new, at most `most`; true when everything is in.
  bool update(std::size_t most) {
    if (!calls_.update(most)) return false;
    const std::pair defined(run_.definitions().graphs().size(), graphs_.num_declared());
    if (std::exchange(defined_, defined) != defined) {
      graphs_.forget();
      calls_.forget_graphs();
    }
    owners_.update();
    nested_.forget();
    windows_.clear();
    for (KnownOutputs& known : known_) known.execution = none;
    is_curt_.reset();
    return true;
  }

  /// Counts work: what the analysis costs, whatever the machine.
  void spend(std::size_t steps) noexcept { spent_ += steps; }
  [[nodiscard]] std::uint64_t spent() const noexcept { return spent_; }

  /// Something was left out. It is told with the answer, and among the run's diagnostics.
  void reach_limit(Limit limit) {
    if (std::find(reached_.begin(), reached_.end(), limit) != reached_.end()) return;
    reached_.push_back(limit);
    run_.add_fault({"", 0, reader::fault_because(reader::FaultId::search_left_out, fault_of(limit))});
  }
  [[nodiscard]] const std::vector<Limit>& limits_reached() const noexcept { return reached_; }

  /// The rows of a call; of `none`: all rows that belong to no call. The last few are kept.
  Window& window(std::uint32_t call) {
    for (auto it = windows_.begin(); it != windows_.end(); ++it)
      if ((*it)->call() == call) {
        windows_.splice(windows_.begin(), windows_, it);
        return *windows_.front();
      }
    constexpr std::size_t most = 4;
    if (windows_.size() < most) {
      windows_.push_front(std::make_unique<Window>(run_, graphs_, owners_));
    } else {
      windows_.splice(windows_.begin(), windows_, std::prev(windows_.end()));
    }
    windows_.front()->build(call);
    spend(windows_.front()->rows().size());
    return *windows_.front();
  }

  /// Health of one event; flags 0 where it holds no summary.
  TensorHealth health(EventRef event) {
    if (!event.is_execution) {
      const auto digest = run_.trace_digest(event.index);
      return digest ? digest->health : TensorHealth{};
    }
    const auto& outputs = outputs_of(event.index);
    return event.slot < outputs.size() ? outputs[event.slot] : TensorHealth{};
  }
  /// The same with all counts, whatever the mode, where nanlens took them when the op had run: of what is bad.
  TensorHealth counted_health(EventRef event) {
    const TensorHealth recorded = health(event);
    const bool counted = recorded.num_zero >= 0;
    if (counted || (recorded.flags & reader::bad_flags) == 0 || !owners_.native() || is_bad_complex(event))
      return recorded;
    const auto seen = output_evidence(run_, event);
    const TensorHealth here = seen ? seen_health(*seen) : TensorHealth{};
    return here.known() ? here : recorded;
  }
  /// Its flags alone: cheap.
  std::uint8_t flags(EventRef event) {
    if (!event.is_execution) return run_.trace_flags(event.index);
    const std::uint8_t all = run_.execution_flags(event.index);
    if ((all & reader::bad_flags) == 0 && !has_bad_complex(event.index)) return all & ~reader::function_flag;
    return health(event).flags;
  }
  bool bad(EventRef event) { return (flags(event) & reader::bad_flags) != 0; }
  /// Bad, and yet no alert: a complex tensor, of which TensorFlow's records tell nothing.
  bool is_bad_complex(EventRef event) {
    return event.is_execution && has_bad_complex(event.index) && health(event).no_alert;
  }
  /// Kinds of non-finite values in an event; 0 where only their presence is on record.
  Kinds kinds(EventRef event) {
    if (!kinds_known(event) || is_bad_complex(event)) return 0;
    return flags(event) & reader::bad_flags;
  }
  /// Is it of a host's op of which nothing is known, or which chooses, and holds −∞ and nothing else that is bad? It
  /// may be a mask, of lengths say, or have one put in.
  bool may_make_mask(EventRef event) {
    const OpCode op = code(event);
    if (!owners_.native() || kinds(event) != reader::neg_inf_flag) return false;
    return op == OpCode::select || (op == OpCode::other && may_put_in_mask(event));
  }
  /// Did an op that chooses elements take none of those of an input that are bad: by their kinds, or since it takes
  /// what is no NaN? What a program calls so itself may turn the sign of an infinity.
  bool has_left_out(EventRef result, EventRef input) {
    if (code(result) != OpCode::select) return false;
    constexpr Kinds infinite = reader::neg_inf_flag | reader::pos_inf_flag;
    const Kinds taken = kinds(result);
    const Kinds offered = kinds(input);
    const bool may_turn = owners_.native() && !op_type(result).starts_with("aten::");
    const bool turned = may_turn && (taken & infinite) != 0 && (offered & infinite) != 0;
    if (taken != 0 && offered != 0 && (taken & offered) == 0) return !turned;
    return offered == reader::nan_flag && NanChoice(graphs_, calls_).takes_no_nan(result, input);
  }
  /// Does the recording tell NaN from infinity there? CURT_HEALTH does not, unless nanlens saw the tensor; nor does it
  /// tell then that a tensor has both infinities and NaN.
  bool kinds_known(EventRef event) {
    if (!is_curt_) is_curt_ = mode() == TensorDebugMode::curt_health;
    return !*is_curt_ || (flags(event) & reader::bad_flags) != reader::bad_flags;
  }
  TensorDebugMode mode() {
    if (mode_ != TensorDebugMode::unspecified) return mode_;
    if (run_.num_traces() > 0)
      if (const auto detail = run_.trace(0)) mode_ = static_cast<TensorDebugMode>(detail->event.tensor_debug_mode);
    if (mode_ == TensorDebugMode::unspecified && run_.num_executions() > 0)
      if (const auto detail = run_.execution(0)) mode_ = static_cast<TensorDebugMode>(detail->event.tensor_debug_mode);
    return mode_;
  }

  /// Orders events by time as far as files tell: rows of a call come before the call's own outputs.
  [[nodiscard]] double time(EventRef event) {
    if (event.is_execution) return run_.execution_wall_time(event.index);
    const auto digest = run_.trace_digest(event.index);
    return digest ? digest->wall_time : 0;
  }

  /// The set of files that an event is in.
  [[nodiscard]] std::size_t set_of(EventRef event) const {
    return event.is_execution ? run_.set_of_execution(event.index) : run_.set_of_trace(event.index);
  }
  /// Which host, device and set of files an event is from: of several ranks, which one.
  [[nodiscard]] Recorder recorder(EventRef event) {
    const std::size_t set = set_of(event);
    Recorder r{run_.host_of_set(set), {}, run_.set_path(set)};
    if (!event.is_execution) {
      if (const auto detail = run_.trace(event.index)) r.device = detail->event.device_name;
    } else if (const auto detail = run_.execution(event.index)) {
      const auto& devices = detail->event.output_tensor_device_ids;
      if (event.slot < devices.size()) r.device = run_.device_name(set, devices[event.slot]);
    }
    return r;
  }

  /// Outputs of an execution that have a summary or could have one.
  std::size_t num_outputs(std::uint32_t execution) { return outputs_of(execution).size(); }

  OpCode code(EventRef event) {
    if (!event.is_execution) return graphs_.op(run_.trace_op(event.index)).code;
    if (const Exchange* const exchange = calls_.exchanges().find(event.index)) return exchange_code(*exchange);
    if (calls_.is_call(event.index)) return OpCode::call;
    OpCode code = execution_code(event.index);
    if (code == OpCode::constant && calls_.op_type(event.index) == "aten::scatter" &&
        calls_.inputs(event.index).size() > 2)
      code = OpCode::other;  // of another tensor's elements, which it may multiply, not of a number
    return is_bad_complex(event) ? code_of_complex(code) : code;
  }
  [[nodiscard]] std::string_view op_type(EventRef event) {
    return event.is_execution ? calls_.op_type(event.index) : graphs_.op_type(run_.trace_op(event.index));
  }

 private:
  // Not all of it is −∞, and there is no more of anything else than in a tensor of as many elements, of which it leaves
  // the others as they are; and what −∞ is put for is no number so large that its square overflows, nor always 0, of
  // which that is the logarithm.
  static bool may_be_masked(const TensorEvidence& there, const TensorHealth& output) {
    const TensorHealth input = seen_health(there);
    const double large = std::sqrt(dtype_max(input.dtype));
    return input.known() && input.size == output.size && output.num_neg_inf < output.size &&
           output.num_negative <= input.num_negative && output.num_zero <= input.num_zero &&
           output.num_positive <= input.num_positive && !is_of_zeros(there, output) &&
           std::none_of(there.values.begin(), there.values.end(), [&](double x) { return std::abs(x) >= large; });
  }
  // Is −∞ where this is 0? Not where there is nothing else but 0, the logarithm of 1: that mask is made of such.
  static bool is_of_zeros(const TensorEvidence& there, const TensorHealth& output) {
    const bool zeros =
        !there.values.empty() && std::all_of(there.values.begin(), there.values.end(), [](double x) { return x == 0; });
    return zeros && output.num_neg_inf + output.num_zero < output.size;
  }
  // Finite numbers that something else was made of may as well have overflowed: a mask is called so, is made of
  // lengths, or is put into one of the inputs.
  bool may_put_in_mask(EventRef event) {
    const auto extension = extension_of(run_, event);
    if (is_called_mask(op_type(event)) || is_called_mask(extension.op_name)) return true;
    const TensorHealth output = counted_health(event);
    bool any_floating = false;
    for (const TensorEvidence& input : extension.input_evidence) {
      if (!can_be_bad(static_cast<DType>(input.dtype))) continue;
      any_floating = true;
      if (may_be_masked(input, output)) return true;
    }
    return !any_floating;
  }
  // Outputs of an execution; those of the last few are kept.
  struct KnownOutputs {
    std::uint32_t execution = none;
    std::vector<TensorHealth> outputs;
  };
  const std::vector<TensorHealth>& outputs_of(std::uint32_t execution) {
    if (known_[0].execution == execution) return known_[0].outputs;
    std::size_t at = 1;
    while (at + 1 < known_.size() && known_[at].execution != execution) ++at;
    std::rotate(known_.begin(), known_.begin() + static_cast<std::ptrdiff_t>(at),
                known_.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    KnownOutputs& known = known_[0];
    if (known.execution == execution) return known.outputs;
    known.execution = execution;
    if (!run_.execution_links(execution, links_)) links_ = {};
    links_.op_type = links_.graph_id = {};  // their record may go
    known.outputs = links_.outputs;
    add_bad_complex(known.outputs);
    spend(known.outputs.size());
    return known.outputs;
  }
  void add_bad_complex(std::vector<TensorHealth>& outputs) const {
    for (std::size_t slot = 0; slot < std::min(outputs.size(), links_.bad_complex.size()); ++slot) {
      TensorHealth& h = outputs[slot];
      if (!links_.bad_complex[slot] || h.known()) continue;
      h.flags = reader::bad_flags;
      h.no_alert = true;
    }
  }
  bool has_bad_complex(std::uint32_t execution) const {
    const auto& all = run_.bad_complex();
    return !all.empty() && std::binary_search(all.begin(), all.end(), execution);
  }
  // What fills a tensor with a number keeps one in a graph, where that is on record: eagerly it is Python's. A host's
  // "Where" that gives numbers chooses; TensorFlow's, of which nothing else is called so, gives places.
  OpCode eager_code(std::string_view type) {
    if (type == "Fill") return OpCode::constant;
    return owners_.native() && (type == "Where" || type == "where") ? OpCode::select : op_code(type);
  }
  OpCode execution_code(std::uint32_t execution) {
    const std::uint32_t type = calls_.op_type_number(execution);
    if (type >= codes_.size()) codes_.resize(type + 1U);
    if (!codes_[type]) codes_[type] = eager_code(calls_.op_type(execution));
    return *codes_[type];
  }

  Run& run_;
  GraphFacts graphs_;
  CallTable calls_;
  RowOwners owners_;
  NestedCalls nested_;
  std::pair<std::size_t, std::size_t> defined_;  // graphs and ops
  std::list<std::unique_ptr<Window>> windows_;   // most recently used first
  std::uint64_t spent_ = 0;
  std::vector<Limit> reached_;
  std::array<KnownOutputs, 16> known_;  // most recently used first
  reader::ExecutionLinks links_;        // read into again and again
  std::vector<std::optional<OpCode>> codes_;
  std::optional<bool> is_curt_;
  TensorDebugMode mode_ = TensorDebugMode::unspecified;
};

}  // namespace nanlens::causes
