// Part of resolver.hpp: what was behind a complex tensor. TensorFlow summarises none, in no mode.
#pragma once

#include <vector>

namespace nanlens::causes {

NANLENS_API void Resolver::eager_complex(std::int64_t tensor_id, std::uint32_t before, Link& link) {
  std::vector<std::int64_t> left{tensor_id};
  for (std::size_t i = 0; i < left.size() && i < limits::complex_steps; ++i) {
    model_.spend(1);
    const auto producer = model_.calls().producer(left[i], before);
    if (!producer) continue;
    const EventRef made = execution_event(producer->execution, producer->position);
    if (model_.bad(made)) return link.set_event(made, 0.6F);
    if (model_.health(made).known()) continue;
    for (const TensorUse& use : model_.calls().inputs(producer->execution)) left.push_back(use.tensor_id);
  }
  link.set_unknown(Reason::complex, 0.3F);
}

NANLENS_API void Resolver::complex(const Place& place, const InputEdge& edge, Link& link) {
  std::vector<InputEdge> left{edge};
  for (std::size_t i = 0; i < left.size() && i < limits::complex_steps; ++i) {
    model_.spend(1);
    const InputEdge next = left[i];
    if (next.op == none) continue;
    const OpLinks& op = model_.graphs().op(next.op);
    if (!model_.owners().has_rows(next.op) && !op.inputs.empty()) {
      left.insert(left.end(), op.inputs.begin(), op.inputs.end());
      continue;
    }
    Link behind;
    tensor(place, next, behind, 1);
    for (const EventRef& event : behind.events)
      if (behind.state == Link::State::events && model_.bad(event))
        return link.set_event(event, behind.confidence * 0.6F);
  }
  link.set_unknown(Reason::complex, 0.3F);
}

}  // namespace nanlens::causes
