/// @file
/// Writes to variables: what a variable held when it was read.
#pragma once

#include <algorithm>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include <nanlens/causes/resolver.hpp>

namespace nanlens::causes {

/// A write, in the order of executions. The value is looked up when it is asked for.
struct VariableWrite {
  std::int64_t handle = -1;     ///< id of the variable; −1 if it can't be told
  std::uint32_t execution = 0;  ///< the eager write, or the call in which it happened
  std::uint32_t op = none;      ///< writes inside functions: the op
  std::uint32_t graph = none;
  bool overwrites = false;  ///< the old content is lost; else the value is added to it
};

class Variables {
 public:
  Variables(Model& model, Resolver& resolver) : model_(model), resolver_(resolver) {}

  /// What was found out about writes inside functions rested on other definitions.
  void forget() {
    executions_seen_ = 0;
    sets_.clear();
    in_graph_.clear();
  }
  /// Takes in the executions that are new.
  void update() {
    CallTable& calls = model_.calls();
    sets_.resize(model_.run().num_sets());
    if (model_.owners().native()) return update_native();
    for (; executions_seen_ < calls.size(); ++executions_seen_) {
      const auto i = static_cast<std::uint32_t>(executions_seen_);
      if (calls.is_call(i)) {
        add_call(i);
        continue;
      }
      const OpCode code = model_.code(execution_event(i, 0));
      const auto inputs = calls.inputs(i);
      if (code != OpCode::assign && code != OpCode::apply) continue;
      if (!inputs.empty()) add({inputs[0].tensor_id, i, none, none, code == OpCode::assign});
    }
  }

  /// Was this variable written on record, by the process that recorded the reader?
  [[nodiscard]] bool is_known(EventRef reader, std::int64_t handle) const {
    return handle >= 0 && sets_[set_of(reader)].by_handle.contains(handle);
  }

  /// The event that a read found in its variable: the latest earlier write with something bad, if the content is bad.
  /// `reader`: the read itself; `handle` −1 if unknown; `health` of what was read.
  void last_write(EventRef reader, std::int64_t handle, const TensorHealth& health, Link& link) {
    std::uint32_t at = reader.is_execution ? reader.index : model_.owners().owner(reader.index);
    if (at == none) at = model_.owners().call_after(reader.index);
    const Written& known = sets_[set_of(reader)];
    const bool ownerless = !reader.is_execution && model_.owners().owner(reader.index) == none;
    const std::uint32_t before = reader.is_execution ? none : is_out_of_order(reader) ? 0 : reader.index;
    const VariableWrite* latest = nullptr;  // found by handle
    std::uint32_t assigned = none;          // that of the write of an eager tensor that no execution made
    bool replaced = false;                  // by what is not known
    bool perhaps_since = false;             // by its own call, of which it can't be told whether it came before
    if (const auto found = known.by_handle.find(handle); handle >= 0 && found != known.by_handle.end()) {
      constexpr std::size_t most = 64;
      const auto& list = found->second;
      const auto end = std::partition_point(list.begin(), list.end(),
                                            [&](std::uint32_t number) { return known.writes[number].execution <= at; });
      auto i = static_cast<std::size_t>(end - list.begin());
      for (std::size_t tried = 0; i-- > 0 && tried < most;) {
        const VariableWrite& w = known.writes[list[i]];
        if (w.execution == at && (reader.is_execution || ownerless)) continue;
        ++tried;
        Link value;
        value_of(w, w.execution == at ? before : none, value);
        if (w.execution == at && value.events.empty()) {
          perhaps_since = perhaps_since || value.reason != Reason::none;
          continue;
        }
        if (latest == nullptr) latest = &w;
        if (take_bad(value, 1, link)) return;
        const bool is_event = value.state == Link::State::events;
        const bool is_eager = value.state == Link::State::unknown && value.reason == Reason::eager;
        if (w.overwrites && is_eager && !replaced) assigned = w.execution;
        if (w.overwrites && (is_event || is_eager)) break;
        replaced = replaced || w.overwrites;
      }
    }
    if (latest_alike(known, at, before, handle, latest == nullptr ? none : latest->execution, health, link)) return;
    link.writer = assigned;
    if (perhaps_since) return link.set_unknown(Reason::updated, 0.5F);
    if (latest == nullptr) return link.set_unknown(handle < 0 ? Reason::which : Reason::variable, 0.5F);
    if (!latest->overwrites) {
      link.set_unknown(Reason::updated, 0.5F);
      link.updater = latest->execution;
      link.update_op = latest->op;
      return;
    }
    if (assigned != none) {
      const auto later = std::partition_point(known.unknown.begin(), known.unknown.end(), [&](std::uint32_t number) {
        return known.writes[number].execution <= assigned;
      });
      const bool last = later == known.unknown.end() || known.writes[*later].execution >= at;
      return link.set_unknown(Reason::assigned, last ? 1.0F : 0.5F);
    }
    link.set_unknown(Reason::updated, 0.5F);  // by what is not on record
  }

  /// The values that one of the last writes before an execution stored, if bad: for reads that are not recorded.
  bool recent_bad(std::uint32_t execution, Link& link) {
    constexpr std::size_t most = 5;
    const Written& known = sets_[set_of(execution_event(execution, 0))];
    auto i = execution == 0 ? 0 : num_until(known, execution - 1);
    for (std::size_t tried = 0; i-- > 0 && tried < most; ++tried) {
      Link value;
      value_of(known.writes[i], none, value);
      if (take_bad(value, 0.4F, link)) return true;
    }
    return false;
  }

  /// Was a variable that a call takes written, with bad inputs, by an earlier call whose rows are not on record?
  bool stale(std::uint32_t call, Link& link) {
    std::vector<std::int64_t> handles;
    for (const TensorUse& input : model_.calls().inputs(call)) handles.push_back(input.tensor_id);
    model_.calls().visit_read_variables(call, [&](std::int64_t id) { handles.push_back(id); });
    const Written& known = sets_[set_of(execution_event(call, 0))];
    for (const std::int64_t handle : handles) {
      const auto found = known.by_handle.find(handle);
      if (found == known.by_handle.end()) continue;
      const auto& list = found->second;
      const auto end = std::partition_point(
          list.begin(), list.end(), [&](std::uint32_t number) { return known.writes[number].execution < call; });
      if (end != list.begin() && bad_input_of(known.writes[*(end - 1)].execution, link)) return true;
    }
    return false;
  }

  /// An input of an execution that is bad; false if none is.
  bool bad_input_of(std::uint32_t execution, Link& link) {
    const auto inputs = model_.calls().inputs(execution);
    for (const TensorUse& input : inputs.first(std::min(inputs.size(), limits::inputs_looked_at))) {
      Link one;
      resolver_.eager(input.tensor_id, execution, one);
      if (take_bad(one, 0.5F, link)) return true;
    }
    return false;
  }

 private:
  // Of one file set: handles are the ids of one process.
  struct Written {
    std::vector<VariableWrite> writes;  // by execution
    std::unordered_map<std::int64_t, std::vector<std::uint32_t>> by_handle;
    std::vector<std::uint32_t> unknown;  // whose variable can't be told
  };
  // Numbers of writes that may be to a variable, from the last one among the first `end` back: its own and those whose
  // variable can't be told; all where the variable itself is not known.
  class Backwards {
   public:
    Backwards(const Written& known, std::int64_t handle, std::size_t end) : end_(end), any_(handle < 0) {
      if (any_) return;
      if (const auto found = known.by_handle.find(handle); found != known.by_handle.end())
        own_ = until(found->second, end);
      unknown_ = until(known.unknown, end);
    }
    /// none: there is no further one.
    [[nodiscard]] std::uint32_t next() {
      if (any_) return end_ == 0 ? none : static_cast<std::uint32_t>(--end_);
      const bool own = unknown_.empty() || (!own_.empty() && own_.back() > unknown_.back());
      auto& list = own ? own_ : unknown_;
      if (list.empty()) return none;
      const std::uint32_t number = list.back();
      list = list.first(list.size() - 1);
      return number;
    }

   private:
    using Numbers = std::span<const std::uint32_t>;
    static Numbers until(const std::vector<std::uint32_t>& list, std::size_t end) {
      const auto last = std::lower_bound(list.begin(), list.end(), end);
      return Numbers(list).first(static_cast<std::size_t>(last - list.begin()));
    }
    std::size_t end_;
    bool any_;
    Numbers own_;
    Numbers unknown_;
  };
  struct GraphWrite {
    std::uint32_t op;
    std::uint32_t graph;
    bool overwrites;
  };

  // nanlens says which variables an execution wrote.
  void update_native() {
    const auto written = model_.calls().written_variables();
    for (; executions_seen_ < written.size(); ++executions_seen_)
      add({written[executions_seen_].second, written[executions_seen_].first, none, none, true});
  }
  // What a native write stored: a row inside the call that is the variable's memory, an output that is, what an op
  // inside got that has no output of its own, else a bad input.
  void native_value(const VariableWrite& w, std::uint32_t before, Link& link) {
    if (model_.calls().is_call(w.execution)) {
      constexpr std::size_t farthest = 65536;
      const auto rows = model_.window(w.execution).rows();
      const auto end = before == none ? rows.end() : std::lower_bound(rows.begin(), rows.end(), before);
      auto i = static_cast<std::size_t>(end - rows.begin());
      for (std::size_t tried = 0; i-- > 0 && tried < farthest; ++tried) {
        const auto digest = model_.run().trace_digest(rows[i]);
        if (!digest || digest->variable_id != w.handle) continue;
        const OpLinks& op = model_.graphs().op(model_.run().trace_op(rows[i]));
        if (!op.inputs.empty()) return link.set_event(trace_event(rows[i]), 1);
      }
      if (written_inside(w, before, link)) return;
      if (before != none) return link.set_unknown(Reason::none, 0.3F);  // what the call gave comes after the row
    }
    for (std::size_t slot = 0; slot < model_.calls().outputs(w.execution).size(); ++slot)
      if (const EventRef out = execution_event(w.execution, slot); model_.bad(out)) return link.set_event(out, 0.9F);
    if (!bad_input_of(w.execution, link)) link.set_clean(0.9F);
    link.confidence = 1;
  }

  // Which of the ops without an output wrote which variable is not on record: all are asked, up to a limit, since reads
  // of all variables ask so.
  bool written_inside(const VariableWrite& w, std::uint32_t before, Link& link) {
    const std::uint32_t graph = model_.owners().graph_of_call(w.execution);
    if (graph == none) return false;
    const auto [found, is_new] = in_graph_.try_emplace(graph);
    if (is_new) collect(graph, found->second, 0, [&](std::uint32_t op) { return is_target_write(op); });
    const float sure = found->second.size() == 1 ? 0.9F : 0.6F;
    constexpr std::size_t most = 256;
    for (const GraphWrite& write : std::span(found->second).first(std::min(found->second.size(), most))) {
      Place place;
      place.call = w.execution;
      place.graph = write.graph;
      place.before = before;
      place.run = model_.window(w.execution).run_at(write.graph, before);
      if (place.run == none) continue;
      const auto& inputs = model_.graphs().op(write.op).inputs;
      model_.spend(inputs.size());
      for (std::size_t k = 0; k < std::min(inputs.size(), limits::inputs_looked_at); ++k) {
        Link one;
        resolver_.tensor(place, inputs[k], one);
        if (take_bad(one, sure, link)) return true;
      }
    }
    return false;
  }
  bool is_target_write(std::uint32_t op) {
    const OpLinks& links = model_.graphs().op(op);
    return links.makes_nothing && !links.inputs.empty() && model_.graphs().op_type(op) != "_Retval";
  }

  [[nodiscard]] std::size_t set_of(EventRef event) const {
    const Run& run = model_.run();
    return event.is_execution ? run.set_of_execution(event.index) : run.set_of_trace(event.index);
  }
  // Writes by executions up to this one; none: all.
  static std::size_t num_until(const Written& known, std::uint32_t execution) {
    const auto end = std::partition_point(known.writes.begin(), known.writes.end(),
                                          [&](const VariableWrite& w) { return w.execution <= execution; });
    return static_cast<std::size_t>(end - known.writes.begin());
  }
  void add(const VariableWrite& write) {
    Written& known = sets_[set_of(execution_event(write.execution, 0))];
    const auto number = static_cast<std::uint32_t>(known.writes.size());
    known.by_handle[write.handle].push_back(number);
    if (write.handle < 0) known.unknown.push_back(number);
    known.writes.push_back(write);
  }
  void add_call(std::uint32_t call) {
    const std::uint32_t graph = model_.owners().graph_of_call(call);
    if (graph == none) return;
    const auto [found, is_new] = in_graph_.try_emplace(graph);
    if (is_new) collect(graph, found->second, 0, [&](std::uint32_t op) { return is_assignment(op); });
    for (const GraphWrite& w : found->second) {
      Place place;
      place.call = call;
      place.graph = w.graph;
      const auto& inputs = model_.graphs().op(w.op).inputs;
      add({inputs.empty() ? -1 : resolver_.handle(place, inputs.front()), call, w.op, w.graph, w.overwrites});
    }
  }
  bool is_assignment(std::uint32_t op) {
    const OpCode code = model_.graphs().op(op).code;
    return code == OpCode::assign || code == OpCode::apply;
  }
  // Write ops of a function and of everything inside it.
  template <class IsWrite>
  void collect(std::uint32_t graph, std::vector<GraphWrite>& list, int depth, const IsWrite& is_write) {
    constexpr int deepest = 16;
    if (depth > deepest) return;
    model_.graphs().links(graph);
    for (const std::uint32_t op : model_.graphs().graph(graph).ops)
      if (is_write(op)) list.push_back({op, graph, model_.graphs().op(op).code == OpCode::assign});
    for (const std::uint32_t child : model_.graphs().graph(graph).inner) collect(child, list, depth + 1, is_write);
  }

  void value_of(const VariableWrite& w, std::uint32_t before, Link& link) {
    link.set_unknown(Reason::not_recorded, 0.3F);
    if (model_.owners().native()) return native_value(w, before, link);
    if (w.op == none) {
      const auto inputs = model_.calls().inputs(w.execution);
      Link clean;
      for (std::size_t k = 1; k < inputs.size(); ++k) {
        Link one;
        resolver_.eager(inputs[k].tensor_id, w.execution, one);
        if (take_bad(one, 1, link)) return;
        if (one.state == Link::State::events) clean = one;
        if (one.state == Link::State::unknown) link.reason = one.reason;
      }
      if (!clean.events.empty()) link = clean;
      return;
    }
    stored_inside(w, before, link);
  }

  // What an op of a function stored before a row: in the run of its graph that was under way, or, where that stored it
  // later or only added to what was there, in those before, as a loop's body does.
  void stored_inside(const VariableWrite& w, std::uint32_t before, Link& link) {
    Place place;
    place.call = w.execution;
    place.graph = w.graph;
    place.before = before;
    place.run = model_.window(w.execution).run_at(w.graph, before);
    if (place.run == none) {
      bad_input_of(w.execution, link);
      return;
    }
    constexpr std::uint32_t farthest = 16;
    bool any_before = false;
    for (std::uint32_t i = 0; i < farthest; ++i, --place.run) {
      Link stored;
      stored.set_unknown(Reason::not_recorded, 0.3F);
      if (stored_in(place, w.op, stored)) {
        if (take_bad(stored, 1, link)) return;
        if (!std::exchange(any_before, true)) link = stored;
        if (w.overwrites) return;
      }
      if (place.run == 0) break;
    }
    if (!any_before) link.set_unknown(Reason::none, 0.3F);  // nothing is amiss
  }
  // What it stored in one run; false: that came after the row, and so did the write.
  bool stored_in(const Place& place, std::uint32_t op, Link& link) {
    const auto& inputs = model_.graphs().op(op).inputs;
    for (std::size_t k = 1; k < inputs.size(); ++k) {
      Link one;
      resolver_.tensor(place, inputs[k], one);
      if (one.state != Link::State::events) continue;
      const EventRef& first = one.events.front();
      if (place.before != none && !first.is_execution && first.index > place.before) return false;
      link = one;
      if (std::any_of(one.events.begin(), one.events.end(), [this](EventRef e) { return model_.bad(e); })) return true;
    }
    return true;
  }

  bool take_bad(const Link& from, float factor, Link& to) {
    if (from.state != Link::State::events) return false;
    for (const EventRef& event : from.events)
      if (model_.bad(event)) {
        to.set_event(event, from.confidence * factor);
        return true;
      }
    return false;
  }

  // Rows of nested functions are in no order. Where those of a function's gradient come before its own, what its call
  // writes comes after what it reads.
  bool is_out_of_order(EventRef reader) {
    if (model_.owners().native()) return false;
    const std::uint32_t graph = model_.graphs().graph_of(model_.run().trace_op(reader.index));
    const Window& window = model_.window(model_.owners().owner(reader.index));
    if (window.num_runs(graph) != 1) return false;
    const auto& backward = model_.nested().backward_functions(graph);
    return std::any_of(backward.begin(), backward.end(), [&](std::uint32_t gradient) {
      const std::uint32_t begin = window.run_begin(gradient, 0);
      return begin != none && begin < reader.index;
    });
  }

  // A bad write of the same dtype, rank and size where the variable's identity is not known on one side.
  bool latest_alike(const Written& known, std::uint32_t at, std::uint32_t before, std::int64_t handle,
                    std::uint32_t exact, const TensorHealth& health, Link& link) {
    constexpr std::size_t farthest = 400;
    Backwards writes(known, handle, num_until(known, at));
    std::uint32_t number = writes.next();
    for (std::size_t tried = 0; number != none && tried < farthest; ++tried, number = writes.next()) {
      const VariableWrite& w = known.writes[number];
      if (exact != none && w.execution < exact) break;
      Link value;
      value_of(w, w.execution == at ? before : none, value);
      if (value.events.empty() || !model_.bad(value.events.front())) continue;
      const TensorHealth other = model_.health(value.events.front());
      if (health.size >= 0 && (other.size != health.size || other.rank != health.rank || other.dtype != health.dtype))
        continue;
      return take_bad(value, 0.6F, link);
    }
    return false;
  }

  Model& model_;
  Resolver& resolver_;
  std::size_t executions_seen_ = 0;
  std::vector<Written> sets_;
  std::unordered_map<std::uint32_t, std::vector<GraphWrite>> in_graph_;
};

}  // namespace nanlens::causes
