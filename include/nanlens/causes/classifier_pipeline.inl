// Part of classifier.hpp: what goes through input pipelines (tf.data), whose links are not on record.
#pragma once

namespace nanlens::causes {

// The latest bad row before an event that could have become it: one with the same counts, that was stacked with others,
// or of which it is a slice. `from` says which rows may be.
template <class From>
bool Classifier::latest_alike(EventRef event, const Window& window, From&& from, float alike, float any, Link& link) {
  const TensorHealth health = model_.health(event);
  const double time = model_.time(event);
  std::uint32_t best = none;
  std::uint32_t part = none;
  std::uint32_t last = none;
  const auto rows = window.bad_rows();
  const auto end = std::partition_point(rows.begin(), rows.end(), [&](std::uint32_t row) {
    return (event.is_execution || row < event.index) && !(model_.time(trace_event(row)) > time);
  });
  auto i = static_cast<std::size_t>(end - rows.begin());
  for (std::size_t tried = 0; i-- > 0 && best == none && tried < limits::rows_alike; ++tried) {
    model_.spend(1);
    const std::uint32_t row = rows[i];
    if (!from(row)) continue;
    if (last == none) last = row;
    const TensorHealth other = model_.health(trace_event(row));
    if (same_counts(health, other)) best = row;
    if (part == none && (part_of(other, health) || (feeds_pipeline(row) && part_of(health, other)))) part = row;
  }
  if (best == none) best = part;
  if (best == none && last == none) return false;
  // Without counts any bad row may be the one; with counts one that differs is not.
  if (best == none && health.num_zero >= 0) return false;
  link.set_event(trace_event(best != none ? best : last), best != none ? alike : any);
  return true;
}

// What came out of an iterator or an optional, or is what a pipeline was reduced to.
NANLENS_API void Classifier::container_input(EventRef event, Link& link) {
  if (optional_input(event, link)) return;
  const auto graph_of = [this](std::uint32_t row) { return model_.graphs().graph_of(model_.run().trace_op(row)); };
  const auto is_inner = [&](std::uint32_t row) {
    return model_.graphs().is_pipeline(graph_of(row)) || feeds_pipeline(row);
  };
  const auto is_any = [](std::uint32_t) { return true; };
  if (event.is_execution) {
    const auto ids = model_.calls().inputs(event.index);
    const auto maker = ids.empty() ? std::nullopt : model_.calls().producer(ids[0].tensor_id, event.index);
    if (maker && model_.calls().is_call(maker->execution) &&
        latest_alike(event, model_.window(maker->execution), is_any, 0.6F, 0.4F, link))
      return;
  } else if (const std::uint32_t call = model_.owners().owner(event.index);
             call != none && latest_alike(event, model_.window(call), is_inner, 0.7F, 0.5F, link)) {
    return;
  }
  const auto is_outer = [&](std::uint32_t row) { return model_.owners().is_asynchronous(graph_of(row)); };
  if (latest_alike(event, model_.window(none), is_outer, 0.7F, 0.5F, link)) return;
  link.set_unknown(Reason::container, 0.5F);
}

// Is a pipeline made of it, where it was made?
NANLENS_API bool Classifier::feeds_pipeline(std::uint32_t row) {
  GraphFacts& graphs = model_.graphs();
  const auto& consumers = graphs.op(model_.run().trace_op(row)).consumers;
  constexpr std::size_t few = 16;  // asked of many rows
  for (std::size_t i = 0; i < std::min(consumers.size(), few); ++i)
    if (graphs.op_type(consumers[i].op).find("Dataset") != std::string_view::npos) return true;
  return false;
}

// What a function of a pipeline was given: by one that was made before it, by what the pipeline was made of, or, where
// it hands on a state, by itself. Else it stays unknown.
NANLENS_API void Classifier::pipeline_argument(EventRef event, Link& link) {
  GraphFacts& graphs = model_.graphs();
  const std::uint32_t own = graphs.graph_of(model_.run().trace_op(event.index));
  const bool has_state = graphs.hands_on_state(own);
  if (!graphs.is_pipeline(own) && !has_state) return;
  const std::uint32_t call = model_.owners().owner(event.index);
  const Window& window = model_.window(call);
  const std::uint32_t run = window.run_of(event.index);
  const auto from = [&](std::uint32_t row) {
    const std::uint32_t graph = graphs.graph_of(model_.run().trace_op(row));
    if (graph == own) return has_state && window.run_of(row) != run;
    return graph < own && (graphs.is_pipeline(graph) || feeds_pipeline(row));
  };
  if (latest_alike(event, window, from, 0.7F, 0.5F, link) || call == none) return;
  latest_alike(event, model_.window(none), from, 0.7F, 0.5F, link);  // the pipeline was made outside the call
}

// What a function that hands on a state, or a loop's body, whose runs follow one another, wrote to a variable the last
// time, whichever variable that is.
NANLENS_API void Classifier::written_last_time(EventRef event, const InputEdge& handle, Link& link) {
  GraphFacts& graphs = model_.graphs();
  const std::uint32_t graph = graphs.graph_of(model_.run().trace_op(event.index));
  const bool in_order =
      graphs.is_pipeline(graph) ? graphs.hands_on_state(graph) : graphs.links(graph).role == FlowRole::body;
  if (handle.op == none || !in_order) return;
  const Window& window = model_.window(model_.owners().owner(event.index));
  const std::uint32_t run = window.run_of(event.index);
  if (run == none || run == 0) return;
  const auto& edges = graphs.op(handle.op).consumers;
  constexpr std::size_t few = 64;  // each of many reads would look at all of them
  const std::size_t num_edges = std::min(edges.size(), few);
  model_.spend(num_edges);
  for (std::size_t i = 0; i < num_edges; ++i) {
    const OpLinks& user = graphs.op(edges[i].op);
    const bool writes = user.code == OpCode::assign || user.code == OpCode::apply;
    if (!writes || edges[i].output_slot != handle.slot || edges[i].input_slot != 0) continue;
    for (std::size_t k = 1; k < num_looked_at(user.inputs.size()); ++k) {
      const InputEdge& written = user.inputs[k];
      const std::uint32_t row =
          written.op == none ? none : window.find(graphs.tensor(written.op, written.slot), run - 1);
      if (row != none && row < event.index && model_.bad(trace_event(row)))
        return link.set_event(trace_event(row), 0.7F);
    }
  }
}

}  // namespace nanlens::causes
