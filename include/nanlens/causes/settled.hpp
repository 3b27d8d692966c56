/// @file
/// Which answers stay when a run has grown.
#pragma once

#include <cmath>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include <nanlens/causes/model.hpp>

namespace nanlens::causes {

/// An answer rests on the rows of the event's call, on earlier calls, on definitions, and on rows without a call. What
/// is new changes the answers about its own call and those after it; files are read one by one, so that it may be older
/// than what is known.
class Settled {
 public:
  explicit Settled(Model& model) : model_(model) {}

  /// The model has taken in what is new.
  void update() {
    const std::size_t first_row = std::exchange(rows_, model_.run().num_traces());
    const std::size_t first_execution = std::exchange(executions_, model_.run().num_executions());
    if (model_.owners().facts_changed()) return settle_until(-std::numeric_limits<double>::infinity());
    ownerless_changed_ = ownerless_changed_ || model_.owners().ownerless_changed();
    std::vector<double> earliest(model_.run().num_sets(), std::numeric_limits<double>::infinity());
    for (std::size_t row = first_row; row < rows_; ++row) take_row(static_cast<std::uint32_t>(row), earliest);
    for (std::size_t i = first_execution; i < executions_; ++i)
      take_execution(static_cast<std::uint32_t>(i), first_execution, earliest);
    for (std::size_t set = 0; set < earliest.size(); ++set)
      if (earliest[set] < std::numeric_limits<double>::infinity())
        settle_until(model_.owners().end_of_call_before(set, earliest[set]));
  }
  /// What was found out since is settled anew.
  void reset() {
    until_ = std::numeric_limits<double>::infinity();
    ownerless_changed_ = false;
  }

  /// What was found out about an event of this time rests on all that took a tensor which no execution made.
  void rest_on(std::uint32_t set, std::int64_t tensor_id, double wall_time) {
    double& earliest = resting_on_.try_emplace({set, tensor_id}, wall_time).first->second;
    earliest = std::min(earliest, wall_time);
  }

  /// Was the event on record when `update` was called last?
  [[nodiscard]] bool is_known(const reader::AlertRef& alert) const noexcept {
    return alert.event < (alert.is_execution ? executions_ : rows_);
  }
  /// Does what was found out about an event still hold? `event`: the alert's.
  [[nodiscard]] bool holds(double wall_time, EventRef event) {
    return wall_time <= until_ && !(ownerless_changed_ && rests_on_ownerless(event));
  }

 private:
  void settle_until(double time) {
    if (!(time >= until_)) until_ = time;
  }
  void settle_before(double time) { settle_until(std::nextafter(time, -std::numeric_limits<double>::infinity())); }

  void take_time(double time, std::size_t set, std::vector<double>& earliest) {
    if (time != time) return settle_until(-std::numeric_limits<double>::infinity());
    earliest[set] = std::min(earliest[set], time);
  }
  // Calls of several threads overlap: one may have begun long before the call that ended last.
  void take_call(std::uint32_t call) {
    if (call == none) return;
    const std::uint32_t first = model_.owners().first_row(call);
    if (first != none) settle_before(model_.time(trace_event(first)));
    if (resting_on_.empty()) return;
    for (const TensorUse& use : model_.calls().inputs(call))
      if (const auto found = resting_on_.find({use.set, use.tensor_id}); found != resting_on_.end())
        settle_before(found->second);
  }
  void take_row(std::uint32_t row, std::vector<double>& earliest) {
    take_time(model_.time(trace_event(row)), model_.run().set_of_trace(row), earliest);
    const std::uint32_t call = model_.owners().owner(row);
    if (call != std::exchange(last_call_, call)) take_call(call);
  }
  void take_execution(std::uint32_t i, std::size_t first_new, std::vector<double>& earliest) {
    take_time(model_.run().execution_wall_time(i), model_.run().set_of_execution(i), earliest);
    take_call(i);
    // What a rank puts in is in what others got out, whose clocks may be behind.
    const Exchange* const exchange = model_.calls().exchanges().find(i);
    if (exchange != nullptr && !exchange->received)
      model_.calls().exchanges().visit_received(
          *exchange, [&](std::uint32_t other) { settle_before(model_.run().execution_wall_time(other)); });
    // What a call kept for its gradient is known by the gradient's call.
    for (const TensorUse& use : model_.calls().inputs(i)) {
      const auto made = model_.calls().producer(use.tensor_id, i);
      if (!made || made->execution >= first_new || !model_.calls().is_call(made->execution)) continue;
      const std::uint32_t graph = model_.owners().graph_of_call(made->execution);
      const bool returned = graph != none && made->position < model_.graphs().links(graph).returns.size();
      if (!returned && model_.bad(execution_event(made->execution, made->position)))
        settle_before(model_.run().execution_wall_time(made->execution));
    }
  }
  [[nodiscard]] bool rests_on_ownerless(EventRef event) {
    const OpCode code = model_.code(event);
    if (code == OpCode::iterator_get || code == OpCode::container_get) return true;
    return event.is_execution ? code == OpCode::list_get : model_.owners().owner(event.index) == none;
  }

  Model& model_;
  std::size_t rows_ = 0;
  std::size_t executions_ = 0;
  std::uint32_t last_call_ = none;
  std::map<std::pair<std::uint32_t, std::int64_t>, double> resting_on_;  // by file set and tensor
  double until_ = std::numeric_limits<double>::infinity();
  bool ownerless_changed_ = false;
};

}  // namespace nanlens::causes
