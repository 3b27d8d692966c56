/// @file
/// Causes as a person counts them: what one op does on one source line, again and again, is one cause, and so are the
/// outputs of one call. Ops of one hook, which share a line, are told apart by their names; and what an op made from
/// what was bad already when it got it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <nanlens/causes/causes.hpp>

namespace nanlens::causes {

struct CauseGroup {
  std::uint32_t root = none;         ///< the one to tell: the first, of those that are known if any is
  std::vector<std::uint32_t> roots;  ///< by time
  std::uint64_t count = 0;           ///< how often it happened; outputs of one call count once
  std::uint64_t reach = 0;           ///< bad events that follow from any of them
  std::uint64_t unknown_reach = 0;   ///< where `root` is known: those, not in `reach`, that follow from unknown ones
};

/// The first `most` of a list, for where there is no room for all: the last of them is then the one of the others from
/// which most follows.
inline std::vector<const CauseGroup*> shortened(std::vector<const CauseGroup*> groups, std::size_t most) {
  if (groups.size() <= most || most == 0) return groups;
  const auto last = groups.begin() + static_cast<std::ptrdiff_t>(most - 1);
  std::iter_swap(
      last, std::max_element(last, groups.end(), [](const auto* a, const auto* b) { return a->reach < b->reach; }));
  groups.resize(most);
  return groups;
}

/// The causes of a run, for as long as its analysis does not go on. Every list and every count of causes comes from
/// here.
class CauseGroups {
 public:
  explicit CauseGroups(Causes& causes);

  /// The group of the headline first, the others by time. What is expected is left out, and what is only a further
  /// producer on the way of another cause.
  [[nodiscard]] const std::vector<CauseGroup>& list() const noexcept { return groups_; }
  /// The cause to show; none if there is none.
  [[nodiscard]] std::uint32_t headline() const noexcept { return groups_.empty() ? none : groups_.front().root; }
  /// What is expected, by op type and line.
  [[nodiscard]] const std::vector<CauseGroup>& expected() const noexcept { return expected_; }
  /// The group of a root; null if it is in none.
  [[nodiscard]] const CauseGroup* find(std::uint32_t root) const;

 private:
  void add(std::uint32_t root, const std::string& key);
  [[nodiscard]] std::uint32_t group_for(std::uint32_t root, const std::string& key) const;
  void gather_expected();
  [[nodiscard]] bool is_known(std::uint32_t root) const;
  [[nodiscard]] std::uint16_t slot_of(EventRef event);
  void count(CauseGroup& group);
  void lead_with(std::uint32_t headline);
  [[nodiscard]] std::string key_of(EventRef event, bool named = true);
  [[nodiscard]] std::string key_of_op(std::uint32_t op);
  [[nodiscard]] bool is_called_by_line(EventRef event, const std::vector<reader::StackFrame>& frames);
  [[nodiscard]] bool shares_line(const std::vector<reader::StackFrame>& frames, std::string_view op_name);
  [[nodiscard]] std::string key_of_execution(EventRef event, bool named);

  Causes& causes_;
  std::vector<CauseGroup> groups_;
  std::vector<bool> is_trapped_;  // before the headline's is put first
  std::vector<CauseGroup> expected_;
  std::vector<std::uint32_t> group_of_root_;
  std::map<std::uint32_t, std::uint32_t> expected_of_root_;
  std::multimap<std::string, std::uint32_t> groups_of_key_;
  std::map<std::uint32_t, std::string> key_of_op_;
  std::map<std::string, std::string> last_key_of_type_;
  std::size_t stacks_read_ = 0;
};

}  // namespace nanlens::causes

#if !defined(NANLENS_SPLIT)
#include <nanlens/causes/groups.inl>
#endif
