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
#include <string>
#include <string_view>
#include <vector>

namespace re2 {
class RE2;
}

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

/// A query has no more conditions than this: each is asked of millions of rows.
inline constexpr std::uint32_t most_conditions = 200;
/// Bytes of a regular expression, and of the program made from it.
inline constexpr std::size_t longest_regex = 1000;
inline constexpr std::int64_t largest_regex_program = std::int64_t{1} << 20;

/// Names before ':' that match text.
enum class TextField : std::uint8_t { any, op, type, graph, call, device, host, dtype, file, fn, mode, event_class };

/// Names that are compared with numbers.
enum class NumberField : std::uint8_t {
  nan,
  inf,
  ninf,
  pinf,
  neg,
  zero,
  pos,
  size,
  rank,
  row,
  exec,
  slot,
  time,
  line,
  min,
  max,
  job_rank  ///< of the process, where a job has several
};

enum class Comparison : std::uint8_t { equal, not_equal, less, less_equal, greater, greater_equal };

/// A query that can't be read: which part of it and why.
struct Error {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string reason;
};

/// A pattern without regard to case: a part of the text, with * and ? as wildcards, or a regular expression. Time is
/// linear in the text for regular expressions, and at most pattern times text for wildcards.
class Match {
 public:
  explicit Match(std::string_view text);
  /// RE2's syntax. Nothing, with the place of the fault in `pattern`, if it can't be read or is too large.
  static std::optional<Match> regex(std::string_view pattern, Error& error);

  [[nodiscard]] bool operator()(std::string_view text) const;
  /// Could it match "op:0" where it does not match "op"?
  [[nodiscard]] bool may_need_slot() const { return regex_ != nullptr || text_.find(':') != std::string::npos; }

 private:
  Match() = default;

  std::string text_;
  bool wildcards_ = false;
  std::shared_ptr<const re2::RE2> regex_;
};

/// A node of the parsed query.
struct Node {
  enum class Kind : std::uint8_t { all, any, negation, flag, text, number, range } kind = Kind::all;
  std::vector<Node> children;
  Flag flag = Flag::bad;
  TextField text_field = TextField::any;
  std::optional<Match> match;
  NumberField number_field = NumberField::nan;
  Comparison comparison = Comparison::equal;
  double low = 0;  ///< the value, or the begin of a range
  double high = 0;
  bool percent = false;    ///< the value is a share of the tensor's size
  std::uint32_t leaf = 0;  ///< number of a text leaf that is decided once per op
};

struct Query {
  Node root;  ///< an empty query is `all` of nothing: every row
  std::uint32_t leaves = 0;
  bool uses_classes = false;  ///< has a word that the cause analysis answers
  bool uses_calls = false;    ///< asks what later records can change: the call of a row, the first bad one
};

/// Parses a query. Nothing, with `error`, if it can't be read or asks for more than the limits allow.
std::optional<Query> parse(std::string_view text, Error& error);

/// The parts of a query that must all hold, as they are written; the whole query if "or" binds it at the top. From what
/// can't be read on, the rest is one part.
std::vector<std::string> parts(std::string_view query);

}  // namespace nanlens::viewer::filter
