#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <limits>
#include <utility>

#include "filter.hpp"
#include "lower_case.hpp"
#include "texts/texts.hpp"

namespace nanlens::viewer::filter {

namespace {

constexpr std::array flags = {
    std::pair{std::string_view("bad"), Flag::bad},           std::pair{std::string_view("ok"), Flag::ok},
    std::pair{std::string_view("first"), Flag::first},       std::pair{std::string_view("made"), Flag::made},
    std::pair{std::string_view("passed"), Flag::passed},     std::pair{std::string_view("removed"), Flag::removed},
    std::pair{std::string_view("source"), Flag::source},     std::pair{std::string_view("unknown"), Flag::unknown},
    std::pair{std::string_view("expected"), Flag::expected}, std::pair{std::string_view("pinned"), Flag::pinned},
    std::pair{std::string_view("input"), Flag::input},       std::pair{std::string_view("consumer"), Flag::consumer},
    std::pair{std::string_view("function"), Flag::function}, std::pair{std::string_view("eager"), Flag::eager},
    std::pair{std::string_view("empty"), Flag::empty},       std::pair{std::string_view("unchecked"), Flag::unchecked}};
constexpr std::array texts = {std::pair{std::string_view("op"), TextField::op},
                              std::pair{std::string_view("type"), TextField::type},
                              std::pair{std::string_view("graph"), TextField::graph},
                              std::pair{std::string_view("call"), TextField::call},
                              std::pair{std::string_view("device"), TextField::device},
                              std::pair{std::string_view("host"), TextField::host},
                              std::pair{std::string_view("dtype"), TextField::dtype},
                              std::pair{std::string_view("file"), TextField::file},
                              std::pair{std::string_view("fn"), TextField::fn},
                              std::pair{std::string_view("mode"), TextField::mode},
                              std::pair{std::string_view("class"), TextField::event_class}};
constexpr std::array numbers = {std::pair{std::string_view("nan"), NumberField::nan},
                                std::pair{std::string_view("inf"), NumberField::inf},
                                std::pair{std::string_view("ninf"), NumberField::ninf},
                                std::pair{std::string_view("pinf"), NumberField::pinf},
                                std::pair{std::string_view("neg"), NumberField::neg},
                                std::pair{std::string_view("zero"), NumberField::zero},
                                std::pair{std::string_view("pos"), NumberField::pos},
                                std::pair{std::string_view("size"), NumberField::size},
                                std::pair{std::string_view("rank"), NumberField::rank},
                                std::pair{std::string_view("row"), NumberField::row},
                                std::pair{std::string_view("exec"), NumberField::exec},
                                std::pair{std::string_view("slot"), NumberField::slot},
                                std::pair{std::string_view("time"), NumberField::time},
                                std::pair{std::string_view("line"), NumberField::line},
                                std::pair{std::string_view("min"), NumberField::min},
                                std::pair{std::string_view("max"), NumberField::max},
                                std::pair{std::string_view("job_rank"), NumberField::job_rank}};

template <class Table>
auto find(const Table& table, std::string_view name) -> std::optional<decltype(table[0].second)> {
  for (const auto& [key, value] : table)
    if (key == name) return value;
  return std::nullopt;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t cost = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, cost});
    }
  }
  return row[b.size()];
}

std::string nearest_name(const std::string& name) {
  std::string best;
  std::size_t distance = std::numeric_limits<std::size_t>::max();
  const auto consider = [&](std::string_view candidate) {
    const std::size_t d = edit_distance(name, candidate);
    if (d < distance) {
      distance = d;
      best = candidate;
    }
  };
  for (const auto& entry : texts) consider(entry.first);
  for (const auto& entry : numbers) consider(entry.first);
  return best;
}

class Parser {
 public:
  Parser(std::string_view text, Error& error) : text_(text), error_(error) {}

  std::optional<Query> run() {
    skip_space();
    Query query;
    if (at_ < text_.size() && !parse_or(query.root)) return std::nullopt;
    if (at_ < text_.size()) {
      fail(at_, at_ + 1, tr(Text::filter_no_open));
      return std::nullopt;
    }
    query.leaves = leaves_;
    query.uses_classes = uses_classes_;
    query.uses_calls = uses_calls_;
    return query;
  }

  // What must all hold, as it is written; everything from what can't be read on as one part.
  std::vector<std::string> parts() {
    std::vector<std::string> found;
    depth_ = 1;
    for (skip_space(); at_ < text_.size();) {
      const std::size_t rest = at_;
      take_keyword("and");
      const std::size_t begin = at_;
      Node node;
      if (!parse_not(node) || peek() == ')') {
        found.emplace_back(without_end_space(text_.substr(rest)));
        break;
      }
      if (at_ < text_.size() && at_end_of_and()) return {std::string(text_)};
      found.emplace_back(without_end_space(text_.substr(begin, at_ - begin)));
    }
    return found;
  }

 private:
  static std::string_view without_end_space(std::string_view text) {
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.remove_suffix(1);
    return text;
  }
  bool fail(std::size_t begin, std::size_t end, std::string reason) {
    error_ = {begin, std::min(end, text_.size()), std::move(reason)};
    return false;
  }
  void skip_space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  static bool ends_word(char c) {
    return c == '\0' || std::isspace(static_cast<unsigned char>(c)) != 0 || c == '(' || c == ')' || c == '|';
  }
  // A word that stands alone: "or", "and", "not".
  bool take_keyword(std::string_view word) {
    const std::size_t end = at_ + word.size();
    if (end > text_.size() || lower_case(text_.substr(at_, word.size())) != word) return false;
    if (end < text_.size() && !ends_word(text_[end])) return false;
    at_ = end;
    skip_space();
    return true;
  }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    skip_space();
    return true;
  }

  bool parse_or(Node& node) {
    if (++depth_ > 64) return fail(at_, at_ + 1, tr(Text::filter_too_deep));
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
  bool at_keyword(std::string_view word) {
    const std::size_t before = at_;
    const bool is_it = take_keyword(word);
    at_ = before;
    return is_it;
  }
  bool at_end_of_and() { return at_ >= text_.size() || peek() == ')' || peek() == '|' || at_keyword("or"); }
  bool parse_and(Node& node) {
    std::vector<Node> children;
    do {
      take_keyword("and");
      Node next;
      if (!parse_not(next)) return false;
      children.push_back(std::move(next));
    } while (!at_end_of_and());
    collapse(node, Node::Kind::all, std::move(children));
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
    while (take_keyword("not") || take('-') || take('!')) negated = !negated;
    if (!negated) return parse_primary(node);
    Node inner;
    if (!parse_primary(inner)) return false;
    node.kind = Node::Kind::negation;
    node.children.push_back(std::move(inner));
    return true;
  }
  bool parse_primary(Node& node) {
    if (at_end_of_and() || at_keyword("and")) return fail(at_, at_ + 1, tr(Text::filter_missing));
    const std::size_t begin = at_;
    if (++conditions_ > most_conditions)
      return fail(begin, text_.size(), tr(Text::filter_too_many, {{"n", most_conditions}}));
    if (take('(')) {
      if (!parse_or(node)) return false;
      return take(')') || fail(begin, text_.size(), tr(Text::filter_no_close));
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
      return parse_comparison(node, name, begin, end);
    if (const auto flag = find(flags, name)) {
      at_ = end;
      skip_space();
      node.kind = Node::Kind::flag;
      node.flag = *flag;
      uses_classes_ = uses_classes_ || (*flag >= Flag::made && *flag <= Flag::expected);
      uses_calls_ = uses_calls_ || *flag == Flag::first || *flag == Flag::function || *flag == Flag::eager;
      return true;
    }
    return parse_match(node, TextField::any);
  }
  bool parse_field(Node& node, const std::string& name, std::size_t begin, std::size_t colon) {
    if (const auto field = find(texts, name)) {
      at_ = colon + 1;
      uses_classes_ = uses_classes_ || *field == TextField::event_class;
      return parse_match(node, *field);
    }
    if (const auto field = find(numbers, name)) {
      at_ = colon + 1;
      node.kind = Node::Kind::range;
      set_number(node, *field);
      return parse_range(node);
    }
    // Names of tensors have colons of their own: "Log:0".
    if (colon + 1 < text_.size() && std::isdigit(static_cast<unsigned char>(text_[colon + 1])) != 0)
      return parse_match(node, TextField::any);
    return fail(begin, colon, tr(Text::filter_no_field, {{"name", name}, {"nearest", nearest_name(name)}}));
  }
  void set_number(Node& node, NumberField field) {
    node.number_field = field;
    uses_calls_ = uses_calls_ || field == NumberField::exec;
  }
  bool parse_comparison(Node& node, const std::string& name, std::size_t begin, std::size_t end) {
    const auto field = find(numbers, name);
    if (!field) return fail(begin, end, tr(Text::filter_no_number, {{"name", name}, {"nearest", nearest_name(name)}}));
    at_ = end;
    node.kind = Node::Kind::number;
    set_number(node, *field);
    const bool two = at_ + 1 < text_.size() && text_[at_ + 1] == '=';
    switch (text_[at_]) {
      case '=': node.comparison = Comparison::equal; break;
      case '!': node.comparison = Comparison::not_equal; break;
      case '<': node.comparison = two ? Comparison::less_equal : Comparison::less; break;
      default: node.comparison = two ? Comparison::greater_equal : Comparison::greater; break;
    }
    at_ += two ? 2 : 1;
    skip_space();
    if (!parse_number(node.low, node.percent)) return false;
    skip_space();
    return true;
  }
  bool parse_range(Node& node) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const bool open = text_.substr(at_).starts_with("..");
    node.low = -infinity;
    if (!open && !parse_number(node.low, node.percent)) return false;
    node.high = node.low;
    if (text_.substr(at_).starts_with("..")) {
      at_ += 2;
      node.high = infinity;
      if (!ends_word(peek()) && !parse_number(node.high, node.percent)) return false;
    }
    skip_space();
    return true;
  }
  // Of "e-7" at the beginning of what follows a number's digits; 0: there is none.
  static std::size_t exponent_length(std::string_view text) {
    if (!text.starts_with('e') && !text.starts_with('E')) return 0;
    std::size_t end = text.size() > 1 && (text[1] == '-' || text[1] == '+') ? 2 : 1;
    const std::size_t digits = end;
    while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0) ++end;
    return end == digits ? 0 : end;
  }
  bool parse_number(double& value, bool& percent) {
    const std::string rest(text_.substr(at_));
    std::size_t length = 0;
    while (length < rest.size() &&
           (std::isdigit(static_cast<unsigned char>(rest[length])) != 0 || (rest[length] == '-' && length == 0) ||
            (rest[length] == '.' && rest.substr(length, 2) != "..")))
      ++length;
    if (length == 0) return fail(at_, at_ + 1, tr(Text::filter_number_missing));
    length += exponent_length(std::string_view(rest).substr(length));
    value = std::strtod(rest.substr(0, length).c_str(), nullptr);
    at_ += length;
    const std::string_view tail = text_.substr(at_);
    const auto unit = [&](std::string_view name, double factor) {
      if (!tail.starts_with(name)) return false;
      const char after = tail.size() > name.size() ? tail[name.size()] : '\0';
      if (!ends_word(after) && after != '.') return false;
      value *= factor;
      at_ += name.size();
      return true;
    };
    percent = unit("%", 0.01) || percent;
    if (!percent && !unit("ms", 1e-3) && !unit("s", 1) && !unit("k", 1e3) && !unit("M", 1e6)) unit("G", 1e9);
    const char after = peek();
    if (!ends_word(after) && after != '.') return fail(at_, at_ + 1, tr(Text::filter_number_odd));
    return true;
  }
  bool parse_match(Node& node, TextField field) {
    const std::size_t begin = at_;
    std::string pattern;
    bool is_regex = false;
    if (peek() == '"' || peek() == '/') {
      const char quote = peek();
      is_regex = quote == '/';
      ++at_;
      while (at_ < text_.size() && text_[at_] != quote) {
        if (is_regex && text_[at_] == '\\' && at_ + 1 < text_.size()) pattern += text_[at_++];
        pattern += text_[at_++];
      }
      if (at_ == text_.size())
        return fail(begin, text_.size(), tr(is_regex ? Text::filter_slash_missing : Text::filter_quote_missing));
      ++at_;
    } else {
      while (!ends_word(peek())) pattern += text_[at_++];
    }
    if (pattern.empty()) return fail(begin, begin + 1, tr(Text::filter_text_missing));
    if (is_regex) {
      Error wrong;
      node.match = Match::regex(pattern, wrong);
      if (!node.match) return fail(begin + 1 + wrong.begin, begin + 1 + wrong.end, wrong.reason);
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

  std::string_view text_;
  Error& error_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::uint32_t conditions_ = 0;
  std::uint32_t leaves_ = 0;
  bool uses_classes_ = false;
  bool uses_calls_ = false;
};

}  // namespace

std::optional<Query> parse(std::string_view text, Error& error) { return Parser(text, error).run(); }

std::vector<std::string> parts(std::string_view query) {
  Error ignored;
  return Parser(query, ignored).parts();
}

}  // namespace nanlens::viewer::filter
