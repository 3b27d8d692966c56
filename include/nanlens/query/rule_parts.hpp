/// @file
/// What a rule is once it is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <nanlens/config.hpp>
#include <nanlens/query/error.hpp>
#include <nanlens/query/node.hpp>

namespace nanlens::inline NANLENS_ABI::query {

/// What a hit means: an error makes a check fail.
enum class Level : std::uint8_t { error, warning, note };

/// "error", "warning", "note"
constexpr std::string_view name_of(Level level) noexcept {
  return level == Level::error ? "error" : level == Level::warning ? "warning" : "note";
}

struct Rule {
  std::string name;
  Level level = Level::error;
  std::string expression;  ///< as it was written
  std::string reason;
  Conditions conditions;
};

/// A line of a text of rules that can't be read.
struct RuleFault {
  std::size_t line = 0;
  std::string text;
  Error error;
};

}  // namespace nanlens::inline NANLENS_ABI::query
