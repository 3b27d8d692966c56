/// @file
/// Rules of several places: files that ship, of a project and of a logdir, and those that a person gives.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nanlens/config.hpp>
#include <nanlens/query/error.hpp>
#include <nanlens/query/rule_parts.hpp>

namespace nanlens::inline NANLENS_ABI::query {

/// Where rules come from.
struct RulePlace {
  std::string name;  ///< as a message names it
  int nearness = 0;  ///< of two rules with one name that of the nearer place is taken
};

/// Gathers rules, each name once.
class NearestRules {
 public:
  /// Adds a rule. Nothing, or why it can't be added: its place has another one of this name, or there are too many.
  /// `on_hidden` is told the place whose rule is left out, and the one whose rule stays; not of two that are alike.
  template <class OnHidden>
  std::optional<Problem> add(Rule rule, const RulePlace& place, const OnHidden& on_hidden) {
    const auto same = std::find_if(rules_.begin(), rules_.end(), [&](const Rule& r) { return r.name == rule.name; });
    if (same == rules_.end()) {
      if (rules_.size() >= most_rules) return Problem::too_many_rules;
      rules_.push_back(std::move(rule));
      places_.push_back(place);
      return std::nullopt;
    }
    RulePlace& of_same = places_[static_cast<std::size_t>(same - rules_.begin())];
    if (place.nearness == of_same.nearness) return Problem::name_taken;
    const bool is_nearer = place.nearness > of_same.nearness;
    if (!are_alike(*same, rule)) on_hidden(is_nearer ? of_same : place, is_nearer ? place : of_same);
    if (!is_nearer) return std::nullopt;
    *same = std::move(rule);
    of_same = place;
    return std::nullopt;
  }
  [[nodiscard]] const std::vector<Rule>& list() const noexcept { return rules_; }
  /// Takes the rules out.
  [[nodiscard]] std::vector<Rule> take() && { return std::move(rules_); }
  /// How many are those of a place?
  [[nodiscard]] std::size_t num_of(const RulePlace& place) const {
    return static_cast<std::size_t>(std::count_if(
        places_.begin(), places_.end(), [&](const RulePlace& other) { return other.nearness == place.nearness; }));
  }

 private:
  static bool are_alike(const Rule& a, const Rule& b) {
    return a.level == b.level && a.expression == b.expression && a.reason == b.reason;
  }

  std::vector<Rule> rules_;
  std::vector<RulePlace> places_;  // of each
};

}  // namespace nanlens::inline NANLENS_ABI::query
