/// @file
/// Rules as they stand in their texts: found, taken apart, put together.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/protocol.hpp"

namespace nanlens::viewer {

/// A rule where it is written.
struct WrittenRule {
  std::size_t file = 0;
  std::size_t line = 0;  ///< from 0
  std::string text;
  bool off = false;
  std::string name;
  RuleLevel level = RuleLevel::error;
  std::string conditions;
  std::string reason;
};

/// The parts of a rule, also of one that can't be read.
[[nodiscard]] WrittenRule parts_of_rule(std::string_view text);
/// The line with them: "warning dead relu: zero>95% -- a reason".
[[nodiscard]] std::string rule_of_parts(const std::string& name, RuleLevel level, const std::string& conditions,
                                        const std::string& reason);
/// "error", "warning", "note", as rules have it.
[[nodiscard]] const char* level_word(RuleLevel level);

/// The rule of this name; one that is on before one that is off.
[[nodiscard]] std::optional<WrittenRule> find_rule(const std::vector<RulesText>& texts, const std::string& name);
/// The rule in a line.
[[nodiscard]] std::optional<WrittenRule> rule_at(const std::vector<RulesText>& texts, std::size_t file,
                                                 std::size_t line);
/// All names.
[[nodiscard]] std::vector<std::string> rule_names(const std::vector<RulesText>& texts);

/// In quotes for a shell.
[[nodiscard]] std::string quoted(const std::string& text);

}  // namespace nanlens::viewer
