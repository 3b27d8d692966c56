/// @file
/// How large are the numbers of a tensor?
#pragma once

#include <algorithm>
#include <cmath>

#include <nanlens/causes/event.hpp>
#include <nanlens/reader/run.hpp>
#include <nanlens/reader/stored_tensor.hpp>
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
inline double largest_magnitude(Run& run, EventRef event) {
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

}  // namespace detail

}  // namespace nanlens::causes
