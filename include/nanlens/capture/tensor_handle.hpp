/// @file
/// A handle for values that have no address of their own: scalars and small types that are passed by value.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include <nanlens/capture/tensor_link.hpp>
#include <nanlens/config.hpp>
#include <nanlens/summary/health_counts.hpp>
#include <nanlens/tensor/view_of.hpp>

namespace nanlens::inline NANLENS_ABI {

/// A value that remembers which op made it. It converts to the value, so that it is used like one:
///
///     const auto mean = nanlens::op("Mean", nanlens::tensor(diff.mean()), diff);
///     const auto loss = nanlens::op("Neg", -mean, mean);   // linked to "Mean"
template <class T>
class Tensor {
 public:
  explicit Tensor(T value) noexcept(std::is_nothrow_move_constructible_v<T>) : value_(std::move(value)) {}
  // NOLINTNEXTLINE(google-explicit-constructor): used like the value it holds
  operator const T&() const noexcept { return value_; }
  [[nodiscard]] const T& value() const noexcept { return value_; }

  /// What made the value; set by the op that records it.
  detail::TensorLink link;

 private:
  T value_;
};

/// Wraps a value so that it is linked from op to op.
template <class T>
Tensor<std::decay_t<T>> tensor(T&& value) {
  return Tensor<std::decay_t<T>>(std::forward<T>(value));
}

template <class T>
  requires Viewable<T>
struct ViewOf<Tensor<T>> {
  static TensorView view(const Tensor<T>& x) noexcept { return view_of(x.value()); }
};

namespace detail {

class ContentMark;
class ContentSample;

template <class T>
concept LazyExpression = requires(const T& x) { Evaluate<T>::evaluate(x); };

template <class T>
inline constexpr bool is_handle = false;
template <class T>
inline constexpr bool is_handle<Tensor<T>> = true;

/// What an input held when the op began.
struct InputSeen {
  HealthCounts counts;
  TensorLink part{};  ///< what made its first bad element, where no op on record made the whole
};

/// An input of an op as it was passed.
struct InputRef {
  TensorView view;
  TensorKey key;         // empty for values that can't be found by address
  TensorLink link;       // known already: from a handle
  bool written = false;  // a variable that the op updates in place

  // Found out by `identify`:
  bool identified = false;
  bool here = true;          // the memory still holds what the op got
  bool overwritten = false;  // the op has written there
  bool unseen = false;       // before anybody looked at all of it: it may have been changed since it was recorded
  logdir::TensorOrigin origin = logdir::TensorOrigin::not_recorded;
  std::int64_t was = -1;                  // of a changed one: the eager id that its memory had
  const InputSeen* seen = nullptr;        // if that was looked at when the op began
  const ContentSample* before = nullptr;  // of memory that may be gone: words of what it held then
};

/// An output of an op. `key` is empty where the address will not last.
struct OutputRef {
  TensorView view;
  TensorKey key;
  TensorLink* handle = nullptr;       // where to leave the link
  bool may_be_copied = false;         // the program may go on with a copy of it
  bool in_place = false;              // the op may have read what was there before
  bool of_program = false;            // a value of the program's: it may have held that, or be new in freed memory
  const ContentMark* mark = nullptr;  // taken before, where the memory may be gone
};

template <class T>
bool holds_own_elements(const T& x, const TensorView& view) noexcept {
  const auto data = reinterpret_cast<std::uintptr_t>(view.data);
  const auto object = reinterpret_cast<std::uintptr_t>(&x);
  return data >= object && data < object + sizeof(T);
}

// What a range holds, by the names that ranges, mdspan and Armadillo give it.
template <class T>
struct ElementsOf : Nested<std::remove_cv_t<T>> {};
template <class T>
  requires requires { typename T::value_type; }
struct ElementsOf<T> : Nested<std::remove_cv_t<typename T::value_type>> {};
template <class T>
  requires(!requires { typename T::value_type; }) && requires { typename T::elem_type; }
struct ElementsOf<T> : Nested<std::remove_cv_t<typename T::elem_type>> {};

// Arithmetic elements without a dtype: long double, and __float128.
template <class T>
concept UnknownElements =
    std::is_arithmetic_v<typename ElementsOf<T>::element> && !KnownElement<typename ElementsOf<T>::element>;

// Refuses what is no tensor, in one message.
template <class T>
constexpr void require_viewable() noexcept {
  static_assert(
      Viewable<T> || !UnknownElements<T>,
      "nanlens: a logdir has no element type for the elements of this tensor (long double, say): pass them converted, "
      "to double, or specialise nanlens::DTypeOf if they have the layout of a type that it has.");
  static_assert(
      Viewable<T> || UnknownElements<T> || !LazyExpression<T>,
      "nanlens: an expression has no elements in memory: give it as the op's value, or pass what it evaluates "
      "to.");
  static_assert(
      Viewable<T> || UnknownElements<T> || LazyExpression<T>,
      "nanlens: this is not a tensor that nanlens knows. Include the host's header (nanlens/hosts/eigen.hpp, "
      "xtensor.hpp, armadillo.hpp, ...), pass nanlens::tensor_view(pointer, shape), or specialise nanlens::ViewOf for "
      "the type.");
}

// The view of what is a tensor; anything else has been refused.
template <class T>
constexpr TensorView viewed(const T& x) noexcept {
  require_viewable<T>();
  if constexpr (Viewable<T>)
    return view_of(x);
  else
    return {};
}

template <class T>
InputRef input_ref(const T& x) noexcept {
  InputRef ref{viewed(x), {}, {}};
  if constexpr (is_handle<T>)
    ref.link = x.link;
  else if constexpr (!std::is_integral_v<T>) {  // those are neither bad nor told apart
    ref.key = key_of(ref.view);
    ref.key.copied = holds_own_elements(x, ref.view);
  }
  return ref;
}

template <class T>
OutputRef output_ref(T& x, bool address_lasts) noexcept {
  using Value = std::remove_cv_t<T>;
  OutputRef ref{viewed<Value>(x), {}};
  ref.of_program = true;
  if constexpr (is_handle<Value>) {
    if constexpr (!std::is_const_v<T>) ref.handle = &x.link;
  } else if constexpr (std::is_floating_point_v<Value>) {
    if (address_lasts) ref.key = key_of(ref.view);
    ref.key.copied = true;
  } else if constexpr (!std::is_integral_v<Value>) {
    const bool inside = holds_own_elements(x, ref.view);
    if (address_lasts || !inside) ref.key = key_of(ref.view);
    // What has its elements elsewhere hands them on when it is moved.
    constexpr bool owns =
        !std::is_const_v<T> && !std::is_trivially_copyable_v<Value> && !std::is_same_v<Value, TensorView>;
    ref.may_be_copied = inside || (owns && address_lasts);
  }
  return ref;
}

/// An input that the op writes in place.
template <class T>
struct Target {
  const T& value;
};

template <class T>
InputRef input_ref(const Target<T>& target) noexcept {
  InputRef ref = input_ref(target.value);
  ref.written = true;
  return ref;
}

}  // namespace detail

/// Marks an input of a `record` call or an OpScope as a variable that the op updates in place, without an output of its
/// own: `record("ResourceApplyAdam", outputs(), inputs(target(w), gradient))`. If it is not declared a variable yet, it
/// is from then on.
template <class T>
detail::Target<T> target(const T& variable) noexcept {
  return {variable};
}

}  // namespace nanlens::inline NANLENS_ABI
