/// @file
/// Stopping at the first NaN or infinity, at the op that made it.
///
/// Semantics and exempt ops are those of TensorFlow's tf.debugging.enable_check_numerics.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <nanlens/capture/resolved_frame.hpp>
#include <nanlens/config.hpp>
#include <nanlens/summary/health_counts.hpp>
#include <nanlens/tensor/dtype.hpp>
#include <nanlens/tensor/shape.hpp>

namespace nanlens {

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

/// From now on every recorded op whose output holds a NaN or infinity throws NumericsError (or calls the handler),
/// after it has been recorded if dumping is on. Works with dumping or alone. Enabled again: the first call's options
/// stay, as in TensorFlow.
void enable_check_numerics(const CheckNumericsOptions& options = {});

/// Stops checking. Does nothing if it is off.
void disable_check_numerics();

}  // namespace nanlens
