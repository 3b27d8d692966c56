/// @file
/// JSON as `nanlens dump` prints it: one object per line, fields in a fixed order, NaN and infinities as strings.
#pragma once

#include <cmath>
#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <nanlens/logdir/events.hpp>

#include "findings/json.hpp"

namespace nanlens::cli {

using Json = nlohmann::ordered_json;

/// A number; NaN and infinities, which JSON lacks, become "nan", "inf" and "-inf".
inline Json number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

/// A count that an event may not tell: negative becomes null; whole numbers are printed without a fraction.
inline Json count_or_null(double value) {
  if (value < 0) return nullptr;
  return static_cast<std::uint64_t>(value);
}

/// A string, or null if it is empty.
inline Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

/// A number of nanlens' own extension, or null if the record does not have it (0).
inline Json extension_or_null(std::uint64_t value) { return value == 0 ? Json(nullptr) : Json(value); }

inline Json numbers(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double v : values) list.push_back(number(v));
  return list;
}

/// What a recording left out, as was asked for; null if nothing.
inline Json left_out_json(const logdir::LeftOut& left_out) {
  if (left_out == logdir::LeftOut{}) return nullptr;
  return {{"ops", left_out.ops}, {"steps", left_out.steps}, {"ns", left_out.ns}};
}

/// Rules of the program that recorded; an empty list for most.
inline Json rule_hits_json(const std::vector<logdir::RuleHit>& hits) {
  Json list = Json::array();
  for (const logdir::RuleHit& hit : hits)
    list.push_back({{"rule", hit.rule},
                    {"level", hit.level},
                    {"expression", hit.expression},
                    {"reason", text_or_null(hit.reason)},
                    {"output_slot", hit.output_slot},
                    {"hits", hit.hits},
                    {"stopped", hit.stopped}});
  return list;
}

/// What became of them.
inline Json rule_outcomes_json(const std::vector<logdir::RuleHit>& outcomes) {
  Json list = rule_hits_json(outcomes);
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    list[i]["not_followed"] = outcomes[i].not_followed;
    list[i]["idle"] = outcomes[i].idle;
  }
  return list;
}

/// Prints one object as a line. Bytes that are not UTF-8 are replaced, so that every line can be parsed.
inline void print_line(const Json& object) { std::cout << findings::json_line(object); }

}  // namespace nanlens::cli
