// A query taken apart as it is written, for who shows its parts.
#include <algorithm>
#include <cctype>

#include "filter.hpp"

namespace nanlens::viewer::filter {

namespace {

// The end of a quoted text or a regular expression that begins at `at`; of a single character if it does neither.
std::size_t end_of_unit(std::string_view query, std::size_t at, bool word_begins) {
  const char c = query[at];
  if (c != '"' && !(c == '/' && word_begins)) return at + 1;
  for (std::size_t i = at + 1; i < query.size(); ++i) {
    if (query[i] == '\\')
      ++i;
    else if (query[i] == c)
      return i + 1;
  }
  return query.size();
}

// Words, with what is in quotes or parentheses kept together. Empty if a '|' binds the query at its top.
std::vector<std::string> words_of(std::string_view query) {
  std::vector<std::string> words(1);
  int depth = 0;
  for (std::size_t i = 0; i < query.size();) {
    const char c = query[i];
    std::string& word = words.back();
    if (c == '|' && depth == 0) return {};
    if (std::isspace(static_cast<unsigned char>(c)) != 0 && depth == 0) {
      if (!word.empty()) words.emplace_back();
      ++i;
      continue;
    }
    if (c == '(') ++depth;
    if (c == ')' && depth > 0) --depth;
    const std::size_t end = end_of_unit(query, i, word.empty() || word.back() == ':' || word.back() == '-');
    word.append(query.substr(i, end - i));
    i = end;
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

}  // namespace

std::vector<std::string> parts(std::string_view query) {
  const std::vector<std::string> words = words_of(query);
  const bool any_of = std::find(words.begin(), words.end(), "or") != words.end();
  if (any_of || (words.empty() && !query.empty())) return {std::string(query)};
  std::vector<std::string> found;
  for (const std::string& word : words) {
    if (word == "and") continue;
    if (!found.empty() && found.back() == "not")
      found.back() += " " + word;
    else
      found.push_back(word);
  }
  return found;
}

}  // namespace nanlens::viewer::filter
