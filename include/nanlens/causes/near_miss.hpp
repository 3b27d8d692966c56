/// @file
/// Warning signs of clean tensors: what has not gone wrong yet, or no longer. Looked for on demand, for one event.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include <nanlens/causes/causes.hpp>
#include <nanlens/causes/input_words.hpp>
#include <nanlens/causes/limits.hpp>
#include <nanlens/causes/magnitude.hpp>

namespace nanlens::causes {

enum class NearMissKind : std::uint8_t {
  all_zero,      ///< every element is 0: a dead ReLU, a vanished gradient
  empty,         ///< no elements: what reduces it next has nothing to reduce
  zeros_appear,  ///< zeros where the instance before had none
  near_limit,    ///< the largest magnitude is within 2³ of the dtype's range (needs statistics)
  grows,         ///< the largest magnitude is more than ten times that of the instance before (needs statistics)
};

struct NearMiss {
  NearMissKind kind;
  double value = 0;   ///< zeros, or the largest magnitude
  double before = 0;  ///< the same of the instance before
};

/// Warning signs of an event; none for bad ones, and where the mode tells too little.
inline std::vector<NearMiss> near_misses(Causes& causes, EventRef event) {
  std::vector<NearMiss> found;
  Model& model = causes.model();
  if (!event.exists() || model.bad(event)) return found;
  const TensorHealth now = model.health(event);
  const EventRef earlier = causes.last_healthy(event);
  if (now.size == 0) found.push_back({NearMissKind::empty, 0, 0});
  if (now.size > 0 && now.num_zero == now.size) found.push_back({NearMissKind::all_zero, now.num_zero, 0});
  if (earlier.exists() && now.num_zero > 0 && now.num_zero < now.size && model.health(earlier).num_zero == 0)
    found.push_back({NearMissKind::zeros_appear, now.num_zero, 0});
  const double largest = detail::largest_magnitude(model.run(), event);
  if (!(largest > 0) || std::isinf(largest)) return found;
  constexpr double close = 8;
  const double limit = dtype_max(now.dtype);
  if (limit > 0 && largest * close >= limit) found.push_back({NearMissKind::near_limit, largest, limit});
  constexpr double much = 10;
  const double before = earlier.exists() ? detail::largest_magnitude(model.run(), earlier) : -1;
  if (before > 0 && largest > much * before) found.push_back({NearMissKind::grows, largest, before});
  return found;
}

/// A warning sign in words.
inline std::string near_miss_words(const NearMiss& miss, const Speech& speech = english_speech) {
  const auto number = [&](double value) { return detail::about(value, speech); };
  switch (miss.kind) {
    case NearMissKind::all_zero: return say(speech, Saying::near_all_zero);
    case NearMissKind::empty: return say(speech, Saying::near_empty);
    case NearMissKind::zeros_appear: return detail::counted(speech, Saying::near_zeros_appear, miss.value);
    case NearMissKind::near_limit:
      return say(speech, Saying::near_limit, {{"value", number(miss.value)}, {"limit", number(miss.before)}});
    case NearMissKind::grows:
      return say(speech, Saying::near_grows, {{"value", number(miss.value)}, {"before", number(miss.before)}});
  }
  return {};
}

}  // namespace nanlens::causes
