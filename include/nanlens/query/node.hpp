/// @file
/// What queries and rules are once they are read.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <nanlens/config.hpp>
#include <nanlens/query/match.hpp>

namespace nanlens::inline NANLENS_ABI::query {

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
  unchecked,
  constant  ///< more than one element, and all of them the same
};

/// Names before ':' that match text.
enum class TextField : std::uint8_t { any, op, type, graph, call, device, host, dtype, file, fn, mode, event_class };

namespace detail {

// Is a text the same for all rows of an op?
constexpr bool decided_by_op(TextField field) noexcept {
  return field == TextField::any || field == TextField::op || field == TextField::type || field == TextField::graph ||
         field == TextField::file || field == TextField::fn || field == TextField::host;
}

// Is a text one of a stack's?
constexpr bool is_of_stack(TextField field) noexcept {
  return field == TextField::file || field == TextField::fn || field == TextField::host;
}

// Does a word depend on what is in the tensor?
constexpr bool is_of_values(Flag flag) noexcept {
  return flag <= Flag::expected || flag == Flag::empty || flag == Flag::constant;
}

}  // namespace detail

/// Names that are compared with numbers. From min to norm: statistics of the finite elements.
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
  mean,
  absmax,   ///< the largest magnitude
  norm,     ///< the root of the sum of squares
  job_rank  ///< of the process, where a job has several
};

namespace detail {

// What no event tells by itself: the analysis and later records do, or who looks at them.
constexpr bool is_known_afterwards(Flag flag) noexcept { return flag >= Flag::first && flag <= Flag::eager; }
constexpr bool is_known_afterwards(TextField field) noexcept {
  return field == TextField::call || field == TextField::event_class || is_of_stack(field);
}
constexpr bool is_known_afterwards(NumberField field) noexcept {
  return field == NumberField::row || field == NumberField::exec || field == NumberField::time ||
         field == NumberField::line || field == NumberField::job_rank;
}

}  // namespace detail

enum class Comparison : std::uint8_t { equal, not_equal, less, less_equal, greater, greater_equal };

/// A node of the parsed query.
struct Node {
  /// `open`: nothing is known of it; what stands for a condition that is not asked yet.
  enum class Kind : std::uint8_t { all, any, negation, flag, text, number, range, open } kind = Kind::all;
  std::vector<Node> children;
  Flag flag = Flag::bad;
  TextField text_field = TextField::any;
  std::optional<Match> match;
  NumberField number_field = NumberField::nan;
  Comparison comparison = Comparison::equal;
  double low = 0;  ///< the value, or the begin of a range
  double high = 0;
  bool percent = false;    ///< the values are shares of the tensor's size, in percent
  std::uint32_t leaf = 0;  ///< number of a text leaf that is decided once per op

  [[nodiscard]] bool asks_number() const noexcept { return kind == Kind::number || kind == Kind::range; }
};

struct Query {
  Node root;  ///< an empty query is `all` of nothing: every row
  std::uint32_t leaves = 0;
  bool uses_classes = false;  ///< has a word that the cause analysis answers
  bool uses_calls = false;    ///< asks what later records can change: the call of a row, the first bad one
};

/// How a number of an op changes from call to call: "norm grows 10x in 3 calls".
struct Change {
  NumberField field = NumberField::norm;
  bool shrinks = false;
  double factor = 1;        ///< above 1, of magnitudes
  std::uint32_t calls = 1;  ///< it is compared with each of so many before
};

/// How many rows there are: "count>0".
struct Total {
  Comparison comparison = Comparison::greater;
  double value = 0;
};

/// What a rule asks: of a row, of the op's calls before it, and of how many calls in a row; or of all rows together.
struct Conditions {
  Query rows;
  std::vector<Change> changes;
  std::optional<Total> total;
  std::uint32_t calls = 1;  ///< "for 5 calls": it must hold in so many, one after the other
};

}  // namespace nanlens::inline NANLENS_ABI::query
