/// @file
/// Judges outputs by rules as they are recorded.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <nanlens/capture/hash.hpp>
#include <nanlens/capture/rule_engine.hpp>
#include <nanlens/capture/rule_texts.hpp>
#include <nanlens/config.hpp>
#include <nanlens/query/calls.hpp>
#include <nanlens/query/rule_parts.hpp>
#include <nanlens/query/seen.hpp>
#include <nanlens/query/tensor_conditions.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN detail {

/// Answers the conditions of a rule of one output.
class EventMatcher {
 public:
  explicit EventMatcher(const RuleEvent& event) : event_(event) {
    facts_.health = event.health;
    if (event.has_statistics)
      facts_.statistics = query::recorded_statistics(event.min, event.max, event.mean, event.norm);
  }
  [[nodiscard]] const query::TensorFacts& facts() const noexcept { return facts_; }
  [[nodiscard]] query::Truth operator()(const query::Node& node) const {
    return query::ask(node, [&](const query::Node& leaf) { return ask_leaf(leaf); });
  }
  /// What holds of all calls of the op, or of those with tensors of the same dtype; the rest is not known yet.
  [[nodiscard]] query::Truth of_all_calls(const query::Node& node, bool of_dtype) const {
    return query::ask(node, [&](const query::Node& leaf) {
      const bool is_known =
          leaf.kind == query::Node::Kind::text &&
          (query::detail::decided_by_op(leaf.text_field) || (of_dtype && leaf.text_field == query::TextField::dtype));
      return is_known ? ask_leaf(leaf) : query::Truth::unknown;
    });
  }

 private:
  [[nodiscard]] query::Truth ask_leaf(const query::Node& node) const {
    if (node.kind == query::Node::Kind::flag) return ask_flag(node.flag);
    if (node.kind == query::Node::Kind::text) return ask_text(node);
    if (node.number_field == query::NumberField::slot)
      return query::truth_of(query::detail::compare(event_.slot, node, node.low, node.high));
    const auto holds = query::detail::ask_number(node, facts_);
    return holds ? query::truth_of(*holds) : query::Truth::unknown;
  }
  [[nodiscard]] query::Truth ask_flag(query::Flag flag) const {
    const bool bad = event_.health.bad();
    const bool told = (event_.row_flags & logdir::has_summary_flag) != 0;
    const bool lacking = !bad && query::detail::lacks_health(mode(), event_.health);
    switch (flag) {
      case query::Flag::bad: return lacking ? query::Truth::unknown : query::truth_of(bad);
      case query::Flag::ok: return lacking ? query::Truth::unknown : query::truth_of(told && !bad);
      case query::Flag::empty:
        return query::truth_of(!event_.is_execution && (event_.row_flags & logdir::empty_flag) != 0);
      case query::Flag::unchecked: return query::truth_of(!told);
      default: break;
    }
    const auto constant = query::is_constant(facts_);
    return constant ? query::truth_of(*constant) : query::Truth::unknown;
  }
  [[nodiscard]] query::Truth ask_text(const query::Node& node) const {
    switch (node.text_field) {
      case query::TextField::dtype: return query::detail::ask_dtype(*node.match, mode(), event_.health);
      case query::TextField::device: return query::truth_of((*node.match)(event_.device.view()));
      case query::TextField::mode: return query::truth_of((*node.match)(debug_mode_name(mode())));
      default: break;
    }
    const query::OpTexts op{event_.op_name.view(), event_.op_type.view(), event_.graph_name.view(),
                            !event_.is_execution};
    return query::truth_of(query::detail::matches_op(node, op, event_.slot));
  }
  [[nodiscard]] TensorDebugMode mode() const noexcept { return static_cast<TensorDebugMode>(event_.mode); }

  const RuleEvent& event_;
  query::TensorFacts facts_;
};

/// The rules of a recording, and what became of them. Any thread may judge.
class RuleBook {
 public:
  /// No more outputs than these are followed by rules that ask several calls, of all such rules together: others are
  /// not judged by them, which is counted. Of no more is it remembered that another rule has held there.
  static constexpr std::size_t most_outputs = 65536;

  /// `say` is told when outputs are not followed, once.
  RuleBook(std::vector<query::Rule> rules, void (*say)(void* to, TextRef what), void* to) : say_(say), to_(to) {
    for (query::Rule& rule : rules) rules_.emplace_back(std::move(rule));
  }
  [[nodiscard]] std::size_t size() const noexcept { return rules_.size(); }
  [[nodiscard]] RuleRef rule(std::size_t number) const noexcept {
    const query::Rule& rule = rules_[number].rule;
    return {std::string_view(rule.name), name_of(rule.level), std::string_view(rule.expression),
            std::string_view(rule.reason), rule.level == query::Level::error};
  }
  [[nodiscard]] RuleCounts counts(std::size_t number) const noexcept {
    const Entry& entry = rules_[number];
    return {entry.hits.load(std::memory_order_relaxed), entry.not_followed.load(std::memory_order_relaxed),
            entry.idle.load(std::memory_order_relaxed)};
  }
  [[nodiscard]] bool asks_statistics() const {
    return std::any_of(rules_.begin(), rules_.end(), [](const Entry& entry) {
      return query::detail::any_within(entry.rule.conditions.rows.root, &is_statistic) ||
             std::any_of(entry.rule.conditions.changes.begin(), entry.rule.conditions.changes.end(),
                         [](const query::Change& change) { return asks_statistic(change.field); });
    });
  }
  // A call with another dtype is one of those that rules look back at.
  [[nodiscard]] RulesAbout about(const RuleEvent& event) const {
    const EventMatcher matcher(event);
    RulesAbout all;
    std::uint64_t not_selected = 0;
    for (std::size_t i = 0; i < rules_.size(); ++i) {
      const query::Truth of_all = matcher.of_all_calls(rules_[i].apart.selection().root, !rules_[i].looks_back);
      if (of_all != query::Truth::no) all.rules |= bit_of(i);
      if (of_all != query::Truth::yes) not_selected |= bit_of(i);
    }
    all.selected = all.rules & ~not_selected;
    return all;
  }
  template <class Take>
  void judge(const RulesAbout& about, const RuleEvent& event, const Take& take) {
    const EventMatcher matcher(event);
    for (std::size_t i = 0; i < rules_.size(); ++i)
      if ((about.rules & bit_of(i)) != 0) judge_by(i, (about.selected & bit_of(i)) != 0, event, matcher, take);
  }

 private:
  struct Entry {
    explicit Entry(query::Rule r)
        : rule(std::move(r)),
          apart(rule.conditions),
          looks_back(rule.conditions.calls > 1 || !rule.conditions.changes.empty()) {}
    query::Rule rule;
    query::ConditionsApart apart;
    bool looks_back;  // at the calls before
    std::atomic<std::uint64_t> hits{0};
    std::atomic<std::uint64_t> not_followed{0};  // rows that there was no room for
    std::atomic<bool> idle{true};                // it was about no output so far
    std::atomic<std::size_t> streaks{0};         // outputs at whose last call it held
  };
  struct Output {
    query::Calls calls;
    bool held = false;
  };
  static std::uint64_t bit_of(std::size_t rule) noexcept { return std::uint64_t{1} << std::min<std::size_t>(rule, 63); }
  static bool asks_statistic(query::NumberField field) { return query::needed_for(field) == query::Needed::statistics; }
  static bool is_statistic(const query::Node& node) {
    if (node.kind == query::Node::Kind::flag) return node.flag == query::Flag::constant;
    return node.asks_number() && asks_statistic(node.number_field);
  }

  template <class Take>
  void judge_by(std::size_t number, bool selected, const RuleEvent& event, const EventMatcher& matcher,
                const Take& take) {
    Entry& entry = rules_[number];
    const query::OfRow of_row =
        entry.apart.of_row(matcher, selected ? query::Truth::yes : matcher(entry.apart.selection().root));
    using About = query::OfRow::About;
    if (of_row.about == About::no && !(entry.looks_back && entry.apart.calls_differ())) return;
    // Written once: threads would take the line from each other.
    if (of_row.about != About::no && entry.idle.load(std::memory_order_relaxed))
      entry.idle.store(false, std::memory_order_relaxed);
    // Of an output at whose last call it did not hold there is nothing to forget.
    const bool compares = !entry.rule.conditions.changes.empty();
    if (!compares && of_row.holds != query::Truth::yes && entry.streaks.load(std::memory_order_relaxed) == 0) return;
    Held held;
    bool is_full = false;
    {
      const std::lock_guard guard(lock_);
      const bool remember = compares ? of_row.about != About::no : of_row.holds == query::Truth::yes;
      Output* const output = output_of(entry, mix(event.op_key, number), remember);
      held = note(entry, output, of_row, matcher);
      // Counted here: the first of all is told, at whatever output and in whatever thread it is.
      if (held.now) held.hits = entry.hits.fetch_add(1, std::memory_order_relaxed) + 1;
      if (output == nullptr && remember && entry.looks_back) {
        entry.not_followed.fetch_add(1, std::memory_order_relaxed);
        is_full = !std::exchange(said_full_, true);
      }
    }
    if (is_full) say_full(entry.rule);
    if (!held.first && held.hits != 1) return;
    std::vector<query::NumberSeen> numbers;
    query::detail::collect_numbers(entry.rule.conditions.rows.root, matcher.facts(), numbers);
    const std::string words = query::detail::words_of(numbers, held.changes, entry.rule.conditions.calls);
    take(RuleHolds{number, held.hits, held.hits == 1, std::string_view(words)});
  }

  struct Held {
    bool now = false;
    bool first = false;      // at this output
    std::uint64_t hits = 0;  // of the rule, with this one; 0: it does not hold
    std::vector<query::ChangeSeen> changes;
  };
  // What is said of the row becomes a part of the output's calls.
  static Held note(Entry& entry, Output* output, const query::OfRow& of_row, const EventMatcher& matcher) {
    Held held;
    if (output == nullptr) {
      held.now = !entry.looks_back && of_row.holds == query::Truth::yes;
      return held;
    }
    query::Truth holds = of_row.holds;
    if (!entry.rule.conditions.changes.empty())
      holds = query::both(holds, output->calls.compare(entry.rule.conditions.changes, &matcher.facts(), held.changes,
                                                       [](std::string_view) {}));
    const bool held_before = output->calls.streak() > 0;
    held.now = output->calls.count(holds, entry.rule.conditions.calls);
    const bool holds_now = output->calls.streak() > 0;
    if (entry.looks_back && holds_now != held_before)
      entry.streaks.fetch_add(holds_now ? 1 : ~std::size_t{0}, std::memory_order_relaxed);
    held.first = held.now && !std::exchange(output->held, true);
    return held;
  }
  // Null: there is none, or no room for one more. What rules of one call hold at takes no room from the others.
  Output* output_of(const Entry& entry, std::uint64_t key, bool make) {
    const auto found = outputs_.find(key);
    if (found != outputs_.end()) return &found->second;
    std::size_t& taken = entry.looks_back ? num_followed_ : num_held_;
    if (!make || taken == most_outputs) return nullptr;
    Output& output = outputs_[key];
    ++taken;
    return &output;
  }
  void say_full(const query::Rule& rule) const {
    const std::string what = "not judged: rules that ask several calls of an output follow " +
                             std::to_string(most_outputs) + " outputs, and there are more; the first is one of \"" +
                             rule.name + "\"";
    say_(to_, std::string_view(what));
  }

  std::deque<Entry> rules_;
  void (*say_)(void* to, TextRef what);
  void* to_;
  std::mutex lock_;
  std::unordered_map<std::uint64_t, Output> outputs_;  // by output and rule
  std::size_t num_followed_ = 0;
  std::size_t num_held_ = 0;
  bool said_full_ = false;
};

/// Runs a part of the engine; what runs out of memory is not judged.
template <class Body>
void judging(Body&& body) noexcept {
#if NANLENS_HAS_EXCEPTIONS
  try {
#endif
    body();
#if NANLENS_HAS_EXCEPTIONS
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): the program goes on, and so does the recording
  }
#endif
}

inline void* begin_rules(const RuleTexts& texts, void (*say)(void* to, TextRef what), void* to) noexcept {
  RuleBook* book = nullptr;
  judging([&] {
    RuleTextReader reader(say, to);
    for (std::size_t i = 0; i < texts.num_items; ++i) reader.read(texts.items[i].view());
    reader.say_unjudged(static_cast<TensorDebugMode>(texts.mode), texts.statistics);
    std::vector<query::Rule> rules = std::move(reader).rules();
    if (!rules.empty()) book = std::make_unique<RuleBook>(std::move(rules), say, to).release();
  });
  return book;
}

inline constexpr RuleEngine rule_engine{
    &begin_rules,
    [](void* book) noexcept { delete static_cast<RuleBook*>(book); },
    [](const void* book) noexcept { return static_cast<const RuleBook*>(book)->size(); },
    [](const void* book, std::size_t number) noexcept { return static_cast<const RuleBook*>(book)->rule(number); },
    [](const void* book, std::size_t number) noexcept { return static_cast<const RuleBook*>(book)->counts(number); },
    [](const void* book) noexcept { return static_cast<const RuleBook*>(book)->asks_statistics(); },
    [](const void* book, const RuleEvent& event) noexcept {
      RulesAbout about;
      judging([&] { about = static_cast<const RuleBook*>(book)->about(event); });
      return about;
    },
    [](void* book, const RulesAbout& about, const RuleEvent& event, void (*take)(void* to, const RuleHolds& what),
       void* to) noexcept {
      judging(
          [&] { static_cast<RuleBook*>(book)->judge(about, event, [&](const RuleHolds& what) { take(to, what); }); });
    },
};

}  // namespace NANLENS_HIDDEN detail
}  // namespace nanlens::inline NANLENS_ABI
