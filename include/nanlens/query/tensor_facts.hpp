/// @file
/// What a record tells of one tensor: dtype, rank, size, counts, and statistics where they, or the values, are on
/// record.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include <nanlens/config.hpp>
#include <nanlens/logdir/tensor_values.hpp>
#include <nanlens/query/facts.hpp>
#include <nanlens/reader/details.hpp>
#include <nanlens/reader/event_digest.hpp>
#include <nanlens/summary/statistics.hpp>

namespace nanlens::inline NANLENS_ABI::query {

namespace detail {

// The elements that a full tensor lists, as they are in memory; the last one stands for all that follow.
inline std::vector<double> listed_values(const logdir::TensorProto& proto) {
  std::vector<double> values;
  const auto dtype = static_cast<DType>(proto.dtype);
  const auto add_small = [&](const auto& list) {
    for (const auto bits : list)
      values.push_back(nanlens::detail::small_value(static_cast<std::uint32_t>(bits), float_format(dtype)));
  };
  switch (dtype) {
    case DType::float32: values.assign(proto.float_val.begin(), proto.float_val.end()); break;
    case DType::float64: values = proto.double_val; break;
    case DType::float16:
    case DType::bfloat16: add_small(proto.half_val); break;
    default:
      for (const char byte : proto.float8_val)
        values.push_back(nanlens::detail::small_value(static_cast<unsigned char>(byte), float_format(dtype)));
  }
  return values;
}

// The elements in a full tensor's memory.
inline std::vector<double> content_values(const logdir::TensorProto& proto) {
  std::vector<double> values;
  const auto dtype = static_cast<DType>(proto.dtype);
  const std::size_t bytes = dtype_bytes(dtype);
  const auto* const content = reinterpret_cast<const unsigned char*>(proto.tensor_content.data());
  for (std::size_t at = 0; at + bytes <= proto.tensor_content.size(); at += bytes) {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < bytes; ++i) bits |= std::uint64_t{content[at + i]} << (8 * i);
    if (bytes == 8)
      values.push_back(std::bit_cast<double>(bits));
    else if (bytes == 4)
      values.push_back(static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits))));
    else
      values.push_back(nanlens::detail::small_value(static_cast<std::uint32_t>(bits), float_format(dtype)));
  }
  return values;
}

// Of values of which the last one stands for `last_counts`.
inline Statistics statistics_of(const std::vector<double>& values, double last_counts) {
  Statistics s;
  double sum = 0;
  nanlens::detail::SumOfSquares squares;
  double count = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double v = values[i];
    if (!std::isfinite(v)) continue;
    const double times = i + 1 == values.size() ? last_counts : 1;
    s.min = std::fmin(s.min, v);
    s.max = std::fmax(s.max, v);
    sum += v * times;
    squares.add(v, times);
    count += times;
  }
  if (count > 0) s.mean = sum / count;
  if (count > 0) s.norm = squares.root();
  s.has_norm = true;
  return s;
}

inline std::optional<Statistics> statistics_of(const logdir::TensorProto& proto) {
  const std::int64_t n = logdir::num_elements(proto);
  if (!is_floating(static_cast<DType>(proto.dtype)) || n < 0 || logdir::is_cut(proto)) return std::nullopt;
  const bool listed = proto.tensor_content.empty();
  std::vector<double> values = listed ? listed_values(proto) : content_values(proto);
  const auto size = static_cast<std::size_t>(n);
  if (!listed && values.size() != size) return std::nullopt;
  if (n > 0 && values.empty()) values.push_back(0);
  if (values.size() > size) values.resize(size);
  return statistics_of(values, static_cast<double>(size - values.size() + 1));
}

// Extreme values come with a histogram; without one the record has the other members alone.
inline std::optional<Statistics> statistics_of(const logdir::TensorStats& stats) {
  if (stats.exponent_histogram.empty()) return std::nullopt;
  return recorded_statistics(stats.min, stats.max, stats.mean, stats.norm);
}

inline TensorFacts facts_of_full_tensor(const logdir::TensorProto& proto) {
  TensorFacts facts;
  logdir::TensorHealth& h = facts.health;
  h.dtype = static_cast<DType>(proto.dtype);
  if (proto.shape && !proto.shape->unknown_rank) h.rank = static_cast<double>(proto.shape->dims.size());
  if (const std::int64_t n = logdir::num_elements(proto); n >= 0) h.size = static_cast<double>(n);
  if (const auto counts = logdir::tensor_health(proto)) {
    h.num_nan = static_cast<double>(counts->nan);
    h.num_neg_inf = static_cast<double>(counts->neg_inf);
    h.num_pos_inf = static_cast<double>(counts->pos_inf);
    h.num_negative = static_cast<double>(counts->negative);
    h.num_zero = static_cast<double>(counts->zero);
    h.num_positive = static_cast<double>(counts->positive);
    h.flags = logdir::flags_of(h);
  }
  facts.statistics = statistics_of(proto);
  return facts;
}

}  // namespace detail

/// Of a tensor as it was recorded: in a mode, as numbers or as a whole, with what nanlens adds. Null: it is not there.
inline TensorFacts tensor_facts(std::int32_t mode, const reader::TensorValues* values, const logdir::TensorProto* proto,
                                const logdir::TensorStats* stats) {
  const auto kind = static_cast<TensorDebugMode>(mode);
  TensorFacts facts;
  if (kind == TensorDebugMode::full_tensor && proto != nullptr && proto->dtype != 0)
    facts = detail::facts_of_full_tensor(*proto);
  else if (values != nullptr && *values)
    facts.health = reader::tensor_health(kind, **values);
  if (!facts.statistics && stats != nullptr) facts.statistics = detail::statistics_of(*stats);
  return facts;
}

}  // namespace nanlens::inline NANLENS_ABI::query
