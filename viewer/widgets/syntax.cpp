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

namespace {

/// One line, from left to right.
class Tokenizer {
 public:
  Tokenizer(Language language, std::string_view line, LineState& state)
      : language_(language), line_(line), state_(state) {}
  std::vector<Token> run() {
    if (language_ == Language::none) add(line_.size(), TokenKind::plain);
    go_on();
    while (at_ < line_.size()) take_one();
    return std::move(tokens_);
  }

 private:
  void add(std::size_t end, TokenKind kind) {
    end = std::min(end, line_.size());
    if (end > at_) tokens_.push_back({at_, end, kind});
    at_ = end;
  }
  template <class Belongs>
  [[nodiscard]] std::size_t end_of(Belongs&& belongs) const {
    std::size_t end = at_ + 1;
    while (end < line_.size() && belongs(line_[end])) ++end;
    return end;
  }
  // What began in a line above.
  void go_on() {
    if (state_.in_comment) return take_comment(0);
    if (state_.in_string == 0) return;
    const std::size_t end = string_end(line_, 0, state_.in_string, true);
    if (end != std::string_view::npos) state_.in_string = 0;
    add(end, TokenKind::literal);
  }
  void take_comment(std::size_t opening) {
    const std::size_t end = line_.find("*/", at_ + opening);
    state_.in_comment = end == std::string_view::npos;
    add(state_.in_comment ? end : end + 2, TokenKind::comment);
  }
  void take_string(char quote) {
    const bool triple = language_ == Language::python && line_.substr(at_).starts_with(std::string(3, quote));
    const std::size_t end = string_end(line_, at_ + (triple ? 3 : 1), quote, triple);
    if (triple && end == std::string_view::npos) state_.in_string = quote;
    add(end, TokenKind::literal);
  }
  void take_word() {
    const std::size_t end = end_of(is_word);
    add(end, is_keyword(language_, line_.substr(at_, end - at_)) ? TokenKind::keyword : TokenKind::plain);
  }
  void take_one() {
    const char c = line_[at_];
    const std::string_view rest = line_.substr(at_);
    if (language_ == Language::python ? c == '#' : rest.starts_with("//"))
      add(line_.size(), TokenKind::comment);
    else if (language_ == Language::cpp && rest.starts_with("/*"))
      take_comment(2);
    else if (c == '"' || c == '\'')
      take_string(c);
    else if (std::isdigit(static_cast<unsigned char>(c)) != 0)
      add(end_of([](char d) { return is_word(d) || d == '.' || d == '\''; }), TokenKind::literal);
    else if (is_word(c))
      take_word();
    else
      add(end_of([](char d) { return !is_word(d) && std::string_view("\"'#/").find(d) == std::string_view::npos; }),
          TokenKind::plain);
  }

  Language language_;
  std::string_view line_;
  LineState& state_;
  std::size_t at_ = 0;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokenize(Language language, std::string_view line, LineState& state) {
  return Tokenizer(language, line, state).run();
}

}  // namespace nanlens::viewer
