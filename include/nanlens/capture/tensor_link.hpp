/// @file
/// What a recorded tensor is known as, and by what it is found again.
#pragma once

#include <cstdint>

#include <nanlens/capture/hash.hpp>
#include <nanlens/config.hpp>
#include <nanlens/logdir/tensor_origin.hpp>
#include <nanlens/tensor/tensor_view.hpp>

namespace nanlens::inline NANLENS_ABI::detail {

struct GraphOp;

/// What a tensor is known as: an eager tensor's id, or an output of a graph's op in one run of the graph.
struct TensorLink {
  std::int64_t id = -1;  ///< eager tensor id; −1: it has none
  const GraphOp* op = nullptr;
  std::uint64_t graph_run = 0;
  std::int32_t slot = 0;

  [[nodiscard]] bool known() const noexcept { return id >= 0 || op != nullptr; }
  friend bool operator==(const TensorLink&, const TensorLink&) noexcept = default;
};

/// The address range of a view, and a fingerprint of its dtype, shape and strides.
struct TensorKey {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  std::uint64_t fingerprint = 0;
  std::uint32_t element_bytes = 0;
  bool dense = false;    ///< every byte of the range is one of the tensor's, in whatever order
  bool copied = false;   ///< a copy lies there, or a number: others may come and go unseen, so that nothing is changed
  std::uint8_t far = 0;  ///< of memory that only a device reads: the number of that, from 1 on

  [[nodiscard]] bool empty() const noexcept { return begin == end; }
  [[nodiscard]] std::size_t bytes() const noexcept { return end - begin; }
  /// The same bytes, whatever the shape. With gaps between the elements the shape decides which bytes these are.
  [[nodiscard]] bool same_bytes(const TensorKey& other) const noexcept {
    return begin == other.begin && end == other.end && ((dense && other.dense) || fingerprint == other.fingerprint);
  }
  [[nodiscard]] bool contains(const TensorKey& other) const noexcept {
    return dense && begin <= other.begin && other.end <= end;
  }
  [[nodiscard]] bool overlaps(const TensorKey& other) const noexcept { return begin < other.end && other.begin < end; }
};

inline TensorKey key_of(const TensorView& view) noexcept {
  TensorKey key;
  const auto bytes = static_cast<std::int64_t>(dtype_bytes(view.dtype));
  if (view.data == nullptr || bytes == 0 || num_elements(view.shape) <= 0) return key;
  Shape dense;
  const bool given = view.strides.size() == view.shape.size();
  if (!given) dense = row_major_strides(view.shape);
  const Shape& strides = given ? view.strides : dense;
  std::int64_t low = 0;
  std::int64_t high = bytes;
  std::int64_t size = bytes;
  std::uint64_t print = static_cast<std::uint64_t>(static_cast<std::int32_t>(view.dtype));
  for (std::size_t i = 0; i < view.shape.size(); ++i) {
    const std::int64_t span = (view.shape[i] - 1) * strides[i] * bytes;
    (span < 0 ? low : high) += span;
    print = mix(print, static_cast<std::uint64_t>(view.shape[i]));
    if (view.shape[i] > 1) print = mix(print, static_cast<std::uint64_t>(strides[i]));
    if (strides[i] != 0) size *= view.shape[i];
  }
  const auto origin = reinterpret_cast<std::uintptr_t>(view.data);
  key.begin = origin + static_cast<std::uintptr_t>(low);
  key.end = origin + static_cast<std::uintptr_t>(high);
  key.fingerprint = print | 1;
  key.element_bytes = static_cast<std::uint32_t>(bytes);
  key.dense = high - low == size;
  return key;
}

}  // namespace nanlens::inline NANLENS_ABI::detail
