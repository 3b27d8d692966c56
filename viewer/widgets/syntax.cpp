#include "widgets/syntax.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace nanlens::viewer {

namespace {

constexpr auto python_words = std::to_array<std::string_view>(
    {"and",      "as",    "assert",  "async", "await", "break",  "class", "continue", "def",   "del",  "elif",   "else",
     "except",   "False", "finally", "for",   "from",  "global", "if",    "import",   "in",    "is",   "lambda", "None",
     "nonlocal", "not",   "or",      "pass",  "raise", "return", "True",  "try",      "while", "with", "yield"});
constexpr auto cpp_words = std::to_array<std::string_view>(
    {"alignas",   "alignof", "auto",      "bool",      "break",    "case",     "catch",       "char",      "class",
     "concept",   "const",   "consteval", "constexpr", "continue", "co_await", "co_return",   "co_yield",  "decltype",
     "default",   "delete",  "do",        "double",    "else",     "enum",     "explicit",    "export",    "extern",
     "false",     "float",   "for",       "friend",    "if",       "inline",   "int",         "long",      "mutable",
     "namespace", "new",     "noexcept",  "nullptr",   "operator", "override", "private",     "protected", "public",
     "requires",  "return",  "short",     "signed",    "sizeof",   "static",   "static_cast", "struct",    "switch",
     "template",  "this",    "throw",     "true",      "try",      "typedef",  "typename",    "union",     "unsigned",
     "using",     "virtual", "void",      "volatile",  "while"});

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || (static_cast<unsigned char>(c) & 0x80) != 0;
}

bool is_keyword(Language language, std::string_view word) {
  return language == Language::python ? std::find(python_words.begin(), python_words.end(), word) != python_words.end()
                                      : std::find(cpp_words.begin(), cpp_words.end(), word) != cpp_words.end();
}

// The end of a string that begins (or goes on) at `at`; npos if it does not end in this line.
std::size_t string_end(std::string_view line, std::size_t at, char quote, bool triple) {
  for (; at < line.size(); ++at) {
    if (line[at] == '\\') {
      ++at;
      continue;
    }
    if (line[at] != quote) continue;
    if (!triple) return at + 1;
    if (line.substr(at).starts_with(std::string(3, quote))) return at + 3;
  }
  return std::string_view::npos;
}

}  // namespace

Language language_of(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  if (dot == std::string_view::npos) return Language::none;
  const std::string_view ending = path.substr(dot);
  if (ending == ".py") return Language::python;
  for (const std::string_view cpp :
       {".cpp", ".cc", ".cxx", ".c", ".h", ".hpp", ".hh", ".hxx", ".inl", ".inc", ".cu", ".cuh", ".ipp"})
    if (ending == cpp) return Language::cpp;
  return Language::none;
}

std::vector<Token> tokenize(Language language, std::string_view line, LineState& state) {
  std::vector<Token> tokens;
  std::size_t at = 0;
  const auto add = [&](std::size_t end, TokenKind kind) {
    end = std::min(end, line.size());
    if (end > at) tokens.push_back({at, end, kind});
    at = end;
  };
  if (language == Language::none) {
    add(line.size(), TokenKind::plain);
    return tokens;
  }
  if (state.in_comment) {
    const std::size_t end = line.find("*/");
    state.in_comment = end == std::string_view::npos;
    add(state.in_comment ? line.size() : end + 2, TokenKind::comment);
  } else if (state.in_string != 0) {
    const std::size_t end = string_end(line, 0, state.in_string, true);
    if (end != std::string_view::npos) state.in_string = 0;
    add(end == std::string_view::npos ? line.size() : end, TokenKind::literal);
  }
  while (at < line.size()) {
    const char c = line[at];
    const std::string_view rest = line.substr(at);
    if ((language == Language::python && c == '#') || (language == Language::cpp && rest.starts_with("//"))) {
      add(line.size(), TokenKind::comment);
    } else if (language == Language::cpp && rest.starts_with("/*")) {
      const std::size_t end = line.find("*/", at + 2);
      state.in_comment = end == std::string_view::npos;
      add(state.in_comment ? line.size() : end + 2, TokenKind::comment);
    } else if (c == '"' || c == '\'') {
      const bool triple = language == Language::python && rest.starts_with(std::string(3, c));
      const std::size_t end = string_end(line, at + (triple ? 3 : 1), c, triple);
      if (triple && end == std::string_view::npos) state.in_string = c;
      add(end == std::string_view::npos ? line.size() : end, TokenKind::literal);
    } else if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      std::size_t end = at;
      while (end < line.size() && (is_word(line[end]) || line[end] == '.' || line[end] == '\'')) ++end;
      add(end, TokenKind::literal);
    } else if (is_word(c)) {
      std::size_t end = at;
      while (end < line.size() && is_word(line[end])) ++end;
      add(end, is_keyword(language, line.substr(at, end - at)) ? TokenKind::keyword : TokenKind::plain);
    } else {
      std::size_t end = at + 1;
      while (end < line.size() && !is_word(line[end]) &&
             std::string_view("\"'#/").find(line[end]) == std::string_view::npos)
        ++end;
      add(end, TokenKind::plain);
    }
  }
  return tokens;
}

}  // namespace nanlens::viewer
