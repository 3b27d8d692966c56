#pragma once

#include <mutex>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include <nanlens/capture/graph_builder.hpp>
#include <nanlens/capture/recorder.inl>

namespace nanlens {

NANLENS_API GraphBuilder::GraphBuilder(const std::string& name, const GraphBuilder* outer)
    : graph_(&detail::Catalog::get().new_graph(outer == nullptr ? nullptr : outer->graph_,
                                               [&](detail::CatalogGraph& g, int) { g.name = name; })) {}

NANLENS_API GraphTensor GraphBuilder::op(const OpName& type, const std::string& name,
                                         const std::vector<GraphTensor>& inputs, std::size_t num_outputs) {
  std::vector<std::string> names;
  for (const GraphTensor& input : inputs)
    if (input.op() != nullptr) names.push_back(input.op()->name + ":" + std::to_string(input.slot()));
  detail::Catalog& catalog = detail::Catalog::get();
  const std::uint64_t hash =
      detail::mix(reinterpret_cast<std::uintptr_t>(type.where().file_name()), type.where().line());
  const std::uint32_t stack = catalog.stack(detail::mix(hash, type.where().column()), {}, type.where());
  const std::lock_guard guard(graph_->lock);
  return {&catalog.add_op(*graph_, type.type(), name, std::move(names), num_outputs, stack), 0};
}

NANLENS_API void trace(const GraphTensor& tensor, const TensorView& view) {
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
