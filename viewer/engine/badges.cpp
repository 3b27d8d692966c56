#include "badges.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include <nanlens/tensor/dtype_name.hpp>

namespace nanlens::viewer {

namespace {

bool tells_bad(const Badge& b) {
  return b.kind == BadgeKind::nan || b.kind == BadgeKind::ninf || b.kind == BadgeKind::pinf ||
         (b.kind == BadgeKind::curt && b.number != 0);
}

// A number of a damaged record can be any; nothing that it is to stand for is as large as this.
constexpr double largest_integer = 9e15;

std::string integer_text(double number) {
  if (!(std::fabs(number) < largest_integer)) return "?";
  return std::to_string(static_cast<std::int64_t>(number));
}

void add_dtype(std::vector<Badge>& badges, double number) {
  std::string name;
  if (number >= 0 && number <= std::numeric_limits<int>::max())
    name = dtype_name(static_cast<DType>(static_cast<int>(number)));
  if (name.empty()) name = "dtype " + integer_text(number);
  badges.push_back({BadgeKind::dtype, number, std::move(name)});
}

void add_counts(std::vector<Badge>& badges, const double (&counts)[6]) {
  constexpr BadgeKind kinds[] = {BadgeKind::nan, BadgeKind::ninf, BadgeKind::pinf,
                                 BadgeKind::neg, BadgeKind::zero, BadgeKind::pos};
  for (std::size_t i = 0; i < 6; ++i)
    if (counts[i] > 0) badges.push_back({kinds[i], counts[i], {}});
}

// Shapes of more than six dimensions are kept without their first ones.
std::string shape_text(const std::vector<double>& v) {
  const auto rank = v[2] >= 0 && v[2] < largest_integer ? static_cast<std::int64_t>(v[2]) : 0;
  std::string text = "[";
  for (std::int64_t i = 0; i < rank; ++i) {
    if (i > 0) text += ",";
    const std::int64_t kept = i - std::max<std::int64_t>(0, rank - 6);
    text += kept < 0 ? "?" : integer_text(v[static_cast<std::size_t>(4 + kept)]);
    if (i > 64) break;
  }
  return text + "]";
}

void add_full_tensor(std::vector<Badge>& badges, const logdir::TensorProto& proto) {
  add_dtype(badges, proto.dtype);
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
  const auto& v = *values;
  if (kind == TensorDebugMode::curt_health && v.size() == 2) {
    badges.push_back({BadgeKind::curt, v[1] != 0 ? 1.0 : 0.0, {}});
  } else if (kind == TensorDebugMode::concise_health && v.size() == 5) {
    badges.push_back({BadgeKind::size, v[1], {}});
    add_counts(badges, {v[4], v[2], v[3], 0, 0, 0});
  } else if (kind == TensorDebugMode::full_health && v.size() == 11) {
    add_dtype(badges, v[2]);
    badges.push_back({BadgeKind::rank, v[3], {}});
    badges.push_back({BadgeKind::size, v[4], {}});
    add_counts(badges, {v[7], v[5], v[6], v[8], v[9], v[10]});
  } else if (kind == TensorDebugMode::shape && v.size() == 10) {
    add_dtype(badges, v[1]);
    badges.push_back({BadgeKind::rank, v[2], {}});
    badges.push_back({BadgeKind::shape, 0, shape_text(v)});
    badges.push_back({BadgeKind::size, v[3], {}});
  } else {
    badges.push_back(missing_badge(Missing::not_checked));
  }
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
