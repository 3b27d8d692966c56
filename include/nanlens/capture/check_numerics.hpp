/// @file
/// Stopping at the first NaN or infinity, at the op that made it.
///
/// Semantics and exempt ops are those of TensorFlow's tf.debugging.enable_check_numerics.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nanlens/capture/client.hpp>
#include <nanlens/capture/resolved_frame.hpp>
#include <nanlens/config.hpp>
#include <nanlens/summary/health_counts.hpp>
#include <nanlens/tensor/dtype.hpp>
#include <nanlens/tensor/shape.hpp>

namespace nanlens::inline NANLENS_ABI {

/// All that is known of the op that made a NaN or infinity.
struct NumericsEvent {
  struct Input {
    std::string name;  ///< "op:slot" in a graph; empty for eager inputs
    DType dtype = DType::invalid;
    Shape shape;
  };
  std::string op_type;
  std::string op_name;  ///< in a graph
  std::string graph_name;
  std::int32_t output_slot = 0;
  std::int32_t num_outputs = 0;
  DType dtype = DType::invalid;
  Shape shape;
  HealthCounts counts;
  std::uint64_t nonfinite_complex = 0;  ///< elements of a complex tensor with a bad part
  std::vector<Input> inputs;
  std::vector<detail::ResolvedFrame> stack;  ///< outermost first
  std::string message;                       ///< all of it as text
};

#if NANLENS_HAS_EXCEPTIONS
/// Thrown after the op has been recorded, by the call that recorded it.
class NumericsError : public std::runtime_error {
 public:
  explicit NumericsError(NumericsEvent event)
      : std::runtime_error(event.message), event_(std::make_shared<NumericsEvent>(std::move(event))) {}
  [[nodiscard]] const NumericsEvent& event() const noexcept { return *event_; }

 private:
  std::shared_ptr<const NumericsEvent> event_;  // copying an exception must not throw
};
#endif

/// Options of `enable_check_numerics`; limits as in TensorFlow.
struct CheckNumericsOptions {
  int stack_height_limit = 30;  ///< frames shown, innermost last
  int path_length_limit = 50;   ///< characters of a path shown, its end; 0: all
  /// Op types that are never checked, besides the built-in ones.
  std::vector<std::string> exempt_ops = {};
  /// Output slots that are not checked, besides the built-in ones: op type and slot.
  std::vector<std::pair<std::string, std::int32_t>> exempt_slots = {};
  /// Called instead of throwing, for hosts that don't let exceptions pass; recording then goes on.
  std::function<void(const NumericsEvent&)> handler = {};
};

namespace detail {

using NumericsHandler = std::function<void(const NumericsEvent&)>;

/// What the recorder tells of a bad tensor, with texts of its own.
inline NumericsEvent event_of(const NumericsRef& ref) {
  NumericsEvent event;
  event.op_type = ref.op_type.view();
  event.op_name = ref.op_name.view();
  event.graph_name = ref.graph_name.view();
  event.message = ref.message.view();
  event.output_slot = ref.output_slot;
  event.num_outputs = ref.num_outputs;
  event.dtype = ref.dtype;
  event.shape = ref.shape;
  event.counts = ref.counts;
  event.nonfinite_complex = ref.nonfinite_complex;
  for (std::size_t i = 0; i < ref.num_inputs; ++i)
    event.inputs.push_back({std::string(ref.inputs[i].name.view()), ref.inputs[i].dtype, ref.inputs[i].shape});
  for (std::size_t i = 0; i < ref.num_frames; ++i)
    event.stack.push_back(
        {std::string(ref.stack[i].file.view()), ref.stack[i].line, std::string(ref.stack[i].function.view())});
  return event;
}

inline void call_handler(void* handler, const NumericsRef* event) {
  (*static_cast<const NumericsHandler*>(handler))(event_of(*event));
}

/// Tells the handler, or stderr: for callbacks of hosts, which an exception may not leave (C's), or would not get out
/// of (PyTorch swallows it). Does nothing if nothing was found.
inline void tell(const NumericsRef* found) noexcept {
  if (found == nullptr) return;
  if (found->handler != nullptr)
    found->handler(found->context, found);
  else
    std::fprintf(stderr, "nanlens: %.*s\n", static_cast<int>(found->message.size), found->message.data);
  found->release(found);
}

/// Tells the handler, or throws; without exceptions and without a handler the program ends here, with the message on
/// stderr.
inline void deliver(const NumericsRef& found) {
  const struct Release {
    const NumericsRef& what;
    ~Release() { what.release(&what); }
  } release{found};
  if (found.handler != nullptr) return found.handler(found.context, &found);
#if NANLENS_HAS_EXCEPTIONS
  throw NumericsError(event_of(found));
#else
  std::fprintf(stderr, "%.*s\n", static_cast<int>(found.message.size), found.message.data);
  recorder().disable_dump();
  std::abort();
#endif
}

}  // namespace detail

/// From now on every recorded op whose output holds a NaN or infinity throws NumericsError (or calls the handler),
/// after it has been recorded if dumping is on. Works with dumping or alone. Enabled again: the first call's options
/// stay, as in TensorFlow.
inline void enable_check_numerics(const CheckNumericsOptions& options = {}) {
  std::vector<detail::TextRef> ops(options.exempt_ops.begin(), options.exempt_ops.end());
  std::vector<detail::CheckOptionsRef::Slot> slots;
  for (const auto& [op, slot] : options.exempt_slots) slots.push_back({std::string_view(op), slot});
  detail::CheckOptionsRef ref;
  ref.exempt_ops = ops.data();
  ref.num_exempt_ops = ops.size();
  ref.exempt_slots = slots.data();
  ref.num_exempt_slots = slots.size();
  ref.stack_height_limit = options.stack_height_limit;
  ref.path_length_limit = options.path_length_limit;
  auto handler = options.handler ? std::make_unique<detail::NumericsHandler>(options.handler) : nullptr;
  ref.context = handler.get();
  if (handler != nullptr) {
    ref.handler = &detail::call_handler;
    ref.end = [](void* context) noexcept { delete static_cast<detail::NumericsHandler*>(context); };
  }
  if (detail::recorder().enable_check(ref)) (void)handler.release();
}

/// Stops checking. Does nothing if it is off.
inline void disable_check_numerics() { detail::recorder().disable_check(); }

}  // namespace nanlens::inline NANLENS_ABI
