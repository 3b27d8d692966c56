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
  if (ThreadState* const state = this_thread()) VariableTable::get().declare(key, state->take_eager_id());
}

NANLENS_API void forget_memory(std::uintptr_t begin, std::uintptr_t end) {
  registry().put({begin, end, 1}, {});
  VariableTable::get().forget(begin, end);
}

NANLENS_API void OpTimer::start() noexcept {
  const Session* const session = current_session.load(std::memory_order_acquire);
  if (session != nullptr && session->options().fp_flags) flags_.begin();
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
#if NANLENS_HAS_EXCEPTIONS
  try {
#endif
    const RecordingScope scope(*state);
    if (state->function != nullptr)
      op = &record_in_graph(*state, scope.session, name, inputs, outputs, duration_ns);
    else
      record_eager(*state, scope.session, name, inputs, outputs, duration_ns);
#if NANLENS_HAS_EXCEPTIONS
  } catch (...) {  // out of memory: the event is lost and counted, the program goes on
    state->dropped_executions.fetch_add(1, std::memory_order_relaxed);
  }
#endif
  state->fp_flags = 0;
  if ((bits & checking_bit) != 0) check_outputs(name.type, op, name.where, inputs, outputs);
}

}  // namespace nanlens::detail
