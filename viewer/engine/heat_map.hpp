/// @file
/// The values of a tensor that were stored in full, as a map of coloured cells.
#pragma once

#include <cstdint>
#include <optional>

#include <nanlens/reader/stored_tensor.hpp>

#include "protocol.hpp"
#include "run_index.hpp"

namespace nanlens::viewer {

/// A map has no more cells than these in a row or a column.
inline constexpr std::int64_t most_cells = 64;

/// The last two dimensions of a tensor at place `slice` of the others, counted in their order; the nearest if there is
/// no such slice. Elements that share a cell leave their least and greatest finite value, and how many are bad.
HeatMap heat_map(const reader::StoredTensor& tensor, std::int64_t slice);

/// The values of one of the tensors that `seen_tensors` gives of a focus; nothing if they are not stored.
std::optional<reader::StoredTensor> stored_values(RunIndex& index, const Focus& focus, std::int32_t seen);

}  // namespace nanlens::viewer
