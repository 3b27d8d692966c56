/// @file
/// JSON as text, and text as JSON: the one place that reads and writes it, which is most of what the library takes to
/// compile.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace nanlens::viewer {

/// On one line; names in a logdir may hold any bytes: those that are not UTF-8 become U+FFFD.
[[nodiscard]] std::string json_text(const nlohmann::json& value);

/// What a text says; discarded (`is_discarded()`) if it is no JSON.
[[nodiscard]] nlohmann::json json_of(std::string_view text);

}  // namespace nanlens::viewer
