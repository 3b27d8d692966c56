/// @file
/// What is in memory when an op has given a NaN or infinity: taken then and there, so that nobody has to guess later.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <nanlens/capture/catalog.hpp>
#include <nanlens/capture/full_tensor.hpp>
#include <nanlens/capture/hash.hpp>
#include <nanlens/capture/input_memory.hpp>
#include <nanlens/capture/tensor_handle.hpp>
#include <nanlens/capture/tensor_registry.hpp>
#include <nanlens/capture/value_budget.hpp>
#include <nanlens/config.hpp>
#include <nanlens/logdir/events.hpp>
#include <nanlens/summary/bad_elements.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN detail {

inline constexpr std::size_t most_places = 16;

/// Collects the places of bad elements.
class BadPlaces {
 public:
  explicit BadPlaces(const Shape& shape) : shape_(shape), axes_(shape.size()) {
    // A mark per slice: for shapes that would take too many there are none.
    constexpr std::int64_t most_marks = std::int64_t{1} << 24;
    std::int64_t marks = 0;
    for (const std::int64_t dim : shape) marks = dim > most_marks - marks ? most_marks + 1 : marks + dim;
    if (marks <= most_marks)
      for (const std::int64_t dim : shape) seen_.emplace_back(static_cast<std::size_t>(dim));
  }
  void add(const std::int64_t* index) {
    if (places_++ < most_places) positions_.insert(positions_.end(), index, index + shape_.size());
    for (std::size_t axis = 0; axis < seen_.size(); ++axis) {
      const auto slice = static_cast<std::size_t>(index[axis]);
      if (seen_[axis][slice]) continue;
      seen_[axis][slice] = true;
      if (axes_[axis].affected++ < most_places) axes_[axis].slices.push_back(index[axis]);
    }
  }
  /// Every element is bad: nothing has to be looked at.
  void add_all() {
    for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
      axes_[axis].affected = static_cast<std::uint64_t>(shape_[axis]);
      axes_[axis].slices.resize(std::min(static_cast<std::size_t>(shape_[axis]), most_places));
      std::iota(axes_[axis].slices.begin(), axes_[axis].slices.end(), 0);
    }
    std::array<std::int64_t, max_rank> index{};
    seen_.clear();
    for (std::size_t i = 0; i < most_places; ++i) {
      add(index.data());
      std::size_t d = shape_.size();
      for (; d-- > 0; index[d] = 0)
        if (++index[d] < shape_[d]) break;
      if (d > shape_.size()) return;  // that was the last element
    }
  }
  void move_to(logdir::TensorEvidence& e) {
    e.positions = std::move(positions_);
    for (auto& axis : axes_) std::sort(axis.slices.begin(), axis.slices.end());
    if (!axes_.empty() && axes_.front().affected > 0) e.axes = std::move(axes_);
  }

 private:
  const Shape& shape_;
  std::size_t places_ = 0;
  std::vector<std::int64_t> positions_;
  std::vector<logdir::AxisEvidence> axes_;
  std::vector<std::vector<bool>> seen_;
};

/// Where an element is, by its place on each axis.
inline const unsigned char* element_at(const TensorView& view, const std::int64_t* index) {
  const Shape strides = strides_of(view);
  std::int64_t at = 0;
  for (std::size_t d = 0; d < view.shape.size(); ++d) at += index[d] * strides[d];
  return static_cast<const unsigned char*>(view.data) + at * static_cast<std::int64_t>(dtype_bytes(view.dtype));
}

/// The values at the places that an evidence names.
inline void add_values(logdir::TensorEvidence& e, const TensorView& view) {
  if (!is_floating(view.dtype)) return;
  const std::size_t rank = view.shape.size();
  const std::size_t places = rank == 0 ? 1 : e.positions.size() / rank;
  for (std::size_t i = 0; i < places; ++i)
    e.values.push_back(element_value(view.dtype, element_at(view, e.positions.data() + i * rank)));
}

inline logdir::TensorEvidence facts_of(const TensorView& view) {
  logdir::TensorEvidence e;
  e.dtype = static_cast<std::int32_t>(view.dtype);
  e.shape.assign(view.shape.begin(), view.shape.end());
  return e;
}

inline void set_counts(logdir::TensorEvidence& e, const HealthCounts& c) {
  e.counts = {c.neg_inf, c.pos_inf, c.nan, c.negative, c.zero, c.positive};
}

/// True for an optional tensor that an op does not have this time: a null pointer to memory of this process.
inline bool is_absent(const TensorView& view) noexcept {
  return view.data == nullptr && std::string_view(view.device) == cpu_device;
}

inline bool is_readable(const TensorView& view) noexcept {
  return !view.shape.overflowed() && (view.data != nullptr || view.counted != nullptr || num_elements(view.shape) == 0);
}

/// What a tensor holds now. `bad`: how many elements are.
inline logdir::TensorEvidence look_at(const TensorView& view, std::uint64_t& bad) {
  logdir::TensorEvidence e = facts_of(view);
  bad = 0;
  HealthCounts counts;
  if (is_absent(view) && !view.shape.empty()) {  // nothing is there to be bad
    e.looked_at = true;
    e.shape.assign(1, 0);
    if (is_floating(view.dtype)) set_counts(e, counts);
    return e;
  }
  e.looked_at = is_readable(view);
  if (!e.looked_at) return e;
  if (dtype_kind(view.dtype) == DTypeKind::complex)
    counts.nan = count_non_finite_complex(view);
  else if (is_floating(view.dtype))
    counts = full_health(view);
  else
    return e;
  set_counts(e, counts);
  bad = counts.non_finite();
  if (bad == 0 || (view.data == nullptr && num_elements(view.shape) != 0)) return e;
  BadPlaces places(view.shape);
  if (bad == static_cast<std::uint64_t>(num_elements(view.shape))) {
    places.add_all();
  } else {
    visit_bad_elements(view, [&, left = bad](const std::int64_t* index) mutable {
      places.add(index);
      return --left > 0;
    });
  }
  places.move_to(e);
  add_values(e, view);
  return e;
}

/// A number that tensors with the same values in the same order have in common, wherever they lie: of the counts, and
/// of elements spread over the whole. 0 where these are too few different numbers to tell one tensor from others.
inline std::uint64_t values_hash(const logdir::TensorEvidence& e, const TensorView& view) {
  constexpr std::int64_t most = 1024;
  if (view.data == nullptr || !is_floating(view.dtype)) return 0;
  const std::int64_t n = num_elements(view.shape);
  std::uint64_t hash = mix(static_cast<std::uint64_t>(view.dtype), static_cast<std::uint64_t>(n));
  for (const std::uint64_t count : e.counts) hash = mix(hash, count);
  const std::size_t rank = view.shape.size();
  std::uint64_t place = 0;  // of a bad one, in order
  for (std::size_t i = 0; i < e.positions.size(); ++i) {
    place = place * static_cast<std::uint64_t>(view.shape[i % rank]) + static_cast<std::uint64_t>(e.positions[i]);
    if ((i + 1) % rank == 0) hash = mix(hash, std::exchange(place, 0));
  }
  std::array<std::uint64_t, 8> numbers{};
  std::size_t different = 0;
  const Shape strides = strides_of(view);
  const std::size_t bytes = dtype_bytes(view.dtype);
  const std::int64_t step = std::max<std::int64_t>(n / most, 1) | 1;  // odd: not of one column alone
  for (std::int64_t i = 0; i < n; i += step) {
    std::int64_t at = 0;
    std::int64_t rest = i;
    for (std::size_t d = rank; d-- > 0; rest /= view.shape[d]) at += rest % view.shape[d] * strides[d];
    const auto* const element = static_cast<const unsigned char*>(view.data) + at * static_cast<std::int64_t>(bytes);
    std::uint64_t bits = 0;
    std::memcpy(&bits, element, bytes);
    hash = mix(hash, bits);
    const auto known = numbers.begin() + static_cast<std::ptrdiff_t>(different);
    if (different == numbers.size() || is_bad_element(view.dtype, element)) continue;
    if (std::find(numbers.begin(), known, bits) == known) numbers[different++] = bits;
  }
  return different == numbers.size() ? hash | 1 : 0;
}

/// All elements of a tensor that was looked at, if the budget has room for them.
inline void add_content(logdir::TensorEvidence& e, const TensorView& view, ValueBudget& budget) {
  const auto bytes = static_cast<std::int64_t>(dtype_bytes(view.dtype));
  if (!e.looked_at || view.data == nullptr || bytes == 0) return;
  const std::int64_t n = num_elements(view.shape);
  if (n > 0 && n <= max_full_tensor_bytes / bytes && budget.take(n * bytes)) append_row_major(view, e.content);
}

/// What a tensor's memory is known as.
inline void set_recorded(logdir::TensorEvidence& e, const TensorLink& link) {
  if (link.op == nullptr) {
    e.recorded_id = link.id + 1;
    return;
  }
  e.recorded_id = -1 - std::int64_t{link.op->output_tensor_ids[static_cast<std::size_t>(link.slot)]};
  e.recorded_run = link.graph_run;
}

/// Did nothing on record make the input as a whole, but perhaps its parts?
inline bool has_parts(const InputRef& input) noexcept {
  return input.origin == logdir::TensorOrigin::not_recorded && input.key.far == 0 && input.view.data != nullptr &&
         !input.view.shape.empty();
}

/// What made an element; unknown if that is not on record, or not what is there.
inline TensorLink maker_of(const TensorView& view, const std::int64_t* index) {
  const TensorView element{element_at(view, index), view.dtype, {}, {}, view.device};
  const TensorIdentity found = registry().find(key_of(element), true);
  return found.origin == logdir::TensorOrigin::changed ? TensorLink{} : found.link;
}

/// The same of the first one that is bad.
inline TensorLink maker_of_first_bad(const TensorView& view) {
  TensorLink maker;
  visit_bad_elements(view, [&](const std::int64_t* index) {
    maker = maker_of(view, index);
    return false;
  });
  return maker;
}

/// What an input holds, or where that can't be told any more, what is known from before. `output`: the evidence of an
/// output that is bad.
inline logdir::TensorEvidence look_at_input(const InputRef& input, const InputMemory& memory,
                                            const logdir::TensorEvidence& output) {
  std::uint64_t bad = 0;
  logdir::TensorEvidence e = memory.here() ? look_at(memory.view(), bad) : facts_of(input.view);
  e.origin = input.origin;
  if (input.origin == logdir::TensorOrigin::changed)
    e.recorded_id = input.was + 1;
  else if (input.link.id >= 0)  // an argument's, too: its graph doesn't tell what came in
    e.recorded_id = input.link.id + 1;
  else
    set_recorded(e, input.link);
  if (!memory.here() && input.seen != nullptr) {
    e.looked_at = true;
    set_counts(e, input.seen->counts);
  }
  e.written_over = input.unseen && !e.looked_at;
  if (memory.here() && bad > 0 && input.key.far == 0) e.values_hash = values_hash(e, memory.view());
  TensorLink part = input.seen != nullptr ? input.seen->part : TensorLink{};
  if (input.here && !e.positions.empty() && has_parts(input)) part = maker_of(input.view, e.positions.data());
  if (part.known()) {
    e.origin = logdir::TensorOrigin::holds;
    set_recorded(e, part);
  }
  if (!memory.here() || !is_floating(input.view.dtype) || !e.looked_at || bad > 0 || e.shape != output.shape) return e;
  if (memory.view().data == nullptr) return e;
  e.positions = output.positions;
  add_values(e, memory.view());
  return e;
}

}  // namespace NANLENS_HIDDEN detail
}  // namespace nanlens::inline NANLENS_ABI
