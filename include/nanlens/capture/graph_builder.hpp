/// @file
/// Declaring a graph that the host already has (an IR, a network description), and tracing its tensors later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include <nanlens/capture/check_numerics.hpp>
#include <nanlens/capture/client.hpp>
#include <nanlens/capture/op_name.hpp>
#include <nanlens/config.hpp>
#include <nanlens/tensor/tensor_view.hpp>

namespace nanlens::inline NANLENS_ABI {

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
      : graph_(detail::recorder().new_graph(std::string_view(name), outer == nullptr ? nullptr : outer->graph_)) {}

  /// Adds an op; its name is made unique (name, name_1, …). Returns its first output.
  GraphTensor op(const OpName& type, const std::string& name, const std::vector<GraphTensor>& inputs,
                 std::size_t num_outputs = 1) {
    std::vector<const detail::GraphOp*> ops;
    std::vector<std::int32_t> slots;
    for (const GraphTensor& input : inputs) {
      if (input.op() == nullptr) continue;
      ops.push_back(input.op());
      slots.push_back(input.slot());
    }
    return {detail::recorder().add_op(graph_, {type.type(), name, type.where()}, ops.data(), slots.data(), ops.size(),
                                      num_outputs),
            0};
  }

  /// Adds an argument of the graph.
  GraphTensor placeholder(const std::string& name, std::source_location where = std::source_location::current()) {
    return op(OpName("Placeholder", where), name, {});
  }

 private:
  void* graph_;  // the recorder's
};

/// Records the value of a declared graph's tensor; from any thread. Where the graph runs more than once, `graph_run`
/// tells the runs apart: a number from 1 on. Throws NumericsError only, with check_numerics on.
inline void trace(const GraphTensor& tensor, const TensorView& view, std::uint64_t graph_run = 0) {
  if (tensor.op() == nullptr || !detail::takes_op() || detail::active_bits() == 0) return;
  if (const auto* const found = detail::recorder().trace(tensor.op(), tensor.slot(), view, graph_run))
    detail::deliver(*found);
}

}  // namespace nanlens::inline NANLENS_ABI
