/// @file
/// What became of a program's rules, over several recordings.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <nanlens/config.hpp>
#include <nanlens/logdir/events.hpp>

namespace nanlens::inline NANLENS_ABI::logdir {

/// Adds up outcomes. A rule is the same where its name and its conditions are.
class RuleOutcomes {
 public:
  void add(const std::vector<RuleHit>& outcomes) {
    for (const RuleHit& one : outcomes) add(one);
  }
  void add(const RuleHit& outcome) {
    const auto [known, is_new] = numbers_.try_emplace({outcome.rule, outcome.expression}, list_.size());
    if (is_new) return list_.push_back(outcome);
    RuleHit& sum = list_[known->second];
    sum.hits += outcome.hits;
    sum.stopped = sum.stopped || outcome.stopped;
    sum.not_followed += outcome.not_followed;
    sum.idle = sum.idle && outcome.idle;
  }
  /// Each rule once, in the order in which they came.
  [[nodiscard]] const std::vector<RuleHit>& list() const noexcept { return list_; }

 private:
  std::vector<RuleHit> list_;
  std::map<std::pair<std::string, std::string>, std::size_t> numbers_;  // in the list, by name and conditions
};

}  // namespace nanlens::inline NANLENS_ABI::logdir
