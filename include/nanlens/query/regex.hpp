/// @file
/// What `/regular expressions/` are made with. The library has no engine of its own: the program that uses it brings
/// one.
#pragma once

#include <memory>
#include <string_view>

#include <nanlens/config.hpp>
#include <nanlens/query/error.hpp>

namespace nanlens::inline NANLENS_ABI::query {

/// A regular expression, ready for use. It must take no more than linear time: what is typed is asked of every op.
class Regex {
 public:
  Regex() = default;
  Regex(const Regex&) = delete;
  Regex& operator=(const Regex&) = delete;
  virtual ~Regex() = default;
  /// Does any part of the text match, without regard to case?
  [[nodiscard]] virtual bool found_in(std::string_view text) const = 0;
};

/// Makes one of a pattern. Null, with the fault and its place in the pattern, if it can't be read or is too large.
using RegexCompiler = std::shared_ptr<const Regex> (*)(std::string_view pattern, Error& error);

}  // namespace nanlens::inline NANLENS_ABI::query
