/// @file
/// What is recorded of a tensor, as the badges that panes show.
#pragma once

#include <cstdint>
#include <vector>

#include <nanlens/reader/reader.hpp>

#include "protocol.hpp"

namespace nanlens::viewer {

/// Why a badge of kind `none` has no numbers; it is the badge's `number`.
enum class Missing : std::uint8_t { not_checked, not_recorded, unreadable };
Badge missing_badge(Missing why);

/// Badges in the reference's order: dtype, rank or shape, size, then NaN, −∞, +∞, −, 0, +. Counts of zero are left out.
/// `proto` is the recorded tensor (null: none): FULL_TENSOR rows are counted from their values.
std::vector<Badge> badges_of(std::int32_t mode, const reader::TensorValues& values, const logdir::TensorProto* proto);

/// The same of a tensor whose memory was looked at.
std::vector<Badge> badges_of(DType dtype, const std::vector<std::int64_t>& shape, const reader::TensorHealth& health);

/// The same of a row's record.
std::vector<Badge> badges_of(const reader::TraceDetail& row);

/// Name of a kind of badge: "dtype", "nan", …
const char* badge_kind_name(BadgeKind kind);

/// The badge of a kind, or null.
const Badge* find_badge(const std::vector<Badge>& badges, BadgeKind kind);

/// Only those of bad values: NaN, −∞, +∞, or the flag of CURT_HEALTH.
std::vector<Badge> bad_badges(const std::vector<Badge>& badges);

/// Do the badges tell of a NaN or an infinity?
bool is_bad(const std::vector<Badge>& badges);

}  // namespace nanlens::viewer
