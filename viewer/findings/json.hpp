/// @file
/// JSON whatever bytes a name holds.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace nanlens::findings {

using Json = nlohmann::ordered_json;

/// A string, or null if it is empty.
inline Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

/// The text of an object, with a line break. Bytes that are not UTF-8 are replaced.
[[nodiscard]] std::string json_text(const Json& object);
/// The same on a single line.
[[nodiscard]] std::string json_line(const Json& object);

}  // namespace nanlens::findings
