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

#include <nanlens/capture/check_numerics.hpp>
#include <nanlens/capture/client.hpp>
#include <nanlens/capture/content_sample.hpp>
#include <nanlens/capture/fp_flags.hpp>
#include <nanlens/capture/op_name.hpp>
#include <nanlens/capture/platform.hpp>
#include <nanlens/capture/tensor_handle.hpp>
#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI {

namespace detail {

template <class T>
inline constexpr bool is_tuple = false;
template <class... T>
inline constexpr bool is_tuple<std::tuple<T...>> = true;
template <class A, class B>
inline constexpr bool is_tuple<std::pair<A, B>> = true;

// Arrays and expressions of some libraries can be called, too: x() is their first element.
template <class T>
concept Callable = std::invocable<T&> && !Viewable<std::remove_cvref_t<T>> && !LazyExpression<std::remove_cvref_t<T>> &&
                   !requires { typename std::remove_cvref_t<T>::value_type; };

template <class T>
concept GivesNothing = Callable<T> && std::is_void_v<std::invoke_result_t<T&>>;

// A value with what it evaluates to: expressions are evaluated, anything else is passed on.
template <class T>
decltype(auto) evaluated(T&& value) {
  if constexpr (LazyExpression<std::remove_cvref_t<T>>)
    return Evaluate<std::remove_cvref_t<T>>::evaluate(value);
  else
    return static_cast<std::conditional_t<std::is_lvalue_reference_v<T>, T, std::remove_reference_t<T>>>(
        std::forward<T>(value));
}

inline OpRef ref(const OpName& name) noexcept { return {name.type(), name.name(), name.where()}; }

/// Records an op that has run. Recording never throws; only check_numerics' verdict does, after it.
inline void record(const OpRef& op, std::span<InputRef> inputs, std::span<OutputRef> outputs,
                   const Measured& measured) {
  if (active_bits() == 0) return;
  const NumericsRef* const found =
      recorder().record(op, inputs.data(), inputs.size(), outputs.data(), outputs.size(), measured);
  if (found != nullptr) [[unlikely]]
    deliver(*found);
}

/// Measures an op that runs inside the recording call: its time, and what floating-point exceptions it raises.
class OpTimer {
 public:
  OpTimer() noexcept : on_(takes_op()) {
    if (!on_) return;
    if ((active_bits() & fp_flags_bit) != 0) flags_.begin();
    start_ns_ = steady_now_ns();
  }
  [[nodiscard]] bool on() const noexcept { return on_; }
  /// What was seen since the beginning.
  Measured stop() noexcept {
    Measured measured{steady_now_ns() - start_ns_, 0};
    if (flags_.begun()) measured.fp_flags = flags_.end();
    return measured;
  }

 private:
  bool on_;
  std::uint64_t start_ns_ = 0;
  FpFlags flags_;
};

/// A range of tensors: as many inputs or outputs as it holds. Not a range of numbers, which is an array whose library's
/// header is missing.
template <class T>
concept TensorList = !Viewable<T> && !LazyExpression<T> && requires(const T& list) {
  list.begin() != list.end();
  { list.size() } -> std::convertible_to<std::size_t>;
  requires Viewable<std::remove_cvref_t<decltype(*list.begin())>>;
  requires !KnownElement<std::remove_cvref_t<decltype(*list.begin())>>;
};

// One reference, or one for each element of a list.
template <class T, class Visit>
void each_input(const T& input, Visit&& visit) {
  if constexpr (TensorList<T>)
    for (const auto& tensor : input) visit(tensor);
  else
    visit(input);
}

/// What op's inputs are: an array, or where lists are among them a vector.
template <class... Inputs>
auto input_refs(const Inputs&... inputs) {
  if constexpr ((TensorList<Inputs> || ...)) {
    std::vector<InputRef> refs;
    (each_input(inputs, [&](const auto& tensor) { refs.push_back(input_ref(tensor)); }), ...);
    return refs;
  } else {
    return std::array<InputRef, sizeof...(Inputs)>{input_ref(inputs)...};
  }
}

/// The inputs of a callable, which may write over them or move them away: identified before it runs.
template <class... Inputs>
class InputsOfCallable {
 public:
  explicit InputsOfCallable(const Inputs&... inputs) {
    if (!is_active()) return;
    refs_.emplace(input_refs(inputs...));
    if (active_bits() != 0) recorder().identify(refs_->data(), refs_->size());
    if constexpr (has_lists) before_.resize(refs_->size());
    for (std::size_t i = 0; i < refs_->size(); ++i) {
      before_[i] = ContentSample(key_of((*refs_)[i].view));
      (*refs_)[i].before = &before_[i];
    }
  }
  /// What they are after it: only what still holds the same is evidence.
  std::span<InputRef> after(const Inputs&... inputs) {
    if (!refs_) refs_.emplace(input_refs(inputs...));  // recording began meanwhile
    std::size_t i = 0;
    (each_input(inputs, [&](const auto& tensor) { look_again(i++, key_of(view_of(tensor))); }), ...);
    for (; i < refs_->size(); ++i) (*refs_)[i].here = false;  // a list has become shorter
    return *refs_;
  }

 private:
  void look_again(std::size_t i, const TensorKey& now) noexcept {
    if (i >= refs_->size()) return;
    InputRef& ref = (*refs_)[i];
    ref.here = i < before_.size() && now.same_bytes(key_of(ref.view)) && ContentSample(now) == before_[i];
  }

  static constexpr bool has_lists = (TensorList<Inputs> || ...);
  template <class T>
  using Each = std::conditional_t<has_lists, std::vector<T>, std::array<T, sizeof...(Inputs)>>;
  std::optional<Each<InputRef>> refs_;
  Each<ContentSample> before_;
};

template <class Value>
auto output_refs(Value& value, bool address_lasts) {
  using Plain = std::remove_cv_t<Value>;
  if constexpr (is_tuple<Plain>) {
    return std::apply(
        [&](auto&... parts) { return std::array<OutputRef, sizeof...(parts)>{output_ref(parts, address_lasts)...}; },
        value);
  } else if constexpr (TensorList<Plain>) {
    std::vector<OutputRef> refs;
    for (auto& tensor : value) refs.push_back(output_ref(tensor, true));
    return refs;
  } else {
    return std::array<OutputRef, 1>{output_ref(value, address_lasts)};
  }
}

inline std::span<OutputRef> in_place(std::span<OutputRef> outputs) noexcept {
  for (OutputRef& output : outputs) output.in_place = true;
  return outputs;
}

template <class Value, class Inputs>
void record_value(const OpName& name, Value& value, bool address_lasts, const Measured& measured, Inputs&& in) {
  auto out = output_refs(value, address_lasts);
  record(ref(name), in, out, measured);
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
  if constexpr (detail::GivesNothing<Value>) {
    static_assert(
        !detail::GivesNothing<Value>,
        "nanlens: the callable returns nothing; use nanlens::OpScope, or nanlens::record, for what is done in "
        "place");
  } else if constexpr (detail::Callable<Value>) {
    detail::InputsOfCallable<Inputs...> in(inputs...);
    detail::OpTimer timer;
    decltype(auto) result = value();
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
    if (detail::takes_op()) detail::record_value(name, value, true, {}, detail::input_refs(inputs...));
    return static_cast<Value&>(value);
  } else if constexpr (std::is_const_v<Value>) {  // can't be moved: Eigen's eval() gives such a value
    std::remove_cv_t<Value> plain(value);
    if (detail::takes_op()) detail::record_value(name, plain, false, {}, detail::input_refs(inputs...));
    return plain;
  } else {
    if (detail::takes_op()) detail::record_value(name, value, false, {}, detail::input_refs(inputs...));
    return Value(std::forward<Value>(value));
  }
}

/// The outputs of a `record` call: tensors that an op has written in place. Lists of tensors count as what they hold:
/// `outputs(views)` with a std::vector<TensorView> is what a hook writes that learns their number at run time.
template <class... T>
auto outputs(T&&... tensors) {
  if constexpr ((detail::TensorList<std::remove_cvref_t<T>> || ...)) {
    std::vector<detail::OutputRef> refs;
    const auto add = [&](auto& tensor) {
      auto some = detail::output_refs(tensor, true);
      refs.insert(refs.end(), some.begin(), some.end());
    };
    (add(tensors), ...);
    return refs;
  } else {
    return std::array<detail::OutputRef, sizeof...(T)>{detail::output_ref(tensors, true)...};
  }
}

/// The inputs of a `record` call or an OpScope; lists count as what they hold.
template <class... T>
auto inputs(const T&... tensors) {
  return detail::input_refs(tensors...);
}

namespace detail {

template <class T>
concept InputRefs = std::convertible_to<T&, std::span<InputRef>>;
template <class T>
concept OutputRefs = std::convertible_to<T&, std::span<OutputRef>>;
// What `record` takes behind the name.
template <class... T>
inline constexpr bool are_recordable = false;
template <class T>
inline constexpr bool are_recordable<T> = InputRefs<T> || OutputRefs<T>;
template <class A, class B>
inline constexpr bool are_recordable<A, B> = OutputRefs<A> && InputRefs<B>;

}  // namespace detail

/// Records an op that wrote its outputs in place or through parameters: `record("Axpy", outputs(y), inputs(a, x, y))`.
/// One without inputs is `record("Load", outputs(x))`.
template <detail::OutputRefs Outputs, detail::InputRefs Inputs = std::array<detail::InputRef, 0>>
void record(const OpName& name, Outputs outs, Inputs ins = {}) {
  if (detail::takes_op()) detail::record(detail::ref(name), ins, detail::in_place(outs), {});
}
/// The same of an op whose outputs are the variables that it writes: `record("Sgd", inputs(target(w), g))`.
template <detail::InputRefs Inputs>
void record(const OpName& name, Inputs ins) {
  record(name, std::array<detail::OutputRef, 0>{}, std::move(ins));
}
/// Anything else is refused, with one explanation.
template <class... T>
  requires(!detail::are_recordable<T...>)
void record(const OpName&, const T&...) {
  static_assert(detail::are_recordable<T...>,
                "nanlens: record(name, outputs(y, ...), inputs(x, ...)): tensors are named inside outputs() and "
                "inputs(), in this order");
}

namespace detail {

/// An op that has begun: what it is given is identified, and looked at, before it may be written over.
class BegunOp {
 public:
  BegunOp(const OpRef& op, std::span<const InputRef> inputs) : op_(op) {
    if (!takes_op() || active_bits() == 0) return;
    const RecorderTable& table = recorder();
    op_ = table.keep(op_);
    inputs_.assign(inputs.begin(), inputs.end());
    seen_.resize(inputs_.size());
    before_.reserve(inputs_.size());
    for (InputRef& input : inputs_) input.before = &before_.emplace_back(input.key);
    table.identify(inputs_.data(), inputs_.size());
    table.look(inputs_.data(), inputs_.size(), seen_.data());
    timer_.emplace();
  }
  BegunOp(const BegunOp&) = delete;
  BegunOp& operator=(const BegunOp&) = delete;
  ~BegunOp() = default;

  /// Records it, once. What check_numerics has to say, for the caller to release; null: nothing.
  const NumericsRef* finish(std::span<OutputRef> outputs) {
    if (!timer_) return nullptr;
    const Measured measured = timer_->stop();
    timer_.reset();
    if (active_bits() == 0) return nullptr;
    in_place(outputs);
    return recorder().record(op_, inputs_.data(), inputs_.size(), outputs.data(), outputs.size(), measured);
  }

 private:
  OpRef op_;
  std::vector<InputRef> inputs_;
  std::vector<InputSeen> seen_;
  std::vector<ContentSample> before_;
  std::optional<OpTimer> timer_;
};

}  // namespace detail

/// An op as a scope, for in-place code: inputs are looked up, and looked at, when it begins, before they are written
/// over, and need not last longer; its time is recorded. Of those that are known as recorded, all of what has up to
/// 64 KiB is looked at, and a few words of what is larger.
///
///     nanlens::OpScope op("Sgd", nanlens::inputs(w, g));
///     w -= rate * g;
///     op.finish(nanlens::outputs(w));
///
/// A scope that is left without `finish`, by an exception say, records nothing.
class OpScope {
 public:
  template <detail::InputRefs Inputs>
  OpScope(const OpName& name, Inputs ins) : op_(detail::ref(name), std::span<detail::InputRef>(ins)) {}

  /// Anything else is refused, with one explanation.
  template <class... T>
    requires(sizeof...(T) != 1 || !(detail::InputRefs<T> || ...))
  explicit OpScope(const OpName& name, const T&...) : op_(detail::ref(name), {}) {
    static_assert(sizeof...(T) == 1 && (detail::InputRefs<T> || ...),
                  "nanlens: OpScope op(name, inputs(x, ...)): tensors are named inside inputs()");
  }

  /// Records the op, with what it has written.
  template <detail::OutputRefs Outputs>
  void finish(Outputs outs) {
    if (const detail::NumericsRef* const found = op_.finish(outs); found != nullptr) [[unlikely]]
      detail::deliver(*found);
  }
  /// Anything else is refused, with one explanation.
  template <class T>
    requires(!detail::OutputRefs<T>)
  void finish(const T&) {
    static_assert(detail::OutputRefs<T>, "nanlens: finish(outputs(y, ...)): tensors are named inside outputs()");
  }

 private:
  detail::BegunOp op_;
};

/// Declares a tensor's memory a variable: what reads it is linked with what last wrote it, whatever else happened to
/// the memory's links in between. Once per variable, and again if it has moved; `forget` ends it.
template <class T>
void variable(const T& x) {
  if (detail::active_bits() != 0) detail::recorder().declare_variable(detail::key_of(detail::viewed(x)));
}

/// Tells that the memory no longer holds a recorded tensor: what is read from it next is not linked to what was
/// recorded there.
inline void forget(const void* data, std::size_t bytes) {
  if (detail::active_bits() == 0) return;
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  detail::recorder().forget(begin, begin + bytes);
}

}  // namespace nanlens::inline NANLENS_ABI
