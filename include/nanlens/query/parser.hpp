/// @file
/// The grammar of queries and of the conditions of rules.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nanlens/config.hpp>
#include <nanlens/query/names.hpp>
#include <nanlens/query/node.hpp>
#include <nanlens/query/numbers.hpp>
#include <nanlens/query/scanner.hpp>

namespace nanlens::inline NANLENS_ABI::query::detail {

/// What a text is. A rule's conditions come with changes, a total, and for how long; those that a program judges while
/// it runs ask nothing that is known afterwards alone.
enum class Grammar : std::uint8_t { query, rule, rule_in_program };

/// A parser of one text.
class Parser : private Scanner {
 public:
  Parser(std::string_view text, Error& error, RegexCompiler regexes, Grammar grammar = Grammar::query)
      : Scanner(text, error), regexes_(regexes), in_rule_(grammar != Grammar::query), grammar_(grammar) {}

  std::optional<Query> query() {
    skip_space();
    Query query;
    if (!at_end() && !parse_or(query.root)) return std::nullopt;
    if (!at_end()) {
      fail(at_, at_ + 1, Problem::no_open);
      return std::nullopt;
    }
    finish(query);
    return query;
  }
  std::optional<Conditions> conditions() {
    skip_space();
    if (!parse_or(conditions_.rows.root)) return std::nullopt;
    if (conditions_.rows.root.kind == Node::Kind::any && on_top_only_) {
      fail(on_top_only_->first, on_top_only_->second, Problem::not_on_top);
      return std::nullopt;
    }
    if (take_keyword("for") && !parse_duration()) return std::nullopt;
    if (!at_end()) {
      fail(at_, at_ + 1, peek() == ')' ? Problem::no_open : Problem::rule_has_more);
      return std::nullopt;
    }
    finish(conditions_.rows);
    return std::move(conditions_);
  }
  // What must all hold, as it is written; everything from what can't be read on as one part.
  std::vector<std::string> parts() {
    std::vector<std::string> found;
    compiles_ = false;
    depth_ = 1;
    for (skip_space(); !at_end();) {
      const std::size_t rest = at_;
      take_keyword("and");
      const std::size_t begin = at_;
      Node node;
      if (!parse_not(node) || peek() == ')') {
        found.emplace_back(without_end_space(text_.substr(rest)));
        break;
      }
      if (!at_end() && at_end_of_and()) return {std::string(text_)};
      found.emplace_back(without_end_space(text_.substr(begin, at_ - begin)));
    }
    return found;
  }

 private:
  void finish(Query& query) const {
    query.leaves = leaves_;
    query.uses_classes = uses_classes_;
    query.uses_calls = uses_calls_;
  }
  bool parse_or(Node& node) {
    if (++depth_ > 64) return fail(at_, at_ + 1, Problem::too_deep);
    Node first;
    if (!parse_and(first)) return false;
    std::vector<Node> children{std::move(first)};
    while (take_keyword("or") || take('|')) {
      Node next;
      if (!parse_and(next)) return false;
      children.push_back(std::move(next));
    }
    --depth_;
    collapse(node, Node::Kind::any, std::move(children));
    return true;
  }
  bool at_end_of_and() {
    return at_end() || peek() == ')' || peek() == '|' || at_keyword("or") || (in_rule_ && at_keyword("for"));
  }
  bool parse_and(Node& node) {
    std::vector<Node> children;
    do {
      take_keyword("and");
      Node next;
      if (!parse_not(next)) return false;
      children.push_back(std::move(next));
    } while (!at_end_of_and());
    // What is asked of numbers comes last: it needs the row's record.
    std::vector<Node> ordered;
    for (const bool numbers : {false, true})
      for (Node& child : children)
        if (child.asks_number() == numbers) ordered.push_back(std::exchange(child, {}));
    collapse(node, Node::Kind::all, std::move(ordered));
    return true;
  }
  static void collapse(Node& node, Node::Kind kind, std::vector<Node> children) {
    if (children.size() == 1) {
      Node only = std::move(children.front());
      node = std::move(only);
      return;
    }
    node.kind = kind;
    node.children = std::move(children);
  }
  bool parse_not(Node& node) {
    bool negated = false;
    const std::size_t begin = at_;
    while (take_keyword("not") || take('-') || take('!')) {
      negated = !negated;
      // Rules have reasons behind two: what was meant as one is no condition.
      if (in_rule_ && at_ >= 1 && text_[at_ - 1] == '-' && peek() == '-')
        return fail(at_ - 1, at_ + 1, Problem::two_dashes);
    }
    if (!negated) return parse_primary(node);
    const auto before = std::exchange(on_top_only_, std::nullopt);
    Node inner;
    if (!parse_primary(inner)) return false;
    if (on_top_only_) return fail(begin, on_top_only_->second, Problem::not_on_top);
    on_top_only_ = before;
    node.kind = Node::Kind::negation;
    node.children.push_back(std::move(inner));
    return true;
  }
  bool parse_primary(Node& node) {
    if (at_end_of_and() || at_keyword("and")) return fail(at_, at_ + 1, Problem::condition_missing);
    const std::size_t begin = at_;
    if (++conditions_read_ > most_conditions) return fail(begin, text_.size(), Problem::too_many);
    if (take('(')) {
      if (!parse_or(node)) return false;
      return take(')') || fail(begin, text_.size(), Problem::no_close);
    }
    if (peek() == '"' || peek() == '/') return parse_match(node, TextField::any);
    std::size_t end = at_;
    while (end < text_.size() && !ends_word(text_[end]) &&
           std::string_view(":=<>!").find(text_[end]) == std::string_view::npos)
      ++end;
    const std::string name = lower_case(text_.substr(at_, end - at_));
    const char next = end < text_.size() ? text_[end] : '\0';
    if (next == ':') return parse_field(node, name, begin, end);
    if (next == '=' || next == '<' || next == '>' || (next == '!' && text_.substr(end).starts_with("!=")))
      return in_rule_ && name == "count" ? parse_total(begin, end) : parse_comparison(node, name, begin, end);
    if (const auto field = find_name(number_names, name); in_rule_ && field && at_change(end))
      return parse_change(*field, begin, end);
    if (const auto flag = find_name(flag_names, name)) {
      at_ = end;
      if (refuses(*flag, begin, end)) return false;
      skip_space();
      set_flag(node, *flag);
      return true;
    }
    return parse_match(node, TextField::any);
  }
  // Of a word that only the whole recording answers: fails.
  template <class Word>
  bool refuses(Word word, std::size_t begin, std::size_t end) {
    if (grammar_ != Grammar::rule_in_program || !is_known_afterwards(word)) return false;
    fail(begin, end, Problem::check_only, std::string(text_.substr(begin, end - begin)));
    return true;
  }
  void set_flag(Node& node, Flag flag) {
    node.kind = Node::Kind::flag;
    node.flag = flag;
    uses_classes_ = uses_classes_ || (flag >= Flag::made && flag <= Flag::expected);
    uses_calls_ = uses_calls_ || flag == Flag::first || flag == Flag::function || flag == Flag::eager;
  }
  bool parse_field(Node& node, const std::string& name, std::size_t begin, std::size_t colon) {
    if (const auto field = find_name(text_names, name)) {
      at_ = colon + 1;
      if (refuses(*field, begin, colon)) return false;
      uses_classes_ = uses_classes_ || *field == TextField::event_class;
      return parse_match(node, *field);
    }
    if (const auto field = find_name(number_names, name)) {
      at_ = colon + 1;
      if (refuses(*field, begin, colon)) return false;
      node.kind = Node::Kind::range;
      set_number(node, *field);
      return parse_range(node);
    }
    // Names of tensors have colons of their own: "Log:0".
    if (colon + 1 < text_.size() && is_digit(text_[colon + 1])) return parse_match(node, TextField::any);
    return fail(begin, colon, Problem::no_field, name, nearest_name(name));
  }
  void set_number(Node& node, NumberField field) {
    node.number_field = field;
    uses_calls_ = uses_calls_ || field == NumberField::exec;
  }
  bool parse_comparison(Node& node, const std::string& name, std::size_t begin, std::size_t end) {
    const auto field = find_name(number_names, name);
    if (!field) return fail(begin, end, Problem::no_number, name, nearest_name(name));
    if (refuses(*field, begin, end)) return false;
    node.kind = Node::Kind::number;
    set_number(node, *field);
    return parse_compared(end, node.comparison, node.low, node.percent);
  }
  bool parse_compared(std::size_t at, Comparison& comparison, double& value, bool& percent) {
    at_ = at;
    const bool two = at_ + 1 < text_.size() && text_[at_ + 1] == '=';
    switch (text_[at_]) {
      case '=': comparison = Comparison::equal; break;
      case '!': comparison = Comparison::not_equal; break;
      case '<': comparison = two ? Comparison::less_equal : Comparison::less; break;
      default: comparison = two ? Comparison::greater_equal : Comparison::greater; break;
    }
    at_ += two ? 2 : 1;
    skip_space();
    if (!parse_number(value, percent)) return false;
    skip_space();
    return true;
  }
  bool parse_range(Node& node) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const std::size_t begin = at_;
    const bool open = text_.substr(at_).starts_with("..");
    node.low = -infinity;
    if (!open && !parse_number(node.low, node.percent)) return false;
    node.high = node.low;
    if (text_.substr(at_).starts_with("..")) {
      at_ += 2;
      node.high = infinity;
      bool percent = node.percent;
      if (!ends_word(peek()) && !parse_number(node.high, percent)) return false;
      // From a number of elements to a share of them: only 0 is the same as both.
      const bool low_is_both = open || node.low == 0;
      if (percent != node.percent && !(percent && low_is_both)) return fail(begin, at_, Problem::number_odd);
      node.percent = percent;
    }
    skip_space();
    return true;
  }
  bool parse_match(Node& node, TextField field) {
    const std::size_t begin = at_;
    std::string pattern;
    bool is_regex = false;
    if (!parse_pattern(pattern, is_regex)) return false;
    if (is_regex && compiles_) {
      Error wrong{0, pattern.size(), Problem::regex_unsupported};
      auto regex = regexes_ == nullptr ? nullptr : regexes_(pattern, wrong);
      if (regex == nullptr) return fail(begin + 1 + wrong.begin, begin + 1 + wrong.end, wrong.problem);
      node.match.emplace(std::move(regex));
    } else {
      node.match.emplace(pattern);
    }
    skip_space();
    node.kind = Node::Kind::text;
    node.text_field = field;
    node.leaf = leaves_++;
    uses_calls_ = uses_calls_ || field == TextField::call;
    return true;
  }

  // Marks a condition that belongs beside all others.
  bool on_top(std::size_t begin) {
    if (depth_ > 1) return fail(begin, at_, Problem::not_on_top);
    if (!on_top_only_) on_top_only_.emplace(begin, at_);
    return true;
  }
  bool parse_total(std::size_t begin, std::size_t end) {
    if (grammar_ == Grammar::rule_in_program) return fail(begin, end, Problem::check_only, "count");
    Total total;
    bool percent = false;
    if (!parse_compared(end, total.comparison, total.value, percent)) return false;
    if (percent) return fail(begin, at_, Problem::number_odd);
    if (conditions_.total) return fail(begin, at_, Problem::two_totals);
    conditions_.total = total;
    return on_top(begin);
  }
  bool at_change(std::size_t end) {
    const std::size_t before = std::exchange(at_, end);
    skip_space();
    const bool is_it = at_ > end && (at_keyword("grows") || at_keyword("shrinks"));
    at_ = before;
    return is_it;
  }
  // "norm grows 10x in 3 calls", from "grows" on.
  bool parse_change(NumberField field, std::size_t begin, std::size_t end) {
    Change change;
    change.field = field;
    at_ = end;
    if (needed_for(field) == Needed::nothing)
      return fail(begin, end, Problem::change_field, std::string(name_of(field)));
    skip_space();
    change.shrinks = !take_keyword("grows") && take_keyword("shrinks");
    std::size_t length = 0;
    change.factor = number_at(length);
    at_ += length;
    if (length == 0 || change.factor <= 1 || (peek() != 'x' && peek() != 'X') ||
        (++at_,
         !ends_word(peek()) || (skip_space(), !take_keyword("in")) || !parse_calls(change.calls, most_calls_compared)))
      return fail(begin, std::max(at_, end) + 1, Problem::change_wording);
    conditions_.changes.push_back(change);
    return on_top(begin);
  }
  bool parse_calls(std::uint32_t& calls, std::uint32_t most) {
    std::size_t length = 0;
    const double number = number_at(length);
    if (length == 0 || number < 1 || number > most || number != static_cast<std::uint32_t>(number)) return false;
    at_ += length;
    skip_space();
    calls = static_cast<std::uint32_t>(number);
    return take_keyword("calls") || take_keyword("call");
  }
  bool parse_duration() {
    const std::size_t begin = at_;
    constexpr std::uint32_t most = 1000000;
    if (!parse_calls(conditions_.calls, most)) return fail(begin, std::max(at_, begin) + 1, Problem::calls_wording);
    return true;
  }

  RegexCompiler regexes_;
  bool in_rule_;
  Grammar grammar_;
  bool compiles_ = true;  // regular expressions
  Conditions conditions_;
  std::optional<std::pair<std::size_t, std::size_t>> on_top_only_;
  int depth_ = 0;
  std::uint32_t conditions_read_ = 0;
  std::uint32_t leaves_ = 0;
  bool uses_classes_ = false;
  bool uses_calls_ = false;
};

}  // namespace nanlens::inline NANLENS_ABI::query::detail
