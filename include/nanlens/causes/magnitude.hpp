/// @file
/// The numbers of a tensor: how large they are, and what they were where an output went bad.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <nanlens/causes/event.hpp>
#include <nanlens/causes/evidence.hpp>
#include <nanlens/reader/run.hpp>
#include <nanlens/reader/stored_tensor.hpp>
#include <nanlens/summary/bad_elements.hpp>
#include <nanlens/summary/statistics.hpp>

namespace nanlens::causes {

namespace detail {

// Of output `slot`; negative where statistics were not recorded.
inline double largest_magnitude(const logdir::NanlensExtension& extension, std::size_t slot) {
  if (slot >= extension.outputs.size()) return -1;
  const auto& s = extension.outputs[slot];
  return s.exponent_histogram.empty() ? -1 : std::max(std::abs(s.min), std::abs(s.max));
}

// The same of a traced tensor: the extension of a trace has its one output only.
inline double largest_magnitude(reader::Run& run, EventRef event) {
  if (event.is_execution) {
    const auto detail = run.execution(event.index);
    return detail ? largest_magnitude(detail->extension, event.slot) : -1;
  }
  const auto detail = run.trace(event.index);
  return detail ? largest_magnitude(detail->extension, 0) : -1;
}

// Of stored values, as far as they are finite; negative where none is, and for what is not floating.
inline double largest_magnitude(const reader::StoredTensor& tensor) {
  const Statistics s = statistics(tensor.view());
  return s.min <= s.max ? std::max(std::abs(s.min), std::abs(s.max)) : -1;
}

// To which axis of an output the first of a tensor's belongs that is broadcast to it: at the end, as NumPy aligns them,
// or at the beginning; negative if it fits neither way.
inline std::ptrdiff_t first_axis(const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& output) {
  if (shape.size() > output.size()) return -1;
  const auto last = static_cast<std::ptrdiff_t>(output.size() - shape.size());
  for (const std::ptrdiff_t first : {last, std::ptrdiff_t{0}}) {
    const auto fits = [](std::int64_t in, std::int64_t out) { return in == out || in == 1; };
    if (std::equal(shape.begin(), shape.end(), output.begin() + first, fits)) return first;
  }
  return -1;
}

// What a tensor held where an output is bad: one with as many elements, which may have another shape, or one that may
// have been broadcast to it; empty if it is neither.
inline std::vector<double> values_at_bad(const reader::StoredTensor& tensor, const logdir::TensorEvidence& output) {
  std::vector<double> values;
  if (!is_floating(tensor.dtype)) return values;
  const std::size_t bytes = dtype_bytes(tensor.dtype);
  const std::size_t elements = tensor.content.size() / bytes;
  const bool as_many = static_cast<double>(elements) == seen_health(output).size;
  const std::vector<std::int64_t>& shape = as_many ? output.shape : tensor.shape;
  const std::ptrdiff_t first = first_axis(shape, output.shape);
  const std::size_t rank = output.shape.size();
  if (first < 0 || rank == 0) return values;
  for (std::size_t at = 0; at + rank <= output.positions.size(); at += rank) {
    std::int64_t element = 0;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const std::int64_t index = output.positions[at + static_cast<std::size_t>(first) + d];
      if (index < 0 || shape[d] < 1 || (shape[d] > 1 && index >= shape[d])) return {};
      element = element * shape[d] + (shape[d] > 1 ? index : 0);
    }
    const std::size_t offset = static_cast<std::size_t>(element) * bytes;
    if (offset + bytes > tensor.content.size()) return {};
    values.push_back(element_value(tensor.dtype, tensor.content.data() + offset));
  }
  return values;
}

}  // namespace detail

}  // namespace nanlens::causes
