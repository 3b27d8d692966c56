#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <nanlens/capture/recorder.inl>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN detail {

inline void* declare_graph(TextRef name, const void* outer) noexcept {
  ThreadState* const state = recording_thread();
  CatalogGraph* graph = nullptr;
  if (state == nullptr) return graph;
  without_throwing(*state, [&] {
    graph = &Catalog::get().new_graph(static_cast<const CatalogGraph*>(outer),
                                      [&](CatalogGraph& g, int) { g.name = name.view(); });
  });
  return graph;
}

inline const GraphOp* declare_op(void* to, const OpRef& name, const GraphOp* const* inputs, const std::int32_t* slots,
                                 std::size_t num_inputs, std::size_t num_outputs) noexcept {
  ThreadState* const state = recording_thread();
  const GraphOp* op = nullptr;
  if (state == nullptr || to == nullptr) return op;
  without_throwing(*state, [&] {
    CatalogGraph& graph = *static_cast<CatalogGraph*>(to);
    Catalog& catalog = Catalog::get();
    const std::lock_guard guard(graph.lock);
    if (!catalog.has_room_for_ops()) {
      op = &catalog.further_ops(graph, num_outputs);
      return;
    }
    std::vector<std::string> names;
    for (std::size_t i = 0; i < num_inputs; ++i) names.push_back(inputs[i]->name + ":" + std::to_string(slots[i]));
    const std::uint32_t stack = catalog.stack(hash_place(name.where()), {}, name.where());
    op = &catalog.add_op(graph, name.type(), name.name(), std::move(names), num_outputs, stack);
  });
  return op;
}

inline const NumericsRef* trace_output(const GraphOp* op, std::int32_t slot, const TensorView& view,
                                       std::uint64_t graph_run) noexcept {
  const unsigned bits = Clients::get().bits();
  ThreadState* const state = bits == 0 ? nullptr : recording_thread(Dropped::trace);
  if (state == nullptr) return nullptr;
  if (!is_left_out(bits, {}))
    without_throwing(*state, [&] {
      const RecordingScope scope(*state, RecordingScope::Host::untouched);
      if (scope.session != nullptr && static_cast<std::size_t>(slot) < op->output_tensor_ids.size())
        submit_trace(*state, *scope.session, *op, slot, view,
                     {.outside_source = op->is_placeholder, .graph_run = graph_run});
    });
  if ((bits & checking_bit) == 0) return nullptr;
  const OutputRef output{view, {}, nullptr};
  return checked_outputs(*state, op->type, op, std::source_location::current(), {}, {&output, 1});
}

}  // namespace NANLENS_HIDDEN detail
}  // namespace nanlens::inline NANLENS_ABI
