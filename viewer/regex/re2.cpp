// Regular expressions by RE2.
#include <memory>
#include <string>

#include <re2/re2.h>

#include "regex/regex.hpp"

namespace nanlens::regex {

namespace {

using query::Problem;

re2::StringPiece piece(std::string_view text) { return {text.data(), text.size()}; }

Problem problem_of(re2::RE2::ErrorCode code) {
  switch (code) {
    case re2::RE2::ErrorBadEscape:
    case re2::RE2::ErrorTrailingBackslash: return Problem::regex_escape;
    case re2::RE2::ErrorBadCharClass:
    case re2::RE2::ErrorBadCharRange:
    case re2::RE2::ErrorMissingBracket: return Problem::regex_class;
    case re2::RE2::ErrorMissingParen:
    case re2::RE2::ErrorUnexpectedParen: return Problem::regex_bracket;
    case re2::RE2::ErrorRepeatArgument:
    case re2::RE2::ErrorRepeatSize:
    case re2::RE2::ErrorRepeatOp: return Problem::regex_repeat;
    case re2::RE2::ErrorBadPerlOp:
    case re2::RE2::ErrorBadNamedCapture: return Problem::regex_group;
    case re2::RE2::ErrorPatternTooLarge: return Problem::regex_large;
    default: return Problem::regex_unknown;
  }
}

re2::RE2::Options options() {
  re2::RE2::Options options;
  options.set_case_sensitive(false);
  options.set_log_errors(false);
  options.set_never_capture(true);
  options.set_max_mem(largest_program);
  return options;
}

class Re2 final : public query::Regex {
 public:
  explicit Re2(std::string_view pattern) : re2_(piece(pattern), options()) {}

  [[nodiscard]] bool found_in(std::string_view text) const override {
    return re2::RE2::PartialMatch(piece(text), re2_);
  }
  [[nodiscard]] const re2::RE2& re2() const noexcept { return re2_; }

 private:
  re2::RE2 re2_;
};

std::shared_ptr<const query::Regex> compile(std::string_view pattern, query::Error& error) {
  error = {0, pattern.size(), Problem::regex_large};
  if (pattern.size() > longest) return nullptr;
  auto regex = std::make_shared<const Re2>(pattern);
  if (regex->re2().ok()) return regex;
  error.problem = problem_of(regex->re2().error_code());
  const std::string& part = regex->re2().error_arg();
  if (const std::size_t at = part.empty() ? std::string::npos : pattern.find(part); at != std::string::npos) {
    error.begin = at;
    error.end = at + part.size();
  }
  return nullptr;
}

}  // namespace

query::RegexCompiler compiler() noexcept { return &compile; }

}  // namespace nanlens::regex
