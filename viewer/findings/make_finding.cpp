#include "make_finding.hpp"

#include <cstdio>
#include <vector>

#include "report/describe.hpp"
#include "texts/texts.hpp"

namespace nanlens::findings {

namespace {

std::uint64_t hash_of(const std::vector<std::string>& texts) {
  std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a
  const auto add = [&hash](unsigned char c) { hash = (hash ^ c) * 0x100000001b3U; };
  for (const std::string& text : texts) {
    for (const char c : text) add(static_cast<unsigned char>(c));
    add(0);
  }
  return hash;
}

}  // namespace

Place place_of(const reader::StackFrame& frame, const SourceRoot& sources) {
  Place place;
  if (frame.line <= 0) return place;
  place.file = frame.file_path;
  place.in_root = sources.below(frame.file_path);
  place.line = frame.line;
  place.function = report::short_function(frame.function);
  return place;
}

std::string fingerprint(reader::Run& run, const Finding& f, const reader::StackFrame& frame) {
  const std::size_t slash = frame.file_path.find_last_of('/');
  std::string line = std::to_string(frame.line);
  if (const auto text = frame.line > 0 ? reader::source_line(run, frame) : std::nullopt) {
    const std::size_t begin = text->find_first_not_of(" \t\r");
    const std::size_t end = text->find_last_not_of(" \t\r");
    if (begin != std::string::npos) line = text->substr(begin, end + 1 - begin);
  }
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx",
                static_cast<unsigned long long>(hash_of(
                    {f.of_rule ? "rule " + f.rule : f.rule, f.op_type, f.op_name, f.graph,
                     frame.file_path.substr(slash == std::string::npos ? 0 : slash + 1), f.place.function, line})));
  return digits;
}

std::string where_words(causes::EventRef event) {
  return viewer::tr(event.is_execution ? viewer::Text::out_execution : viewer::Text::out_row, {{"index", event.index}});
}

}  // namespace nanlens::findings
