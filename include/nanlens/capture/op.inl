#pragma once

#include <cstdint>
#include <span>

#include <nanlens/capture/environment.inl>
#include <nanlens/capture/op.hpp>
#include <nanlens/capture/recorder.inl>

namespace nanlens::detail {

NANLENS_API TensorLink link_of(const InputRef& input) {
  return input.link.known() ? input.link : registry().find(input.key);
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
  registry().put({begin, end, 1}, {});
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

NANLENS_API void record(const OpName& name, std::span<const InputRef> inputs, std::span<OutputRef> outputs,
                        std::uint64_t duration_ns) {
  const unsigned bits = active_bits();
  ThreadState* const state = bits == 0 ? nullptr : this_thread();
  if (state == nullptr) return;
  const GraphOp* op = nullptr;
  without_throwing(*state, [&] {
    const RecordingScope scope(*state);
    if (state->function != nullptr)
      op = &record_in_graph(*state, scope.session, name, inputs, outputs, duration_ns);
    else
      record_eager(*state, scope.session, name, inputs, outputs, duration_ns);
  });
  state->fp_flags = 0;
  if ((bits & checking_bit) != 0) check_outputs(name.type, op, name.where, inputs, outputs);
}

}  // namespace nanlens::detail
