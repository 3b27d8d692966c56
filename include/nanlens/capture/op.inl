#pragma once

#include <cstdint>
#include <span>

#include <nanlens/capture/environment.inl>
#include <nanlens/capture/op.hpp>
#include <nanlens/capture/recorder.inl>

namespace nanlens::detail {

NANLENS_API void identify_before(std::span<InputRef> inputs) noexcept {
  ThreadState* const state = this_thread();
  if (state == nullptr) return;
  const RecordingScope scope(*state);
  without_throwing(*state, [&] {
    for (InputRef& input : inputs) identify(*state, input, true);
  });
}

NANLENS_API void look_before(std::span<InputRef> inputs, std::span<HealthCounts> counts) noexcept {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    InputRef& input = inputs[i];
    input.here = false;
    if (input.link.known() || !is_floating(input.view.dtype) || !is_readable(input.view)) continue;
    counts[i] = full_health(input.view);
    input.counts = &counts[i];
  }
}

NANLENS_API void keep(OpName& name) noexcept {
  const OpName given = name;
  name = OpName("", given.where());  // what is left where there is no memory
  ThreadState* const state = this_thread();
  if (state == nullptr) return;
  const RecordingScope scope(*state);
  without_throwing(*state, [&] {
    const std::string_view type = Catalog::get().kept_text(given.type());
    name = given.has_own_name() ? OpName(type, Catalog::get().kept_text(given.name()), given.where())
                                : OpName(type, given.where());
  });
}

NANLENS_API void declare_variable(const TensorKey& key) {
  ThreadState* const state = this_thread();
  if (state == nullptr) return;
  const RecordingScope scope(*state);
  VariableTable::get().declare(key, state->take_eager_id());
}

NANLENS_API void forget_memory(std::uintptr_t begin, std::uintptr_t end) {
  ThreadState* const state = this_thread();
  if (state == nullptr) return;
  const RecordingScope scope(*state);
  registry().put({begin, end, 1, 1, true}, {}, {});
  VariableTable::get().forget(begin, end);
}

NANLENS_API void OpTimer::start() noexcept {
  if (fp_flags_wanted.load(std::memory_order_relaxed)) flags_.begin();
  start_ns_ = steady_now_ns();
}

NANLENS_API std::uint64_t OpTimer::stop() noexcept {
  const std::uint64_t duration = steady_now_ns() - start_ns_;
  if (flags_.begun())
    if (ThreadState* const state = this_thread()) state->fp_flags = flags_.end();
  return duration;
}

NANLENS_API void record(const OpName& name, std::span<InputRef> inputs, std::span<OutputRef> outputs,
                        std::uint64_t duration_ns) {
  const unsigned bits = active_bits();
  ThreadState* const state = bits == 0 ? nullptr : this_thread();
  if (state == nullptr) return;
  const GraphOp* op = nullptr;
  without_throwing(*state, [&] {
    const RecordingScope scope(*state);
    identify_all(*state, inputs, outputs);
    if (state->function != nullptr)
      op = &record_in_graph(*state, scope.session, name, inputs, outputs, duration_ns);
    else
      record_eager(*state, scope.session, name, inputs, outputs, duration_ns);
  });
  state->fp_flags = 0;
  if ((bits & checking_bit) != 0) check_outputs(name.type(), op, name.where(), inputs, outputs);
}

}  // namespace nanlens::detail
