/// @file
/// The graph of a C++ function: built from the ops that run in its scope, the counterpart of tf.function.
#pragma once

#include <array>
#include <cstdint>
#include <exception>
#include <string_view>
#include <type_traits>
#include <utility>

#include <nanlens/capture/op.hpp>
#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI {

/// A named argument of a function.
template <class T>
struct Argument {
  std::string_view name;
  const T& value;
  bool traced = true;

  /// The same argument without a row of its own: for a tensor whose health is on record already.
  [[nodiscard]] Argument untraced() const noexcept { return {name, value, false}; }
};

namespace detail {

template <class T>
inline constexpr bool is_argument = false;
template <class T>
inline constexpr bool is_argument<Argument<T>> = true;

}  // namespace detail

/// Names an argument: `Function f("loss", arg("probs", probs), arg("labels", labels))`.
template <class T>
Argument<T> arg(std::string_view name, const T& value) noexcept {
  return {name, value, true};
}

namespace detail {

/// Its address tells threads apart.
NANLENS_HIDDEN inline constinit thread_local char thread_mark = 0;

/// A call that this thread's ops belong to for a while; null: nothing changes.
class Adoption {
 public:
  explicit Adoption(void* call) noexcept : call_(call) {
    if (call_ != nullptr) before_ = recorder().adopt_function(call_);
  }
  Adoption(const Adoption&) = delete;
  Adoption& operator=(const Adoption&) = delete;
  ~Adoption() {
    if (call_ != nullptr) recorder().give_back_function(before_);
  }

 private:
  void* call_;
  void* before_ = nullptr;
};

}  // namespace detail

/// A scope whose ops form a graph. Its calls are one Execution each, with one GraphExecutionTrace per tensor; a graph
/// is made anew only when count, dtype or rank of the arguments change. Functions may nest. A scope left by an
/// exception keeps its rows and has no Execution.
///
/// Ops of the thread that made it belong to it, those of `f.op` on any thread, and those of a thread that is `Within`
/// it. A function that is to end on another thread, or that overlaps with others of its thread, is handed over. It ends
/// after all that records into it, and before a function around it.
class Function {
 public:
  template <class... T>
  explicit Function(const FunctionName& name, const Argument<T>&... arguments)
      : exceptions_(std::uncaught_exceptions()) {
    if (!detail::is_active() || detail::active_bits() == 0) return;
    const std::array<detail::InputRef, sizeof...(T)> inputs{detail::input_ref(arguments.value)...};
    const std::array<detail::TextRef, sizeof...(T)> names{detail::TextRef(arguments.name)...};
    const std::array<bool, sizeof...(T)> traced{arguments.traced...};
    call_ = detail::recorder().enter_function({name.name, static_cast<std::int32_t>(name.kind), name.where,
                                               inputs.data(), names.data(), traced.data(), sizeof...(T)});
  }
  /// Anything else is refused, with one explanation.
  template <class... T>
    requires(!(detail::is_argument<T> && ...))
  explicit Function(const FunctionName&, const T&...) : exceptions_(0) {
    static_assert((detail::is_argument<T> && ...),
                  "nanlens: Function f(name, arg(\"x\", x), ...): arguments have names, by arg()");
  }
  Function(const Function&) = delete;
  Function& operator=(const Function&) = delete;

  ~Function() {
    if (call_ != nullptr) detail::recorder().leave_function(call_, std::uncaught_exceptions() > exceptions_);
  }

  /// An op of this function; the same as `nanlens::op` inside its scope.
  template <class Value, class... Inputs>
  decltype(auto) op(const OpName& name, Value&& value, const Inputs&... inputs) {
    const detail::Adoption here(owner_ == &detail::thread_mark ? nullptr : call_);
    return nanlens::op(name, std::forward<Value>(value), inputs...);
  }

  /// Ops of this thread don't belong to the function any more; any thread may end it.
  void hand_over() noexcept {
    if (call_ != nullptr) detail::recorder().hand_over_function(call_);
    owner_ = nullptr;
  }

  /// Takes a tensor from outside in, where it is first used: a placeholder and a further input of the call, like an
  /// argument.
  template <class T>
  const T& capture(std::string_view name, const T& value) {
    if (call_ != nullptr) detail::recorder().capture_argument(call_, name, detail::input_ref(value));
    return value;
  }

  /// Marks the function's result, or one more of several, and returns it as it is: `return f.result(y);`
  template <class Value>
  decltype(auto) result(Value&& value) {
    if constexpr (detail::LazyExpression<std::remove_cvref_t<Value>>) {
      auto plain = detail::evaluated(value);
      add_result(plain, false);
      return plain;
    } else if constexpr (std::is_lvalue_reference_v<Value>) {
      add_result(value, true);
      return static_cast<Value&>(value);
    } else {
      add_result(value, false);
      return std::remove_cv_t<Value>(std::forward<Value>(value));
    }
  }

  /// Keeps a tensor for the backward function: a further output of the call.
  template <class T>
  const T& save(const T& value) {
    add_result(const_cast<T&>(value), true);
    return value;
  }

 private:
  template <class T>
  void add_result(T& value, bool address_lasts) {
    if (call_ != nullptr)
      detail::recorder().add_result(call_, detail::output_ref(value, address_lasts), detail::input_ref(value));
  }

  friend class Within;

  int exceptions_;
  const void* owner_ = &detail::thread_mark;
  void* call_ = nullptr;  // the recorder's
};

/// Ops of this thread belong to the function while the object lives: for parts of a call that run on pool threads.
class Within {
 public:
  explicit Within(const Function& function) noexcept : adoption_(function.call_) {}

 private:
  detail::Adoption adoption_;
};

}  // namespace nanlens::inline NANLENS_ABI
