/// @file
/// The extents or strides of a tensor, up to a fixed rank, with no allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>

#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI {

/// The largest rank a TensorView can describe (TensorFlow's own limit is 254; its kernels stop at 8).
inline constexpr std::size_t max_rank = 16;

/// A number of a Shape, made of any integer type.
struct Extent {
  template <class Integer>
    requires std::is_integral_v<Integer>
  // NOLINTNEXTLINE(google-explicit-constructor): a number is what callers write
  constexpr Extent(Integer number) noexcept : value(static_cast<std::int64_t>(number)) {}
  std::int64_t value;
};

/// A short list of 64-bit numbers: the extents, or the strides, of a tensor.
class Shape {
 public:
  constexpr Shape() noexcept { clear_in_constants(); }
  constexpr Shape(std::initializer_list<Extent> dims) noexcept {
    clear_in_constants();
    for (const Extent dim : dims) push_back(dim.value);
  }
  /// From a range of numbers.
  template <class Dims>
    requires requires(const Dims& dims) { dims.begin() != dims.end(); }
  explicit constexpr Shape(const Dims& dims) noexcept {
    clear_in_constants();
    for (const auto dim : dims) push_back(static_cast<std::int64_t>(dim));
  }

  [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
  [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }
  constexpr Shape(const Shape& other) noexcept {
    clear_in_constants();
    assign(other);
  }
  constexpr Shape& operator=(const Shape& other) noexcept {
    if (this != &other) assign(other);
    return *this;
  }

  constexpr std::int64_t& operator[](std::size_t i) noexcept { return dims_[i]; }
  constexpr std::int64_t operator[](std::size_t i) const noexcept { return dims_[i]; }
  [[nodiscard]] constexpr const std::int64_t* begin() const noexcept { return dims_; }
  [[nodiscard]] constexpr const std::int64_t* end() const noexcept { return dims_ + size_; }

  /// Appends a number; beyond `max_rank` it is left out and `overflowed()` becomes true.
  constexpr void push_back(std::int64_t dim) noexcept {
    if (size_ == max_rank) {
      overflowed_ = true;
      return;
    }
    dims_[size_++] = dim;
  }
  /// True if more than `max_rank` numbers were given: such a tensor can't be described.
  [[nodiscard]] constexpr bool overflowed() const noexcept { return overflowed_; }

  friend constexpr bool operator==(const Shape& a, const Shape& b) noexcept {
    if (a.size_ != b.size_) return false;
    for (std::size_t i = 0; i < a.size_; ++i)
      if (a.dims_[i] != b.dims_[i]) return false;
    return true;
  }

 private:
  constexpr void assign(const Shape& other) noexcept {
    for (std::size_t i = 0; i < other.size_; ++i) dims_[i] = other.dims_[i];
    size_ = other.size_;
    overflowed_ = other.overflowed_;
  }

  // Beyond size_ nothing is ever read, and clearing it would cost every view more than filling it; but a constant has
  // no unknown parts.
  constexpr void clear_in_constants() noexcept {
    if (std::is_constant_evaluated())
      for (std::int64_t& dim : dims_) dim = 0;
  }

  std::int64_t dims_[max_rank];
  std::size_t size_ = 0;
  bool overflowed_ = false;
};

/// Number of elements: the product of the extents (1 for a scalar); −1 if an extent is negative or the product
/// overflows.
constexpr std::int64_t num_elements(const Shape& shape) noexcept {
  std::int64_t n = 1;
  for (const std::int64_t dim : shape) {
    if (dim < 0) return -1;
    if (__builtin_mul_overflow(n, dim, &n)) return -1;
  }
  return n;
}

/// Strides, in elements, of a dense tensor whose last dimension varies fastest.
constexpr Shape row_major_strides(const Shape& shape) noexcept {
  Shape strides = shape;
  std::int64_t step = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[i] = step;
    if (__builtin_mul_overflow(step, shape[i], &step)) step = 0;
  }
  return strides;
}

}  // namespace nanlens::inline NANLENS_ABI
