/// @file
/// The capture API with NANLENS_DISABLE: the same names, which do nothing. Wrapped values are returned as they are;
/// callables are called, and lazy expressions evaluated, so that the types of a program stay the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <nanlens/capture/rule_hit.hpp>
#include <nanlens/config.hpp>
#include <nanlens/tensor/view_of.hpp>

namespace nanlens::inline NANLENS_ABI {

enum class TensorDebugMode : std::int32_t {
  no_tensor = 1,
  curt_health,
  concise_health,
  full_health,
  shape,
  full_tensor = 7
};
enum class StackMode { call_site, unwind, frame_pointers };
enum class FunctionKind { inference, forward, backward };

namespace detail {
// Takes whatever a std::string can be made of.
struct Text {
  constexpr Text() noexcept = default;
  template <class T>
  constexpr Text(const T&) noexcept {}  // NOLINT(google-explicit-constructor): as a string would be
};
}  // namespace detail

// Without what it takes to keep a function: that would be a third of the time that this header takes.
class RuleHandler {
 public:
  constexpr RuleHandler() noexcept = default;
  template <class Function>
    requires std::is_invocable_v<const Function&, const RuleHit&> && (!std::is_same_v<Function, RuleHandler>)
  // NOLINTNEXTLINE(google-explicit-constructor): a lambda is what callers write
  constexpr RuleHandler(const Function&) noexcept {}
  constexpr explicit operator bool() const noexcept { return false; }
  void operator()(const RuleHit&) const noexcept {}
  [[nodiscard]] constexpr const void* identity() const noexcept { return nullptr; }
  void stand_for(const void*) noexcept {}
  friend constexpr bool operator==(const RuleHandler&, const RuleHandler&) noexcept { return true; }
};

struct DumpOptions {
  detail::Text logdir = {};
  TensorDebugMode tensor_debug_mode = TensorDebugMode::no_tensor;
  std::int64_t circular_buffer_size = 1000;
  detail::Text op_regex = {};
  std::initializer_list<DType> tensor_dtypes = {};
  StackMode stack = StackMode::unwind;
  bool extension = true;
  bool statistics = false;
  bool fp_flags = false;
  bool record_children = true;
  std::int64_t value_budget = 0;
  std::int64_t pinned_sites = 0;
  std::int64_t pinned_events = 0;
  std::int64_t every = 1;
  std::int64_t first_step = 0;
  std::int64_t last_step = -1;
  std::vector<std::string> rules = {};
  RuleHandler on_rule = {};
  bool stop = false;
};
struct CheckNumericsOptions {
  int stack_height_limit = 30;
  int path_length_limit = 50;
};

inline bool enable_dump_debug_info(const DumpOptions&) noexcept { return false; }
inline void disable_dump_debug_info() noexcept {}
inline void flush_debug_info() noexcept {}
inline void step() noexcept {}
inline void enable_check_numerics(const CheckNumericsOptions& = {}) noexcept {}
inline void disable_check_numerics() noexcept {}
class DumpDebugInfo {
 public:
  explicit DumpDebugInfo(const DumpOptions&) noexcept {}
};

struct OpName {
  template <class Type>
  // NOLINTNEXTLINE(google-explicit-constructor): a string is what callers write
  constexpr OpName(const Type&) noexcept {}
  template <class Type, class Name>
  constexpr OpName(const Type&, const Name&) noexcept {}
};
struct FunctionName {
  template <class Name>
  // NOLINTNEXTLINE(google-explicit-constructor): a string is what callers write
  constexpr FunctionName(const Name&) noexcept {}
  template <class Name>
  constexpr FunctionName(const Name&, FunctionKind) noexcept {}
};

template <class T>
class Tensor {
 public:
  explicit Tensor(T value) noexcept(std::is_nothrow_move_constructible_v<T>) : value_(std::move(value)) {}
  // NOLINTNEXTLINE(google-explicit-constructor): used like the value it holds
  operator const T&() const noexcept { return value_; }
  [[nodiscard]] const T& value() const noexcept { return value_; }

 private:
  T value_;
};
template <class T>
Tensor<std::decay_t<T>> tensor(T&& value) {
  return Tensor<std::decay_t<T>>(std::forward<T>(value));
}

template <class Value, class... Inputs>
decltype(auto) op(const OpName&, Value&& value, const Inputs&...) {
  using Plain = std::remove_cvref_t<Value>;
  if constexpr (requires { Evaluate<Plain>::evaluate(value); })
    return Evaluate<Plain>::evaluate(value);
  else if constexpr (std::is_invocable_v<Value&> && !Viewable<Plain> && !requires { typename Plain::value_type; })
    return op(OpName(""), value());
  else if constexpr (std::is_lvalue_reference_v<Value>)
    return static_cast<Value&>(value);
  else
    return std::remove_cv_t<Value>(std::forward<Value>(value));
}

struct Nothing {
  [[nodiscard]] constexpr Nothing untraced() const noexcept { return {}; }
};
template <class... T>
constexpr Nothing outputs(T&&...) noexcept {
  return {};
}
template <class... T>
constexpr Nothing inputs(const T&...) noexcept {
  return {};
}
template <class T>
constexpr Nothing target(const T&) noexcept {
  return {};
}
template <class T>
void variable(const T&) noexcept {}
constexpr void record(const OpName&, Nothing, Nothing = {}) noexcept {}
class OpScope {
 public:
  OpScope(const OpName&, Nothing) noexcept {}
  void finish(Nothing) noexcept {}
};
inline void forget(const void*, std::size_t) noexcept {}

template <class Name, class T>
constexpr Nothing arg(const Name&, const T&) noexcept {
  return {};
}
class Function {
 public:
  template <class... Arguments>
    requires(std::is_same_v<Arguments, Nothing> && ...)
  explicit Function(const FunctionName&, const Arguments&...) noexcept {}
  template <class Value, class... Inputs>
  decltype(auto) op(const OpName& name, Value&& value, const Inputs&... inputs) {
    return nanlens::op(name, std::forward<Value>(value), inputs...);
  }
  template <class Value>
  decltype(auto) result(Value&& value) {
    return nanlens::op(OpName(""), std::forward<Value>(value));
  }
  template <class Name, class T>
  const T& capture(const Name&, const T& value) noexcept {
    return value;
  }
  void hand_over() noexcept {}
  template <class T>
  const T& save(const T& value) noexcept {
    return value;
  }
};
class Within {
 public:
  explicit Within(const Function&) noexcept {}
};

class GraphTensor {
 public:
  [[nodiscard]] GraphTensor output(std::int32_t) const noexcept { return {}; }
};
class GraphBuilder {
 public:
  template <class Name>
  explicit GraphBuilder(const Name&, const GraphBuilder* = nullptr) noexcept {}
  template <class Name, class Inputs = std::initializer_list<GraphTensor>>
  GraphTensor op(const OpName&, const Name&, const Inputs&, std::size_t = 1) noexcept {
    return {};
  }
  template <class Name>
  GraphTensor placeholder(const Name&) noexcept {
    return {};
  }
};
inline void trace(const GraphTensor&, const TensorView&) noexcept {}

}  // namespace nanlens::inline NANLENS_ABI
