// Patterns of the filter: parts of texts, wildcards, regular expressions.
#include <algorithm>
#include <utility>

#include <re2/re2.h>

#include "filter.hpp"
#include "lower_case.hpp"
#include "texts/texts.hpp"

namespace nanlens::viewer::filter {

namespace {

// Glob matching of the whole text; both are in lower case.
bool glob(std::string_view pattern, std::string_view text) {
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;
  std::size_t mark = 0;
  while (t < text.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      mark = t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++mark;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

re2::StringPiece piece(std::string_view text) { return {text.data(), text.size()}; }

Text reason_of(re2::RE2::ErrorCode code) {
  switch (code) {
    case re2::RE2::ErrorBadEscape:
    case re2::RE2::ErrorTrailingBackslash: return Text::filter_regex_escape;
    case re2::RE2::ErrorBadCharClass:
    case re2::RE2::ErrorBadCharRange:
    case re2::RE2::ErrorMissingBracket: return Text::filter_regex_class;
    case re2::RE2::ErrorMissingParen:
    case re2::RE2::ErrorUnexpectedParen: return Text::filter_regex_bracket;
    case re2::RE2::ErrorRepeatArgument:
    case re2::RE2::ErrorRepeatSize:
    case re2::RE2::ErrorRepeatOp: return Text::filter_regex_repeat;
    case re2::RE2::ErrorBadPerlOp:
    case re2::RE2::ErrorBadNamedCapture: return Text::filter_regex_group;
    case re2::RE2::ErrorPatternTooLarge: return Text::filter_regex_large;
    default: return Text::filter_regex;
  }
}

}  // namespace

Match::Match(std::string_view text)
    : text_(lower_case(text)), wildcards_(text_.find_first_of("*?") != std::string::npos) {}

std::optional<Match> Match::regex(std::string_view pattern, Error& error) {
  error = {0, pattern.size(), tr(Text::filter_regex_large)};
  if (pattern.size() > longest_regex) return std::nullopt;
  re2::RE2::Options options;
  options.set_case_sensitive(false);
  options.set_log_errors(false);
  options.set_never_capture(true);
  options.set_max_mem(largest_regex_program);
  Match match;
  match.regex_ = std::make_shared<const re2::RE2>(piece(pattern), options);
  if (match.regex_->ok()) return match;
  error.reason = tr(reason_of(match.regex_->error_code()));
  const std::string& part = match.regex_->error_arg();
  if (const std::size_t at = part.empty() ? std::string::npos : pattern.find(part); at != std::string::npos) {
    error.begin = at;
    error.end = at + part.size();
  }
  return std::nullopt;
}

bool Match::operator()(std::string_view text) const {
  if (regex_ != nullptr) return re2::RE2::PartialMatch(piece(text), *regex_);
  const std::string low = lower_case(text);
  return wildcards_ ? glob(text_, low) : low.find(text_) != std::string::npos;
}

}  // namespace nanlens::viewer::filter
