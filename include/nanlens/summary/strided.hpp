/// @file
/// Visiting the elements of a strided tensor as contiguous runs, in whatever order memory likes best.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <nanlens/config.hpp>
#include <nanlens/tensor/tensor_view.hpp>

namespace nanlens::inline NANLENS_ABI::detail {

// A strided tensor with its dimensions put in an order that suits memory. Counting does not care about order, so a
// transposed matrix becomes one contiguous run.
struct Folded {
  const unsigned char* origin = nullptr;
  std::int64_t dims[max_rank] = {};     // innermost first
  std::int64_t strides[max_rank] = {};  // in elements, positive
  std::size_t rank = 0;
  std::uint64_t repeats = 1;  // how often every element counts (broadcast dimensions)
};

// Negative strides are flipped, size-1 dimensions dropped, stride-0 dimensions become `repeats`, the others are sorted
// by stride and merged where they lie end to end. Needs a view with at least one element.
inline Folded fold(const TensorView& view, std::size_t element_bytes) noexcept {
  Folded f;
  f.origin = static_cast<const unsigned char*>(view.data);
  const Shape strides = strides_of(view);
  for (std::size_t i = 0; i < view.shape.size(); ++i) {
    const std::int64_t dim = view.shape[i];
    std::int64_t stride = strides[i];
    if (dim == 1) continue;
    if (stride == 0) {
      f.repeats *= static_cast<std::uint64_t>(dim);
      continue;
    }
    if (stride < 0) {
      f.origin += (dim - 1) * stride * static_cast<std::int64_t>(element_bytes);
      stride = -stride;
    }
    std::size_t at = f.rank++;
    for (; at > 0 && f.strides[at - 1] > stride; --at) {
      f.dims[at] = f.dims[at - 1];
      f.strides[at] = f.strides[at - 1];
    }
    f.dims[at] = dim;
    f.strides[at] = stride;
  }
  std::size_t kept = 0;
  for (std::size_t i = 1; i < f.rank; ++i) {
    if (f.strides[i] == f.strides[kept] * f.dims[kept]) {
      f.dims[kept] *= f.dims[i];
    } else {
      ++kept;
      f.dims[kept] = f.dims[i];
      f.strides[kept] = f.strides[i];
    }
  }
  if (f.rank > 0) f.rank = kept + 1;
  return f;
}

template <std::size_t Bytes>
void gather_elements(unsigned char* to, const unsigned char* from, std::size_t count, std::int64_t step) noexcept {
  for (std::size_t i = 0; i < count; ++i, to += Bytes, from += step) std::memcpy(to, from, Bytes);
}

// Copies elements that lie `step` bytes apart. Constant sizes, so that each is one move.
inline void gather(unsigned char* to, const unsigned char* from, std::size_t count, std::int64_t step,
                   std::size_t element_bytes) noexcept {
  switch (element_bytes) {
    case 1: return gather_elements<1>(to, from, count, step);
    case 2: return gather_elements<2>(to, from, count, step);
    case 4: return gather_elements<4>(to, from, count, step);
    case 8: return gather_elements<8>(to, from, count, step);
    default:
      for (std::size_t i = 0; i < count; ++i, to += element_bytes, from += step) std::memcpy(to, from, element_bytes);
  }
}

// Calls visit(pointer, count) for contiguous runs that together hold every element of the folded tensor once. Runs that
// are long are passed as they lie; short or strided ones are gathered into a buffer on the stack. `visit` returns false
// to stop.
template <class Visit>
bool visit_runs(const Folded& f, std::size_t element_bytes, Visit&& visit) noexcept {
  constexpr std::size_t buffer_bytes = 4096;
  constexpr std::int64_t long_run = 64;
  const bool contiguous_inner = f.rank == 0 || f.strides[0] == 1;
  const std::int64_t inner = f.rank == 0 ? 1 : f.dims[0];
  const std::size_t first_outer = f.rank == 0 ? 0 : 1;
  const bool pass_runs = contiguous_inner && (inner >= long_run || f.rank <= 1);
  alignas(64) unsigned char buffer[buffer_bytes];
  const std::size_t capacity = buffer_bytes / element_bytes;
  std::size_t filled = 0;
  std::int64_t index[max_rank] = {};
  const unsigned char* row = f.origin;
  for (;;) {
    if (pass_runs) {
      if (!visit(row, static_cast<std::size_t>(inner))) return false;
    } else {
      const std::int64_t step = f.strides[0] * static_cast<std::int64_t>(element_bytes);
      for (std::int64_t i = 0; i < inner;) {
        if (filled == capacity) {
          if (!visit(buffer, filled)) return false;
          filled = 0;
        }
        const auto count = std::min(capacity - filled, static_cast<std::size_t>(inner - i));
        gather(buffer + filled * element_bytes, row + i * step, count, step, element_bytes);
        filled += count;
        i += static_cast<std::int64_t>(count);
      }
    }
    std::size_t d = first_outer;
    for (; d < f.rank; ++d) {
      row += f.strides[d] * static_cast<std::int64_t>(element_bytes);
      if (++index[d] < f.dims[d]) break;
      row -= f.strides[d] * f.dims[d] * static_cast<std::int64_t>(element_bytes);
      index[d] = 0;
    }
    if (d >= f.rank) break;
  }
  return filled == 0 || visit(buffer, filled);
}

}  // namespace nanlens::inline NANLENS_ABI::detail
