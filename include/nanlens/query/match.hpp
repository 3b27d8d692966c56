/// @file
/// Patterns of the filter language: parts of texts, wildcards, regular expressions.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <nanlens/config.hpp>
#include <nanlens/query/lower_case.hpp>
#include <nanlens/query/regex.hpp>

namespace nanlens::inline NANLENS_ABI::query {

namespace detail {

// Glob matching of the whole text; both are in lower case.
inline bool glob(std::string_view pattern, std::string_view text) {
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

}  // namespace detail

/// A pattern without regard to case: a part of the text, with * and ? as wildcards for the whole of it, or a regular
/// expression. Time is linear in the text for regular expressions, and at most pattern times text for wildcards.
class Match {
 public:
  explicit Match(std::string_view text)
      : text_(lower_case(text)), wildcards_(text_.find_first_of("*?") != std::string::npos) {}
  explicit Match(std::shared_ptr<const Regex> regex) : regex_(std::move(regex)) {}

  [[nodiscard]] bool operator()(std::string_view text) const {
    if (regex_ != nullptr) return regex_->found_in(text);
    const std::string low = lower_case(text);
    return wildcards_ ? detail::glob(text_, low) : low.find(text_) != std::string::npos;
  }
  /// Could it match "op:0" where it does not match "op"?
  [[nodiscard]] bool may_need_slot() const { return regex_ != nullptr || text_.find(':') != std::string::npos; }

 private:
  std::string text_;
  bool wildcards_ = false;
  std::shared_ptr<const Regex> regex_;
};

}  // namespace nanlens::inline NANLENS_ABI::query
