#include "rules_text.hpp"

#include <algorithm>

#include <nanlens/query/rule_reader.hpp>

namespace nanlens::viewer {

namespace {

struct LinePlace {
  std::size_t begin = 0;
  std::size_t end = 0;   // of what it says
  std::size_t next = 0;  // behind its end
};

// Behind the last line: the text's end.
LinePlace place_of_line(std::string_view text, std::size_t number) {
  LinePlace at;
  for (std::size_t i = 0;; ++i) {
    at.begin = at.next;
    at.end = std::min(text.find('\n', at.begin), text.size());
    at.next = std::min(at.end + 1, text.size());
    if (at.end > at.begin && text[at.end - 1] == '\r') --at.end;
    if (i == number || at.begin == text.size()) return at;
  }
}

std::string_view line_end_in(std::string_view text) {
  const std::size_t end = text.find('\n');
  return end != std::string_view::npos && end > 0 && text[end - 1] == '\r' ? "\r\n" : "\n";
}

}  // namespace

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

std::string with_line(std::string_view text, std::size_t number, std::string_view line) {
  const LinePlace at = place_of_line(text, number);
  return std::string(text.substr(0, at.begin)).append(line).append(text.substr(at.end));
}

std::string without_line(std::string_view text, std::size_t number) {
  const LinePlace at = place_of_line(text, number);
  return std::string(text.substr(0, at.begin)).append(text.substr(at.next));
}

std::string with_line_before(std::string_view text, std::size_t number, std::string_view line) {
  const std::string_view end = line_end_in(text);
  const LinePlace at = place_of_line(text, number);
  std::string changed(text.substr(0, at.begin));
  if (!changed.empty() && !changed.ends_with('\n')) changed.append(end);
  return changed.append(line).append(end).append(text.substr(at.begin));
}

std::string_view rule_in(std::string_view line) {
  constexpr std::string_view blanks = " \t\r\n\v\f";
  if (is_off(line)) line.remove_prefix(rule_off.size());
  const std::size_t begin = line.find_first_not_of(blanks);
  if (begin == std::string_view::npos || line[begin] == '#') return {};
  return line.substr(begin, line.find_last_not_of(blanks) + 1 - begin);
}

// Without a name the conditions are all that is there.
RuleParts parts_in(std::string_view rule) {
  namespace grammar = query::detail;
  const std::size_t colon = rule.find(':');
  const bool is_named = colon != std::string_view::npos && grammar::ends_name(rule, colon);
  query::Rule taken;
  std::string_view head = grammar::trimmed(rule.substr(0, is_named ? colon : rule.size()));
  grammar::take_level(taken, head);
  RuleParts parts;
  parts.level = taken.level;
  if (is_named) parts.name = head;
  const std::string_view rest = is_named ? rule.substr(colon + 1) : head;
  const std::size_t reason = grammar::begin_of_reason(rest);
  parts.conditions = grammar::trimmed(rest.substr(0, reason));
  if (reason < rest.size()) parts.reason = grammar::trimmed(rest.substr(reason + 4));
  return parts;
}

}  // namespace nanlens::viewer
