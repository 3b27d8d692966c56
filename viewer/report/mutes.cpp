#include "mutes.hpp"

#include <algorithm>
#include <charconv>
#include <ctime>
#include <tuple>
#include <utility>

#include <nanlens/reader/sort_stably.hpp>

namespace nanlens::report {

namespace {

using viewer::Text;
using viewer::tr;

constexpr std::string_view blanks = " \t\r";

// The whole text, with * and ?.
bool fits(std::string_view pattern, std::string_view text) {
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;
  std::size_t mark = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      mark = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++mark;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

bool fits_or_any(const std::string& pattern, const std::string& text) { return pattern.empty() || fits(pattern, text); }

bool holds(const Mute& mark, const MuteSubject& s) {
  return fits_or_any(mark.rule, s.rule) && fits_or_any(mark.op_type, s.op_type) &&
         fits_or_any(mark.op_name, s.op_name) && fits_or_any(mark.graph, s.graph) &&
         (mark.source.empty() || fits(mark.source, s.file) || fits("*/" + mark.source, s.file)) &&
         (mark.source_line == 0 || mark.source_line == s.line);
}

template <class Number>
bool is_number(std::string_view text, Number& number) {
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const auto [stopped, error] = std::from_chars(begin, end, number);
  return !text.empty() && error == std::errc() && stopped == end;
}

bool is_date(std::string_view text) {
  int year = 0;
  int month = 0;
  int day = 0;
  if (text.size() != 10 || text[4] != '-' || text[7] != '-' || !is_number(text.substr(0, 4), year) ||
      !is_number(text.substr(5, 2), month) || !is_number(text.substr(8), day))
    return false;
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  const int days = month == 2 ? (leap ? 29 : 28) : month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
  return year > 0 && month >= 1 && month <= 12 && day >= 1 && day <= days;
}

/// Reads one line. What is wrong is told with its place and what was expected there.
class LineReader {
 public:
  LineReader(std::string_view line, Mute& mark) : line_(line), mark_(mark) {}

  bool read() {
    for (skip_blanks(); at_ < line_.size(); skip_blanks()) {
      if (line_.substr(at_).starts_with("--") && (at_ + 2 == line_.size() || is_blank(at_ + 2))) return read_reason();
      if (!read_condition()) return false;
    }
    return fail(at_, Text::mutes_conditions_only);
  }
  [[nodiscard]] std::size_t column() const { return column_; }
  [[nodiscard]] Text what() const { return what_; }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  [[nodiscard]] bool is_blank(std::size_t at) const { return blanks.find(line_[at]) != std::string_view::npos; }
  void skip_blanks() {
    while (at_ < line_.size() && is_blank(at_)) ++at_;
  }
  bool fail(std::size_t at, Text what, std::string text = {}) {
    column_ = at + 1;
    what_ = what;
    text_ = std::move(text);
    return false;
  }

  bool read_reason() {
    if (!any_) return fail(at_, Text::mutes_reason_only);
    at_ += 2;
    skip_blanks();
    const std::size_t end = line_.find_last_not_of(blanks);
    if (at_ == line_.size()) return fail(at_, Text::mutes_no_reason);
    mark_.reason = line_.substr(at_, end + 1 - at_);
    return true;
  }

  bool read_condition() {
    const std::size_t begin = at_;
    const std::size_t colon = line_.find_first_of(": \t\r", begin);
    const bool named = colon != std::string_view::npos && line_[colon] == ':';
    const std::string name(line_.substr(begin, colon == std::string_view::npos ? colon : colon - begin));
    if (!named || !is_name(name)) return fail(begin, Text::mutes_no_condition, named ? name + ":" : name);
    at_ = colon + 1;
    std::string value;
    if (!read_value(value)) return false;
    if (value.empty()) return fail(colon + 1, Text::mutes_no_value, name);
    return take(name, std::move(value), begin, colon + 1);
  }

  static bool is_name(std::string_view name) {
    return name == "until" || name == "file" || name == "rule" || name == "type" || name == "op" || name == "graph";
  }

  bool read_value(std::string& value) {
    if (at_ < line_.size() && line_[at_] == '"') {
      const std::size_t close = line_.find('"', at_ + 1);
      if (close == std::string_view::npos) return fail(at_, Text::mutes_no_quote);
      value = line_.substr(at_ + 1, close - at_ - 1);
      at_ = close + 1;
      return true;
    }
    const std::size_t begin = at_;
    while (at_ < line_.size() && !is_blank(at_)) ++at_;
    value = line_.substr(begin, at_ - begin);
    return true;
  }

  bool take(const std::string& name, std::string value, std::size_t at_name, std::size_t at_value) {
    std::string* const field = name == "until"   ? &mark_.until
                               : name == "rule"  ? &mark_.rule
                               : name == "type"  ? &mark_.op_type
                               : name == "op"    ? &mark_.op_name
                               : name == "graph" ? &mark_.graph
                                                 : &mark_.source;
    if (!field->empty()) return fail(at_name, Text::mutes_twice, name);
    if (name == "until" && !is_date(value)) return fail(at_value, Text::mutes_no_date, value);
    if (name == "file") take_line(value);
    any_ = any_ || name != "until";
    *field = std::move(value);
    return true;
  }

  // "train.cpp:12" is a line of a file.
  void take_line(std::string& value) {
    const std::size_t colon = value.rfind(':');
    std::int64_t number = 0;
    if (colon == std::string::npos || colon == 0 || !is_number(std::string_view(value).substr(colon + 1), number) ||
        number <= 0)
      return;
    mark_.source_line = number;
    value.resize(colon);
  }

  std::string_view line_;
  Mute& mark_;
  std::size_t at_ = 0;
  bool any_ = false;
  std::size_t column_ = 0;
  Text what_ = Text::mutes_conditions_only;
  std::string text_;
};

}  // namespace

void Mutes::read(const std::string& name, std::string_view text, std::string_view today) {
  files_.push_back(name);
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const std::size_t first = line.find_first_not_of(blanks);
    if (first == std::string_view::npos || line[first] == '#') continue;
    Mute mark;
    mark.file = name;
    mark.line = number;
    LineReader reader(line, mark);
    if (!reader.read())
      problems_.push_back({name, number, reader.column(), reader.what(), reader.text()});
    else if (!mark.until.empty() && mark.until < today)
      problems_.push_back({name, number, 0, Text::mutes_expired, mark.until});
    else
      marks_.push_back(std::move(mark));
  }
}

std::string MuteProblem::message() const {
  std::string words = what == Text::mutes_no_condition ? tr(Text::mutes_no_condition, {{"text", text}})
                      : what == Text::mutes_no_value   ? tr(Text::mutes_no_value, {{"text", text}})
                      : what == Text::mutes_twice      ? tr(Text::mutes_twice, {{"text", text}})
                      : what == Text::mutes_no_date    ? tr(Text::mutes_no_date, {{"text", text}})
                      : what == Text::mutes_expired    ? tr(Text::mutes_expired, {{"text", text}})
                                                       : std::string(tr(what));
  return column > 0 ? tr(Text::mutes_nothing, {{"text", words}}) : words;
}

const Mute* Mutes::match(const MuteSubject& subject) {
  const Mute* first = nullptr;
  for (Mute& mark : marks_) {
    if (!holds(mark, subject)) continue;
    ++mark.hits;
    if (first == nullptr) first = &mark;
  }
  return first;
}

std::vector<MuteProblem> Mutes::problems() const {
  std::vector<MuteProblem> all = problems_;
  for (const Mute& mark : marks_)
    if (mark.hits == 0) all.push_back({mark.file, mark.line, 0, Text::mutes_idle, {}});
  reader::sort_stably(all, [this](const MuteProblem& a, const MuteProblem& b) {
    const auto place = [this](const MuteProblem& p) {
      return std::tuple(std::find(files_.begin(), files_.end(), p.file), p.line);
    };
    return place(a) < place(b);
  });
  return all;
}

MuteSubject mute_subject(const reader::Run& run, const causes::Sentence& sentence) {
  const auto& definitions = run.definitions();
  const std::uint32_t graph = sentence.graph_id.empty() ? reader::none : definitions.find_graph(sentence.graph_id);
  return {"rc." + sentence.id,
          sentence.op_type,
          sentence.op_name.empty() ? sentence.op_type : sentence.op_name,
          graph == reader::none ? std::string() : std::string(definitions.text(definitions.graphs()[graph].name)),
          sentence.place.file_path,
          sentence.place.line};
}

std::string mute_conditions(const MuteSubject& subject) {
  std::string line;
  const auto add = [&line](const char* name, const std::string& value) {
    if (value.empty() || value.find_first_of("\"\r\n") != std::string::npos) return;
    const char* const quote = value.find_first_of(" \t") == std::string::npos ? "" : "\"";
    line.append(line.empty() ? "" : " ").append(name).append(quote).append(value).append(quote);
  };
  add("rule:", subject.rule);
  add("type:", subject.op_type);
  if (subject.op_name != subject.op_type) add("op:", subject.op_name);
  add("graph:", subject.graph);
  const std::string file = subject.file.substr(subject.file.rfind('/') + 1);
  add("file:", subject.line > 0 && !file.empty() ? file + ":" + std::to_string(subject.line) : file);
  return line;
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  char date[32];
  std::strftime(date, sizeof date, "%Y-%m-%d", &utc);
  return date;
}

}  // namespace nanlens::report
