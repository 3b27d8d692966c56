/// @file
/// What a TensorProto holds: the numbers of a summary, or the health of a full tensor.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include <nanlens/config.hpp>
#include <nanlens/logdir/events.hpp>
#include <nanlens/logdir/limits.hpp>
#include <nanlens/logdir/wire.hpp>
#include <nanlens/summary/health.hpp>

namespace nanlens::inline NANLENS_ABI::logdir {

/// Number of elements by the proto's shape; 1 without a shape; −1 if the shape is unknown or overflows.
inline std::int64_t num_elements(const TensorProto& proto) noexcept {
  if (!proto.shape) return 1;
  if (proto.shape->unknown_rank) return -1;
  std::int64_t n = 1;
  for (const auto& dim : proto.shape->dims)
    if (dim.size < 0 || __builtin_mul_overflow(n, dim.size, &n)) return -1;
  return n;
}

/// Were more dimensions or listed values in the record than are read? Of such a tensor nothing is known.
inline bool is_cut(const TensorProto& proto) noexcept {
  const std::size_t longest = std::max({proto.float_val.size(), proto.double_val.size(), proto.half_val.size()});
  return longest >= limits::listed_values || (proto.shape && proto.shape->dims.size() >= limits::dimensions);
}

namespace detail {

// A typed list of values that stands for n elements: the last one repeats.
template <class Word, class List>
std::vector<Word> expand(const List& list, std::int64_t n) {
  std::vector<Word> out;
  const auto count = static_cast<std::size_t>(n);
  for (std::size_t i = 0; i < list.size() && i < count; ++i) {
    if constexpr (sizeof(Word) == sizeof(typename List::value_type))
      out.push_back(std::bit_cast<Word>(list[i]));
    else
      out.push_back(static_cast<Word>(list[i]));
  }
  return out;
}

template <class Word>
HealthCounts count_expanded(DType dtype, const std::vector<Word>& words, std::int64_t n) {
  const auto size = static_cast<std::int64_t>(words.size());
  HealthCounts counts = full_health(dense_view(words.data(), dtype, {size}));
  if (size < n) {
    if (words.empty()) {
      counts.zero += static_cast<std::uint64_t>(n);
    } else {
      HealthCounts last = full_health(dense_view(&words.back(), dtype, {1}));
      counts += last *= static_cast<std::uint64_t>(n - size);
    }
  }
  return counts;
}

}  // namespace detail

/// Health of a floating tensor whose values are in the proto (FULL_TENSOR). Empty for other dtypes, and where the
/// content does not fit the shape.
inline std::optional<HealthCounts> tensor_health(const TensorProto& proto) {
  const auto dtype = static_cast<DType>(proto.dtype);
  const std::int64_t n = num_elements(proto);
  if (!is_floating(dtype) || n < 0 || is_cut(proto)) return std::nullopt;
  if (!proto.tensor_content.empty()) {
    if (proto.tensor_content.size() / dtype_bytes(dtype) != static_cast<std::size_t>(n)) return std::nullopt;
    return full_health(dense_view(proto.tensor_content.data(), dtype, {n}));
  }
  switch (dtype) {
    case DType::float32: return detail::count_expanded(dtype, detail::expand<std::uint32_t>(proto.float_val, n), n);
    case DType::float64: return detail::count_expanded(dtype, detail::expand<std::uint64_t>(proto.double_val, n), n);
    case DType::float16:
    case DType::bfloat16: return detail::count_expanded(dtype, detail::expand<std::uint16_t>(proto.half_val, n), n);
    default: return detail::count_expanded(dtype, detail::expand<std::uint8_t>(proto.float8_val, n), n);
  }
}

/// The numbers of a summary tensor (float64, or float32), with the last one repeated up to the proto's shape as
/// protobuf tensors are. Empty if the proto holds none: a placeholder, or a tensor of another dtype.
inline std::vector<double> summary_values(const TensorProto& proto) {
  std::vector<double> values;
  constexpr std::int64_t longest = 64;  // summaries have at most 11 numbers
  const std::int64_t n = num_elements(proto);
  if (n <= 0 || n > longest || proto.dtype == 0) return values;
  const Bytes content{reinterpret_cast<const unsigned char*>(proto.tensor_content.data()), proto.tensor_content.size()};
  if (static_cast<DType>(proto.dtype) == DType::float64) {
    values = proto.double_val;
    for (std::size_t i = 0; i + 8 <= content.size(); i += 8)
      values.push_back(std::bit_cast<double>(detail::load_le<std::uint64_t>(content.data() + i)));
  } else if (static_cast<DType>(proto.dtype) == DType::float32) {
    values.assign(proto.float_val.begin(), proto.float_val.end());
    for (std::size_t i = 0; i + 4 <= content.size(); i += 4)
      values.push_back(static_cast<double>(std::bit_cast<float>(detail::load_le<std::uint32_t>(content.data() + i))));
  } else {
    return values;
  }
  values.resize(static_cast<std::size_t>(n), values.empty() ? 0.0 : values.back());
  return values;
}

}  // namespace nanlens::inline NANLENS_ABI::logdir
