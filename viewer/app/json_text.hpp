/// @file
/// JSON as text. Names in a logdir may hold any bytes: this is the one place where they become UTF-8.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace nanlens::viewer {

/// On one line; bytes that are not UTF-8 become U+FFFD.
inline std::string json_text(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace nanlens::viewer
