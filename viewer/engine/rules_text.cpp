#include "rules_text.hpp"

#include <algorithm>

namespace nanlens::viewer {

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    lines.emplace_back(line.ends_with('\r') ? line.substr(0, line.size() - 1) : line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string text_of_lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text.append(line).append("\n");
  return text;
}

std::string_view rule_in(std::string_view line) {
  constexpr std::string_view blanks = " \t\r\n\v\f";
  if (is_off(line)) line.remove_prefix(rule_off.size());
  const std::size_t begin = line.find_first_not_of(blanks);
  if (begin == std::string_view::npos || line[begin] == '#') return {};
  return line.substr(begin, line.find_last_not_of(blanks) + 1 - begin);
}

}  // namespace nanlens::viewer
