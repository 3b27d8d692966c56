/// @file
/// Reads the words, numbers and patterns that queries are made of.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include <nanlens/config.hpp>
#include <nanlens/query/error.hpp>
#include <nanlens/query/lower_case.hpp>

namespace nanlens::inline NANLENS_ABI::query::detail {

inline bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool ends_word(char c) { return c == '\0' || is_space(c) || c == '(' || c == ')' || c == '|'; }

inline std::string_view without_end_space(std::string_view text) {
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

/// A place in a text that is read. What fails says so in the error and returns false.
class Scanner {
 public:
  Scanner(std::string_view text, Error& error) : text_(text), error_(error) {}

 protected:
  bool fail(std::size_t begin, std::size_t end, Problem problem, std::string name = {}, std::string nearest = {}) {
    end = std::min(end, text_.size());
    error_ = {std::min(begin, end), end, problem, std::move(name), std::move(nearest)};
    return false;
  }
  [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }
  [[nodiscard]] char peek() const { return at_end() ? '\0' : text_[at_]; }
  void skip_space() {
    while (!at_end() && is_space(text_[at_])) ++at_;
  }
  bool take(char c) {
    if (at_end() || text_[at_] != c) return false;
    ++at_;
    skip_space();
    return true;
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
  bool at_keyword(std::string_view word) {
    const std::size_t before = at_;
    const bool is_it = take_keyword(word);
    at_ = before;
    return is_it;
  }
  // Digits, with a point and an exponent; `length`: of what was read, 0: there is none, or it is no number as a whole.
  double number_at(std::size_t& length) const {
    const std::string rest(text_.substr(at_));
    length = 0;
    while (length < rest.size() && (is_digit(rest[length]) || (rest[length] == '-' && length == 0) ||
                                    (rest[length] == '.' && rest.substr(length, 2) != "..")))
      ++length;
    if (length > 0) length += exponent_length(std::string_view(rest).substr(length));
    const std::string digits = rest.substr(0, length);
    char* end = nullptr;
    const double number = std::strtod(digits.c_str(), &end);
    if (end != digits.c_str() + digits.size()) length = 0;
    return number;
  }
  bool parse_number(double& value, bool& percent) {
    std::size_t length = 0;
    value = number_at(length);
    if (length == 0) return fail(at_, at_ + 1, is_digit(peek()) ? Problem::number_odd : Problem::number_missing);
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
    percent = unit("%", 1);
    if (!percent && !unit("ms", 1e-3) && !unit("s", 1) && !unit("k", 1e3) && !unit("M", 1e6)) unit("G", 1e9);
    const char after = peek();
    if (!ends_word(after) && after != '.') return fail(at_, at_ + 1, Problem::number_odd);
    return true;
  }
  // A word, or what stands between quotes or slashes.
  bool parse_pattern(std::string& pattern, bool& is_regex) {
    const std::size_t begin = at_;
    if (peek() == '"' || peek() == '/') {
      const char quote = peek();
      is_regex = quote == '/';
      ++at_;
      while (!at_end() && text_[at_] != quote) {
        if (is_regex && text_[at_] == '\\' && at_ + 1 < text_.size()) pattern += text_[at_++];
        pattern += text_[at_++];
      }
      if (at_end()) return fail(begin, text_.size(), is_regex ? Problem::slash_missing : Problem::quote_missing);
      ++at_;
    } else {
      while (!ends_word(peek())) pattern += text_[at_++];
    }
    return !pattern.empty() || fail(begin, begin + 1, Problem::text_missing);
  }

  std::string_view text_;
  Error& error_;
  std::size_t at_ = 0;

 private:
  // Of "e-7" at the beginning of what follows a number's digits; 0: there is none.
  static std::size_t exponent_length(std::string_view text) {
    if (!text.starts_with('e') && !text.starts_with('E')) return 0;
    std::size_t end = text.size() > 1 && (text[1] == '-' || text[1] == '+') ? 2 : 1;
    const std::size_t digits = end;
    while (end < text.size() && is_digit(text[end])) ++end;
    return end == digits ? 0 : end;
  }
};

}  // namespace nanlens::inline NANLENS_ABI::query::detail
