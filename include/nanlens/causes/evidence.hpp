/// @file
/// What nanlens saw in memory when an op gave a NaN or infinity: stronger than what is recorded of its inputs, which
/// may have been changed since by what is not on record.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nanlens/causes/event.hpp>
#include <nanlens/reader/run.hpp>

namespace nanlens::causes {

using logdir::TensorEvidence;
using logdir::TensorOrigin;

/// The extension of an event's record.
inline logdir::NanlensExtension extension_of(reader::Run& run, EventRef event) {
  if (event.is_execution) {
    auto detail = run.execution(event.index);
    return detail ? std::move(detail->extension) : logdir::NanlensExtension{};
  }
  auto detail = run.trace(event.index);
  return detail ? std::move(detail->extension) : logdir::NanlensExtension{};
}

/// What was seen of an event's own tensor; nothing if it was not looked at.
inline std::optional<TensorEvidence> output_evidence(reader::Run& run, EventRef event) {
  auto extension = extension_of(run, event);
  const std::size_t slot = event.is_execution ? event.slot : 0;
  if (slot >= extension.output_evidence.size() || !extension.output_evidence[slot].looked_at) return std::nullopt;
  return std::move(extension.output_evidence[slot]);
}

/// Can a tensor of this dtype hold a NaN?
constexpr bool can_be_bad(DType dtype) noexcept {
  const DTypeKind kind = dtype_kind(dtype);
  return kind == DTypeKind::none || kind == DTypeKind::floating || kind == DTypeKind::complex;
}

/// The counts of an evidence as a health; without a summary if it has none.
inline reader::TensorHealth seen_health(const TensorEvidence& e) {
  reader::TensorHealth h;
  h.dtype = static_cast<DType>(e.dtype);
  if (!e.looked_at || e.counts.size() != 6) return h;
  h.rank = static_cast<double>(e.shape.size());
  h.size = 1;
  for (const std::int64_t dim : e.shape) h.size *= static_cast<double>(dim);
  double* const numbers[] = {&h.num_neg_inf, &h.num_pos_inf, &h.num_nan, &h.num_negative, &h.num_zero, &h.num_positive};
  constexpr std::uint8_t flags[] = {reader::neg_inf_flag,  reader::pos_inf_flag, reader::nan_flag,
                                    reader::negative_flag, reader::zero_flag,    reader::positive_flag};
  const bool floating = is_floating(h.dtype);
  for (std::size_t i = 0; i < 6; ++i) {
    if (floating || i < 3) *numbers[i] = static_cast<double>(e.counts[i]);
    if (e.counts[i] > 0) h.flags |= flags[i];
  }
  h.flags |= reader::has_summary_flag;
  return h;
}

/// Were there floating-point exceptions that went by untrapped (see `hits_at_least`)? No count of them is whole then.
bool trapped_in_part(reader::Run& run);

/// Where the bad elements are, by their slices: "rows 12 and 37 of 100, every column". Empty if that can't be told.
std::string places_words(const TensorEvidence& e, const Speech& speech = english_speech);

/// The numbers of the elements that an evidence names, in row-major order. Any shape may stand in a file: what is too
/// large wraps round.
inline std::vector<std::uint64_t> places_of(const TensorEvidence& e) {
  std::vector<std::uint64_t> places;
  const std::size_t rank = e.shape.size();
  for (std::size_t i = 0; rank > 0 && i + rank <= e.positions.size(); i += rank) {
    std::uint64_t place = 0;
    for (std::size_t d = 0; d < rank; ++d)
      place = place * static_cast<std::uint64_t>(e.shape[d]) + static_cast<std::uint64_t>(e.positions[i + d]);
    places.push_back(place);
  }
  return places;
}

}  // namespace nanlens::causes

#if !defined(NANLENS_SPLIT)
#include <nanlens/causes/evidence.inl>
#endif
