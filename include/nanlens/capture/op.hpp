/// @file
/// One line per op: what a host writes to have an op recorded.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <nanlens/capture/active.hpp>
#include <nanlens/capture/fp_flags.hpp>
#include <nanlens/capture/op_name.hpp>
#include <nanlens/capture/tensor_handle.hpp>

namespace nanlens {

namespace detail {

template <class T>
inline constexpr bool is_tuple = false;
template <class... T>
inline constexpr bool is_tuple<std::tuple<T...>> = true;
template <class A, class B>
inline constexpr bool is_tuple<std::pair<A, B>> = true;

template <class T>
concept Callable = std::invocable<T&> && !Viewable<std::remove_cvref_t<T>> && !LazyExpression<std::remove_cvref_t<T>>;

// A value with what it evaluates to: expressions are evaluated, anything else is passed on.
template <class T>
decltype(auto) evaluated(T&& value) {
  if constexpr (LazyExpression<std::remove_cvref_t<T>>)
    return Evaluate<std::remove_cvref_t<T>>::evaluate(value);
  else
    return static_cast<std::conditional_t<std::is_lvalue_reference_v<T>, T, std::remove_reference_t<T>>>(
        std::forward<T>(value));
}

/// What the tensor is known as; unknown if nothing on record made it, or if it was written over.
TensorLink link_of(const InputRef& input);

/// Records an op that has run. Recording never throws; only check_numerics' verdict does, after it.
void record(const OpName& name, std::span<const InputRef> inputs, std::span<OutputRef> outputs,
            std::uint64_t duration_ns);

void declare_variable(const TensorKey& key);
void forget_memory(std::uintptr_t begin, std::uintptr_t end);

/// Measures an op that runs inside the recording call: its time, and what floating-point exceptions it raises.
class OpTimer {
 public:
  OpTimer() noexcept : on_(active.load(std::memory_order_relaxed) != 0) {
    if (on_) start();
  }
  [[nodiscard]] bool on() const noexcept { return on_; }
  /// Nanoseconds since the beginning. The exceptions raised since then are left for the event that is recorded next.
  std::uint64_t stop() noexcept;

 private:
  void start() noexcept;
  bool on_;
  std::uint64_t start_ns_ = 0;
  FpFlags flags_;
};

template <class Value, class... Inputs>
void record_value(const OpName& name, Value& value, bool address_lasts, std::uint64_t duration_ns,
                  const Inputs&... inputs) {
  std::array<InputRef, sizeof...(Inputs)> in{input_ref(inputs)...};
  if constexpr (is_tuple<std::remove_cv_t<Value>>) {
    std::apply(
        [&](auto&... parts) {
          std::array<OutputRef, sizeof...(parts)> out{output_ref(parts, address_lasts)...};
          record(name, in, out, duration_ns);
        },
        value);
  } else {
    std::array<OutputRef, 1> out{output_ref(value, address_lasts)};
    record(name, in, out, duration_ns);
  }
}

}  // namespace detail

/// Records an op and returns its value as it is.
///
///     Matrix y = nanlens::op("MatMul", x * w, x, w);
///
/// `value` is the result (already computed), a callable without arguments or a lazy expression (computed here, so that
/// the time it takes is recorded too), or a std::tuple / std::pair for several outputs. `inputs` are the tensors it was
/// made from. Inside a `Function` the op becomes part of the function's graph. Costs one load and a branch while
/// recording is off. Throws NumericsError only, and only with check_numerics on.
template <class Value, class... Inputs>
decltype(auto) op(const OpName& name, Value&& value, const Inputs&... inputs) {
  if constexpr (detail::Callable<Value>) {
    detail::OpTimer timer;
    decltype(auto) result = value();
    static_assert(!std::is_void_v<decltype(result)>,
                  "nanlens: the callable returns nothing; use nanlens::record for in-place ops");
    if constexpr (std::is_lvalue_reference_v<decltype(result)>) {
      if (timer.on()) detail::record_value(name, result, true, timer.stop(), inputs...);
      return result;
    } else {
      auto plain = detail::evaluated(std::move(result));
      if (timer.on()) detail::record_value(name, plain, false, timer.stop(), inputs...);
      return plain;
    }
  } else if constexpr (detail::LazyExpression<std::remove_cvref_t<Value>>) {
    detail::OpTimer timer;
    auto plain = detail::evaluated(value);
    if (timer.on()) detail::record_value(name, plain, false, timer.stop(), inputs...);
    return plain;
  } else if constexpr (std::is_lvalue_reference_v<Value>) {
    if (detail::active.load(std::memory_order_relaxed) != 0) detail::record_value(name, value, true, 0, inputs...);
    return static_cast<Value&>(value);
  } else {
    if (detail::active.load(std::memory_order_relaxed) != 0) detail::record_value(name, value, false, 0, inputs...);
    return std::remove_cv_t<Value>(std::forward<Value>(value));
  }
}

/// The outputs of a `record` call: tensors that an op has written in place.
template <class... T>
auto outputs(T&... tensors) {
  return std::array<detail::OutputRef, sizeof...(T)>{detail::output_ref(tensors, true)...};
}

/// The inputs of a `record` call or an OpScope.
template <class... T>
auto inputs(const T&... tensors) {
  return std::array<detail::InputRef, sizeof...(T)>{detail::input_ref(tensors)...};
}

/// Records an op that wrote its outputs in place or through parameters: `record("Axpy", outputs(y), inputs(a, x, y))`.
template <std::size_t Outputs, std::size_t Inputs>
void record(const OpName& name, std::array<detail::OutputRef, Outputs> outs,
            const std::array<detail::InputRef, Inputs>& ins) {
  if (detail::active.load(std::memory_order_relaxed) != 0) detail::record(name, ins, outs, 0);
}

/// An op as a scope, for in-place code: inputs are looked up when it begins, before they are written over; its time is
/// recorded.
///
///     nanlens::OpScope op("Sgd", nanlens::inputs(w, g));
///     w -= rate * g;
///     op.finish(nanlens::outputs(w));
///
/// A scope that is left without `finish`, by an exception say, records nothing.
class OpScope {
 public:
  template <std::size_t Inputs>
  OpScope(const OpName& name, std::array<detail::InputRef, Inputs> ins) : name_(name) {
    if (detail::active_bits() == 0) return;
    for (detail::InputRef& input : ins) {
      input.link = detail::link_of(input);
      inputs_.push_back(input);
    }
    timer_.emplace();
  }
  OpScope(const OpScope&) = delete;
  OpScope& operator=(const OpScope&) = delete;
  ~OpScope() = default;

  /// Records the op, with what it has written.
  template <std::size_t Outputs>
  void finish(std::array<detail::OutputRef, Outputs> outs) {
    if (timer_) detail::record(name_, inputs_, outs, timer_->stop());
    timer_.reset();
  }

 private:
  OpName name_;
  std::vector<detail::InputRef> inputs_;
  std::optional<detail::OpTimer> timer_;
};

/// Declares a tensor's memory a variable: what reads it is linked with what last wrote it, whatever else happened to
/// the memory's links in between. Once per variable, and again if it has moved; `forget` ends it.
template <class T>
void variable(const T& x) {
  if (detail::active_bits() != 0) detail::declare_variable(detail::key_of(view_of(x)));
}

/// Tells that the memory no longer holds a recorded tensor: what is read from it next is not linked to what was
/// recorded there.
inline void forget(const void* data, std::size_t bytes) {
  if (detail::active.load(std::memory_order_relaxed) == 0) return;
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  detail::forget_memory(begin, begin + bytes);
}

}  // namespace nanlens
