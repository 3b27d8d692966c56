/// @file
/// Colours for source text: enough of Python and C++ to read by (comments, strings, numbers, keywords).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nanlens::viewer {

enum class Language : std::uint8_t { none, python, cpp };
enum class TokenKind : std::uint8_t { plain, keyword, literal, comment };

struct Token {
  std::size_t begin = 0;
  std::size_t end = 0;
  TokenKind kind = TokenKind::plain;
};

/// By the file's ending.
Language language_of(std::string_view path);

/// What a line starts in: nothing, a comment of several lines, or a string of several lines (with its quote).
struct LineState {
  bool in_comment = false;
  char in_string = 0;
};

/// Takes a line apart; `state` is what it starts in and becomes what the next one starts in.
std::vector<Token> tokenize(Language language, std::string_view line, LineState& state);

}  // namespace nanlens::viewer
