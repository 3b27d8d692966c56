#include "badges.hpp"

#include <algorithm>
#include <span>
#include <string>

#include <nanlens/logdir/tensor_values.hpp>
#include <nanlens/summary/summarize.hpp>
#include <nanlens/tensor/dtype_name.hpp>

namespace nanlens::viewer {

namespace {

bool tells_bad(const Badge& b) {
  return b.kind == BadgeKind::nan || b.kind == BadgeKind::ninf || b.kind == BadgeKind::pinf ||
         (b.kind == BadgeKind::curt && b.number != 0);
}

void add_dtype(std::vector<Badge>& badges, DType dtype) {
  const auto number = static_cast<std::int32_t>(dtype);
  std::string name(dtype_name(dtype));
  if (dtype_from_name(name) != dtype) name = "dtype " + std::to_string(number);
  badges.push_back({BadgeKind::dtype, static_cast<double>(number), std::move(name)});
}

void add_counts(std::vector<Badge>& badges, const double (&counts)[6]) {
  constexpr BadgeKind kinds[] = {BadgeKind::nan, BadgeKind::ninf, BadgeKind::pinf,
                                 BadgeKind::neg, BadgeKind::zero, BadgeKind::pos};
  for (std::size_t i = 0; i < 6; ++i)
    if (counts[i] > 0) badges.push_back({kinds[i], counts[i], {}});
}

// Shapes of more than six dimensions are kept without their first ones.
std::string shape_text(double rank, std::span<const double> extents) {
  std::string text = "[";
  const auto missing = static_cast<std::int64_t>(rank) - static_cast<std::int64_t>(extents.size());
  for (std::int64_t i = 0; i < std::min<std::int64_t>(missing, 64); ++i) text += i > 0 ? ",?" : "?";
  for (const double extent : extents)
    text += (text.size() > 1 ? "," : "") + std::to_string(static_cast<std::int64_t>(extent));
  return text + "]";
}

void add_full_tensor(std::vector<Badge>& badges, const logdir::TensorProto& proto) {
  add_dtype(badges, static_cast<DType>(proto.dtype));
  if (proto.shape && !proto.shape->unknown_rank) {
    std::string text = "[";
    for (std::size_t i = 0; i < proto.shape->dims.size(); ++i) {
      if (i > 0) text += ",";
      text += std::to_string(proto.shape->dims[i].size);
    }
    badges.push_back({BadgeKind::rank, static_cast<double>(proto.shape->dims.size()), {}});
    badges.push_back({BadgeKind::shape, 0, text + "]"});
  }
  if (const std::int64_t n = logdir::num_elements(proto); n >= 0)
    badges.push_back({BadgeKind::size, static_cast<double>(n), {}});
  if (const auto counts = logdir::tensor_health(proto))
    add_counts(badges, {static_cast<double>(counts->nan), static_cast<double>(counts->neg_inf),
                        static_cast<double>(counts->pos_inf), static_cast<double>(counts->negative),
                        static_cast<double>(counts->zero), static_cast<double>(counts->positive)});
  else
    badges.push_back(missing_badge(Missing::not_checked));
}

}  // namespace

Badge missing_badge(Missing why) {
  constexpr const char* words[] = {"not checked", "not recorded", "its record can't be read any more"};
  return {BadgeKind::none, static_cast<double>(why), words[static_cast<std::size_t>(why)]};
}

std::vector<Badge> badges_of(std::int32_t mode, const reader::TensorValues& values, const logdir::TensorProto* proto) {
  std::vector<Badge> badges;
  const auto kind = static_cast<TensorDebugMode>(mode);
  if (kind == TensorDebugMode::full_tensor && proto != nullptr && proto->dtype != 0) {
    add_full_tensor(badges, *proto);
    return badges;
  }
  if (!values) {
    badges.push_back(missing_badge(reader::has_debug_values(mode) ? Missing::not_checked : Missing::not_recorded));
    return badges;
  }
  const reader::TensorHealth h = reader::tensor_health(kind, *values);
  if (!h.known()) {
    badges.push_back(missing_badge(Missing::not_checked));
    return badges;
  }
  if (!tells(kind, Told::size)) badges.push_back({BadgeKind::curt, h.bad() ? 1.0 : 0.0, {}});
  if (h.dtype != DType::invalid) add_dtype(badges, h.dtype);
  if (h.rank >= 0) badges.push_back({BadgeKind::rank, h.rank, {}});
  if (summary_places(kind).extents != 0)
    badges.push_back({BadgeKind::shape, 0, shape_text(h.rank, extents_in(kind, *values))});
  if (h.size >= 0) badges.push_back({BadgeKind::size, h.size, {}});
  add_counts(badges, {h.num_nan, h.num_neg_inf, h.num_pos_inf, h.num_negative, h.num_zero, h.num_positive});
  return badges;
}

std::vector<Badge> badges_of(DType dtype, const std::vector<std::int64_t>& shape, const reader::TensorHealth& health) {
  std::vector<Badge> badges;
  add_dtype(badges, dtype);
  const std::vector<double> extents(shape.begin(), shape.end());
  badges.push_back({BadgeKind::shape, 0, shape_text(static_cast<double>(shape.size()), extents)});
  if (health.size < 0) {
    badges.push_back(missing_badge(Missing::not_checked));
    return badges;
  }
  badges.push_back({BadgeKind::size, health.size, {}});
  add_counts(badges, {health.num_nan, health.num_neg_inf, health.num_pos_inf, health.num_negative, health.num_zero,
                      health.num_positive});
  return badges;
}

std::vector<Badge> badges_of(const reader::TraceDetail& row) {
  const logdir::GraphExecutionTrace& event = row.event;
  return badges_of(event.tensor_debug_mode, row.debug_tensor_value,
                   event.tensor_proto ? &*event.tensor_proto : nullptr);
}

const char* badge_kind_name(BadgeKind kind) {
  constexpr const char* names[] = {"dtype", "rank", "shape", "size", "nan",  "ninf",
                                   "pinf",  "neg",  "zero",  "pos",  "curt", "none"};
  return names[static_cast<std::size_t>(kind)];
}

const Badge* find_badge(const std::vector<Badge>& badges, BadgeKind kind) {
  const auto found = std::find_if(badges.begin(), badges.end(), [kind](const Badge& b) { return b.kind == kind; });
  return found == badges.end() ? nullptr : &*found;
}

std::vector<Badge> bad_badges(const std::vector<Badge>& badges) {
  std::vector<Badge> bad;
  for (const Badge& b : badges)
    if (tells_bad(b)) bad.push_back(b);
  return bad;
}

bool is_bad(const std::vector<Badge>& badges) { return std::any_of(badges.begin(), badges.end(), tells_bad); }

}  // namespace nanlens::viewer
