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
  std::string whole;     ///< the line as it stands there
  std::string text;      ///< the rule in it
  bool off = false;
  std::string name;  ///< empty: it has none, and can't be read
  RuleLevel level = RuleLevel::error;
  std::string conditions;
  std::string reason;
};

/// The rule with these parts: "warning dead relu: zero>95% -- a reason".
[[nodiscard]] std::string rule_of_parts(const std::string& name, RuleLevel level, const std::string& conditions,
                                        const std::string& reason);
/// In one line.
[[nodiscard]] std::string one_line(const std::string& text);
/// "error", "warning", "note", as rules have it.
[[nodiscard]] const char* level_word(RuleLevel level);

/// The rule of this name; one that is on before one that is off.
[[nodiscard]] std::optional<WrittenRule> find_rule(const std::vector<RulesText>& texts, const std::string& name);
/// The rule in a line.
[[nodiscard]] std::optional<WrittenRule> rule_at(const std::vector<RulesText>& texts, std::size_t file,
                                                 std::size_t line);
/// The rule that is written so: in this line if it is there still, else wherever it is now, in that text first.
[[nodiscard]] std::optional<WrittenRule> rule_written(const std::vector<RulesText>& texts, const std::string& text,
                                                      std::size_t file, std::size_t line);
/// The standard rules that these texts lack, and their comments. `count`: how many rules.
[[nodiscard]] std::string standard_rules_beside(const std::vector<RulesText>& texts, std::size_t& count);
/// All names.
[[nodiscard]] std::vector<std::string> rule_names(const std::vector<RulesText>& texts);

/// In quotes for a shell.
[[nodiscard]] std::string quoted(const std::string& text);

}  // namespace nanlens::viewer
