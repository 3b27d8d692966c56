#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <nanlens/capture/environment.inl>
#include <nanlens/capture/function.inl>
#include <nanlens/capture/recorder.inl>
#include <nanlens/capture/recorder_table.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN detail {

inline unsigned begin() noexcept {
  begin_at_first_event();
  return Clients::get().visible() & ~(environment_unread_bit | forked_bit);
}

inline void identify_before(InputRef* inputs, std::size_t count) noexcept {
  ThreadState* const state = recording_thread();
  if (state == nullptr) return;
  const RecordingScope scope(*state);
  without_throwing(*state, [&] {
    for (std::size_t i = 0; i < count; ++i) identify(*state, inputs[i], true);
  });
}

// Of what is known as recorded, only the words of its sample were compared, and code that is not on record may have
// changed a single element since: what is small is looked at all the same.
inline bool is_to_be_seen(const InputRef& input) noexcept {
  constexpr std::size_t small = std::size_t{64} << 10;
  if (input.link.known() && input.key.bytes() > small) return false;
  return is_floating(input.view.dtype) && is_readable(input.view);
}

inline void look_before(InputRef* inputs, std::size_t count, InputSeen* seen) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    InputRef& input = inputs[i];
    input.here = false;
    if (!is_to_be_seen(input)) continue;
    seen[i].counts = full_health(input.view);
    input.seen = &seen[i];
    if (seen[i].counts.non_finite() == 0 || !has_parts(input)) continue;
    ThreadState* const state = recording_thread();
    if (state == nullptr) continue;
    const RecordingScope scope(*state);
    without_throwing(*state, [&] { seen[i].part = maker_of_first_bad(input.view); });
  }
}

inline OpRef kept(const OpRef& op) noexcept {
  static constexpr SourcePlace nowhere;
  OpRef kept_op("", "", nowhere);  // what is left where there is no memory
  ThreadState* const state = recording_thread();
  if (state == nullptr) return kept_op;
  const RecordingScope scope(*state);
  without_throwing(*state, [&] {
    Catalog& catalog = Catalog::get();
    const std::string_view type = catalog.kept_text(op.type());
    kept_op = {type, op.has_own_name() ? catalog.kept_text(op.name()) : type, catalog.kept_place(op.where())};
  });
  return kept_op;
}

inline void declare_variable(const TensorKey& key) noexcept {
  ThreadState* const state = recording_thread();
  if (state == nullptr) return;
  const RecordingScope scope(*state);
  without_throwing(*state, [&] { VariableTable::get().declare(key, state->take_eager_id()); });
}

inline std::uint32_t add_host_stack(const SourcePlace* frames, std::size_t num_frames) noexcept {
  ThreadState* const state = recording_thread();
  std::uint32_t number = no_stack;
  if (state == nullptr) return number;
  const RecordingScope scope(*state);
  without_throwing(*state, [&] { number = Catalog::get().host_stack({frames, num_frames}); });
  return number;
}

inline std::uint32_t join_host_stacks(std::uint32_t outer, std::uint32_t inner) noexcept {
  ThreadState* const state = recording_thread();
  std::uint32_t number = no_stack;
  if (state == nullptr) return number;
  const RecordingScope scope(*state);
  without_throwing(*state, [&] {
    std::vector<SourcePlace> frames = Catalog::get().stack(outer).given;
    const std::vector<SourcePlace>& others = Catalog::get().stack(inner).given;
    frames.insert(frames.end(), others.begin(), others.end());
    number = Catalog::get().host_stack(frames);
  });
  return number;
}

inline bool claim_host(TextRef host, void (*rest)(bool) noexcept) noexcept {
  ThreadState* const state = this_thread();
  bool first = false;
  if (state == nullptr) return first;
  without_throwing(*state, [&] {
    first = Catalog::get().claim_host(host.view());
    if (first && rest != nullptr) Clients::get().follow(rest);
  });
  return first;
}

inline void release_host(TextRef host, void (*rest)(bool) noexcept) noexcept {
  ThreadState* const state = this_thread();
  if (state == nullptr) return;
  without_throwing(*state, [&] {
    Clients::get().unfollow(rest);
    Catalog::get().release_host(host.view());
  });
}

inline void share_work_with(ShareWork with) noexcept { work_sharing.store(with, std::memory_order_release); }

inline void read_far_by(ReadFar reader) noexcept { read_far.store(reader, std::memory_order_release); }

inline void end_step() noexcept {
  begin_at_first_event();
  ThreadState* const state = this_thread();
  if (state != nullptr) without_throwing(*state, [] { Sampler::get().step(); });
}

inline void forget_memory(std::uintptr_t begin, std::uintptr_t end) noexcept {
  ThreadState* const state = recording_thread();
  if (state == nullptr) return;
  const RecordingScope scope(*state);
  without_throwing(*state, [&] {
    registry().put({begin, end, 1, 1, true}, {}, {});
    VariableTable::get().forget(begin, end);
  });
}

inline const NumericsRef* record_op(const OpRef& name, InputRef* first_input, std::size_t num_inputs,
                                    OutputRef* first_output, std::size_t num_outputs,
                                    const Measured& measured) noexcept {
  const std::span<InputRef> inputs(first_input, num_inputs);
  const std::span<OutputRef> outputs(first_output, num_outputs);
  const unsigned bits = Clients::get().bits();
  ThreadState* const state = bits == 0 ? nullptr : recording_thread(Dropped::execution);
  if (state == nullptr) return nullptr;
  const GraphOp* op = nullptr;
  state->measured = measured;
  if (!is_left_out(bits, measured))
    without_throwing(*state, [&] {
      const RecordingScope scope(*state);
      identify_all(*state, inputs, outputs);
      drop_ended(*state);
      if (state->function != nullptr && measured.exchange == nullptr) {
        find_arguments(*state->function, inputs);
        op = &record_in_graph(*state, scope.session, name, inputs, outputs, measured.duration_ns);
      } else {
        record_eager(*state, scope.session, name, inputs, outputs, measured.duration_ns);
      }
    });
  state->measured = {};
  if ((bits & checking_bit) == 0) return nullptr;
  return checked_outputs(*state, name.type(), op, name.where(), inputs, outputs);
}

}  // namespace NANLENS_HIDDEN detail
}  // namespace nanlens::inline NANLENS_ABI
