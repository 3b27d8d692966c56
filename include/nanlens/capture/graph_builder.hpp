/// @file
/// Declaring a graph that the host already has (an IR, a network description), and tracing its tensors later.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <nanlens/capture/recorder.hpp>

namespace nanlens {

/// An output of an op of a declared graph.
class GraphTensor {
 public:
  GraphTensor() noexcept = default;
  GraphTensor(const detail::GraphOp* op, std::int32_t slot) noexcept : op_(op), slot_(slot) {}
  /// The same op's output of another slot.
  [[nodiscard]] GraphTensor output(std::int32_t slot) const noexcept { return {op_, slot}; }
  [[nodiscard]] const detail::GraphOp* op() const noexcept { return op_; }
  [[nodiscard]] std::int32_t slot() const noexcept { return slot_; }

 private:
  const detail::GraphOp* op_ = nullptr;
  std::int32_t slot_ = 0;
};

/// A graph declared op by op. Building it runs nothing and needs no recording to be on; its definition is written into
/// every logdir recorded afterwards. Build from one thread; trace from any.
class GraphBuilder {
 public:
  /// `name` is what viewers show. With `outer` the graph lies inside another one.
  explicit GraphBuilder(const std::string& name, const GraphBuilder* outer = nullptr)
      : graph_(&detail::Catalog::get().new_graph(outer == nullptr ? nullptr : outer->graph_,
                                                 [&](detail::CatalogGraph& g, int) { g.name = name; })) {}

  /// Adds an op; its name is made unique (name, name_1, …). Returns its first output.
  GraphTensor op(const OpName& type, const std::string& name, const std::vector<GraphTensor>& inputs,
                 std::size_t num_outputs = 1) {
    std::vector<std::string> names;
    for (const GraphTensor& input : inputs)
      if (input.op() != nullptr) names.push_back(input.op()->name + ":" + std::to_string(input.slot()));
    const std::uint32_t stack = call_site_stack(type.where);
    const std::lock_guard guard(graph_->lock);
    return {&detail::Catalog::get().add_op(*graph_, type.type, name, std::move(names), num_outputs, stack), 0};
  }

  /// Adds an argument of the graph.
  GraphTensor placeholder(const std::string& name, std::source_location where = std::source_location::current()) {
    return op(OpName("Placeholder", where), name, {});
  }

 private:
  static std::uint32_t call_site_stack(const std::source_location& where) {
    const std::uint64_t hash = detail::mix(reinterpret_cast<std::uintptr_t>(where.file_name()), where.line());
    return detail::Catalog::get().stack(detail::mix(hash, where.column()), {}, where);
  }
  detail::CatalogGraph* graph_;
};

/// Records the value of a declared graph's tensor; from any thread. Throws NumericsError only, with check_numerics on.
inline void trace(const GraphTensor& tensor, const TensorView& view) {
  const unsigned bits = detail::active_bits();
  detail::ThreadState* const state = bits == 0 ? nullptr : detail::this_thread();
  if (state == nullptr || tensor.op() == nullptr) return;
  {
    const detail::RecordingScope scope(*state);
    if (scope.session != nullptr && static_cast<std::size_t>(tensor.slot()) < tensor.op()->output_tensor_ids.size())
      detail::submit_trace(*state, *scope.session, *tensor.op(), tensor.slot(), view, {});
  }
  if ((bits & detail::checking_bit) == 0) return;
  const detail::OutputRef output{view, {}, nullptr};
  detail::check_outputs(tensor.op()->type, tensor.op(), std::source_location::current(), {}, {&output, 1});
}

}  // namespace nanlens
