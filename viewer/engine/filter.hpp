/// @file
/// The filter language: `type:Log nan>0`, `graph:loss -type:Placeholder`, `/dense_\d+/ bad`.
///
/// Grammar (words beside each other mean "and"):
///     query = [ or ]; or = and {("or" | "|") and}; and = not {["and"] not}; not = ["not" | "-" | "!"] prim
///     prim  = "(" or ")" | flag | text ":" match | number comparison value | number ":" range | match
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

namespace nanlens::viewer::filter {

/// Words that are true or false of a row.
enum class Flag : std::uint8_t {
  bad,
  ok,
  first,
  made,
  passed,
  removed,
  source,
  unknown,
  expected,
  pinned,
  input,
  consumer,
  function,
  eager,
  empty,
  unchecked
};

/// Names before ':' that match text.
enum class TextField : std::uint8_t { any, op, type, graph, call, device, host, dtype, file, fn, mode };

/// Names that are compared with numbers.
enum class NumberField : std::uint8_t { nan, inf, ninf, pinf, neg, zero, pos, size, rank, row, exec, slot, time, line };

enum class Comparison : std::uint8_t { equal, not_equal, less, less_equal, greater, greater_equal };

/// A pattern without regard to case: a part of the text, with * and ? as wildcards, or a regular expression.
class Match {
 public:
  /// `is_regex`: throws std::regex_error if the expression is not valid.
  Match(const std::string& text, bool is_regex);
  [[nodiscard]] bool operator()(std::string_view text) const;
  /// Could it match "op:0" where it does not match "op"?
  [[nodiscard]] bool may_need_slot() const { return regex_.has_value() || text_.find(':') != std::string::npos; }

 private:
  std::string text_;
  bool wildcards_ = false;
  std::optional<std::regex> regex_;
};

/// A node of the parsed query.
struct Node {
  enum class Kind : std::uint8_t { all, any, negation, flag, text, number, range } kind = Kind::all;
  std::vector<Node> children;
  Flag flag = Flag::bad;
  TextField text_field = TextField::any;
  std::shared_ptr<const Match> match;
  NumberField number_field = NumberField::nan;
  Comparison comparison = Comparison::equal;
  double low = 0;  ///< the value, or the begin of a range
  double high = 0;
  bool percent = false;    ///< the value is a share of the tensor's size
  std::uint32_t leaf = 0;  ///< number of a text leaf that is decided once per op
};

/// A query that can't be read: which part of it and why.
struct Error {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string reason;
};

struct Query {
  Node root;  ///< an empty query is `all` of nothing: every row
  std::uint32_t leaves = 0;
  bool uses_classes = false;  ///< has a word that the cause analysis answers
};

/// Parses a query. Nothing, with `error`, if it can't be read.
std::optional<Query> parse(std::string_view text, Error& error);

/// The parts of a query that must all hold, as they are written; the whole query if "or" binds it at the top.
std::vector<std::string> parts(std::string_view query);

}  // namespace nanlens::viewer::filter
