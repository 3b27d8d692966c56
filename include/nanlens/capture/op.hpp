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
#include <nanlens/capture/content_sample.hpp>
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

/// Records an op that has run. Recording never throws; only check_numerics' verdict does, after it.
void record(const OpName& name, std::span<InputRef> inputs, std::span<OutputRef> outputs, std::uint64_t duration_ns);

/// Finds out what tensors are before an op runs that may write over them, or end them.
void identify_before(std::span<InputRef> inputs) noexcept;

/// Looks at those that nothing recorded, while they can be: `counts` has a place for each.
void look_before(std::span<InputRef> inputs, std::span<HealthCounts> counts) noexcept;

/// Makes a name last until the program ends.
void keep(OpName& name) noexcept;

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

template <class... Inputs>
std::array<InputRef, sizeof...(Inputs)> input_refs(const Inputs&... inputs) noexcept {
  return {input_ref(inputs)...};
}

/// The inputs of a callable, which may write over them or move them away: identified before it runs.
template <std::size_t N>
class InputsOfCallable {
 public:
  template <class... Inputs>
  explicit InputsOfCallable(const Inputs&... inputs) {
    if (active.load(std::memory_order_relaxed) == 0) return;
    refs_.emplace(input_refs(inputs...));
    identify_before(*refs_);
    for (std::size_t i = 0; i < N; ++i) before_[i] = ContentSample(key_of((*refs_)[i].view));
  }
  /// What they are after it: only what still holds the same is evidence.
  template <class... Inputs>
  std::span<InputRef> after(const Inputs&... inputs) {
    if (!refs_) refs_.emplace(input_refs(inputs...));  // recording began meanwhile
    const std::array<TensorView, N> now{view_of(inputs)...};
    for (std::size_t i = 0; i < N; ++i) {
      InputRef& ref = (*refs_)[i];
      ref.here = key_of(now[i]).same_bytes(key_of(ref.view)) && ContentSample(key_of(now[i])) == before_[i];
    }
    return *refs_;
  }

 private:
  std::optional<std::array<InputRef, N>> refs_;
  std::array<ContentSample, N> before_;
};

template <class Value>
void record_value(const OpName& name, Value& value, bool address_lasts, std::uint64_t duration_ns,
                  std::span<InputRef> in) {
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

template <class Value, std::size_t Inputs>
void record_value(const OpName& name, Value& value, bool address_lasts, std::uint64_t duration_ns,
                  std::array<InputRef, Inputs> in) {
  record_value(name, value, address_lasts, duration_ns, std::span<InputRef>(in));
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
    detail::InputsOfCallable<sizeof...(Inputs)> in(inputs...);
    detail::OpTimer timer;
    decltype(auto) result = value();
    static_assert(!std::is_void_v<decltype(result)>,
                  "nanlens: the callable returns nothing; use nanlens::record for in-place ops");
    if constexpr (std::is_lvalue_reference_v<decltype(result)>) {
      if (timer.on()) detail::record_value(name, result, true, timer.stop(), in.after(inputs...));
      return result;
    } else {
      auto plain = detail::evaluated(std::move(result));
      if (timer.on()) detail::record_value(name, plain, false, timer.stop(), in.after(inputs...));
      return plain;
    }
  } else if constexpr (detail::LazyExpression<std::remove_cvref_t<Value>>) {
    detail::OpTimer timer;
    auto plain = detail::evaluated(value);
    if (timer.on()) detail::record_value(name, plain, false, timer.stop(), detail::input_refs(inputs...));
    return plain;
  } else if constexpr (std::is_lvalue_reference_v<Value>) {
    if (detail::active.load(std::memory_order_relaxed) != 0)
      detail::record_value(name, value, true, 0, detail::input_refs(inputs...));
    return static_cast<Value&>(value);
  } else {
    if (detail::active.load(std::memory_order_relaxed) != 0)
      detail::record_value(name, value, false, 0, detail::input_refs(inputs...));
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
  return detail::input_refs(tensors...);
}

/// Records an op that wrote its outputs in place or through parameters: `record("Axpy", outputs(y), inputs(a, x, y))`.
template <std::size_t Outputs, std::size_t Inputs>
void record(const OpName& name, std::array<detail::OutputRef, Outputs> outs, std::array<detail::InputRef, Inputs> ins) {
  if (detail::active.load(std::memory_order_relaxed) != 0) detail::record(name, ins, outs, 0);
}

/// An op as a scope, for in-place code: inputs are looked up when it begins, before they are written over, and need not
/// last longer; its time is recorded.
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
    detail::keep(name_);
    inputs_.assign(ins.begin(), ins.end());
    counts_.resize(Inputs);
    detail::identify_before(inputs_);
    detail::look_before(inputs_, counts_);
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
  std::vector<HealthCounts> counts_;
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
