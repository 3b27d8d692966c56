#include "app/rules.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <nanlens/query/lower_case.hpp>
#include <nanlens/query/standard_rules.hpp>

#include "app/app.hpp"
#include "engine/rules_text.hpp"

namespace nanlens::viewer {

namespace {

std::string blank_instead(std::string text, std::string_view unwanted) {
  std::replace_if(text.begin(), text.end(), [&](char c) { return unwanted.find(c) != std::string_view::npos; }, ' ');
  const std::size_t begin = text.find_first_not_of(' ');
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

bool begins_with_level(const std::string& name) {
  const std::string small = query::lower_case(name);
  for (const RuleLevel level : {RuleLevel::error, RuleLevel::warning, RuleLevel::note})
    if (small.starts_with(level_word(level))) return true;
  return false;
}

WrittenRule written_rule(std::size_t file, std::size_t line, const std::string& whole) {
  const std::string_view rule = rule_in(whole);
  RuleParts parts = parts_in(rule);
  return {file,
          line,
          whole,
          std::string(rule),
          is_off(whole),
          std::move(parts.name),
          static_cast<RuleLevel>(parts.level),
          std::move(parts.conditions),
          std::move(parts.reason)};
}

// The first in this text that is written so.
std::optional<WrittenRule> rule_written_in(const std::vector<RulesText>& texts, const std::string& text,
                                           std::size_t file) {
  const auto lines = lines_of(texts[file].text);
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (rule_in(lines[i]) == text) return written_rule(file, i, lines[i]);
  return std::nullopt;
}

// Which text it was that somebody has changed.
std::string mark_of(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return text.empty() ? "" : std::to_string(hash);
}

// The first text that is no file; npos: there is none.
std::size_t first_without_file(const std::vector<RulesText>& texts) {
  const auto found = std::find_if(texts.begin(), texts.end(), [](const RulesText& t) { return t.path.empty(); });
  return found == texts.end() ? std::string::npos : static_cast<std::size_t>(found - texts.begin());
}

}  // namespace

const char* level_word(RuleLevel level) {
  return level == RuleLevel::error ? "error" : level == RuleLevel::warning ? "warning" : "note";
}

std::string one_line(const std::string& text) { return blank_instead(text, "\n\r\t"); }

// The level may stay away before a name that is taken for none, nor the line for a comment.
std::string rule_of_parts(const std::string& name, RuleLevel level, const std::string& conditions,
                          const std::string& reason) {
  const std::string plain = blank_instead(name, ":\n\r\t");
  const bool bare = level == RuleLevel::error && !plain.starts_with('#') && !begins_with_level(plain);
  std::string text = (bare ? "" : level_word(level) + std::string(" ")) + plain + ": " + one_line(conditions);
  if (const std::string why = one_line(reason); !why.empty()) text += " -- " + why;
  return text;
}

std::optional<WrittenRule> rule_at(const std::vector<RulesText>& texts, std::size_t file, std::size_t line) {
  if (file >= texts.size()) return std::nullopt;
  const auto lines = lines_of(texts[file].text);
  if (line >= lines.size() || rule_in(lines[line]).empty()) return std::nullopt;
  return written_rule(file, line, lines[line]);
}

std::optional<WrittenRule> rule_written(const std::vector<RulesText>& texts, const std::string& text, std::size_t file,
                                        std::size_t line) {
  if (auto there = rule_at(texts, file, line); there && there->text == text) return there;
  if (file < texts.size())
    if (auto moved = rule_written_in(texts, text, file)) return moved;
  for (std::size_t other = 0; other < texts.size(); ++other)
    if (auto moved = rule_written_in(texts, text, other)) return moved;
  return std::nullopt;
}

std::optional<WrittenRule> find_rule(const std::vector<RulesText>& texts, const std::string& name) {
  std::optional<WrittenRule> found;
  if (name.empty()) return found;
  for (std::size_t file = 0; file < texts.size(); ++file) {
    const auto lines = lines_of(texts[file].text);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (lines[i].find(name) == std::string::npos || (found && is_off(lines[i]))) continue;
      WrittenRule written = written_rule(file, i, lines[i]);
      if (written.name != name) continue;
      found = std::move(written);
      if (!found->off) return found;
    }
  }
  return found;
}

std::vector<std::string> rule_names(const std::vector<RulesText>& texts) {
  std::vector<std::string> names;
  for (const RulesText& text : texts)
    for (const std::string& line : lines_of(text.text))
      if (const std::string_view rule = rule_in(line); !rule.empty()) names.push_back(parts_in(rule).name);
  return names;
}

// Comments belong to the rules with which they stand between blank lines; those at the very beginning to all.
std::string standard_rules_beside(const std::vector<RulesText>& texts, std::size_t& count) {
  std::set<std::string> there;
  for (const RulesText& text : texts)
    for (std::string& line : lines_of(text.text)) there.insert(std::move(line));
  for (std::string& name : rule_names(texts)) there.insert(std::move(name));
  std::string all;
  std::string part;
  std::size_t of_part = 0;
  bool is_first = true;
  const auto end_part = [&] {
    if (!part.empty() && (of_part > 0 || is_first)) all += (all.empty() ? "" : "\n") + part;
    count += std::exchange(of_part, 0);
    part.clear();
    is_first = false;
  };
  count = 0;
  for (const std::string& line : lines_of(query::standard_rules)) {
    const std::string_view rule = rule_in(line);
    if (line.empty()) end_part();
    if (line.empty() || there.contains(rule.empty() ? line : parts_in(rule).name)) continue;
    of_part += rule.empty() ? 0 : 1;
    part += line + "\n";
  }
  end_part();
  return all;
}

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string App::RuleEditor::rule() const {
  const std::string what = one_line(conditions);
  return what.empty() ? "" : rule_of_parts(name, level, what, reason);
}

void App::rules_found(FoundRules arrived) {
  found_rules_ = std::move(arrived.texts);
  rules_pane.texts = *found_rules_;
  choose_rules();
}

void App::rules_arrived(RuleList arrived) {
  const bool more = arrived.num_rules > rules.num_rules;
  rules = std::move(arrived);
  if (!more || !std::exchange(rules_pane.reveal_end, false)) return;
  rules_pane.first = static_cast<double>(rules.num_lines);  // the pane knows how far that is
}

// Those that were found, or what was made of them here, as long as they are what they were then.
void App::choose_rules() {
  if (!found_rules_) return;
  std::vector<RulesText> texts = *found_rules_;
  const std::size_t at = first_without_file(texts);
  const std::string found = at == std::string::npos ? "" : texts[at].text;
  const auto kept = rules_of_run_.find(run().run_id);
  const bool written = platform.rules_file && !platform.rules_file().empty();
  if (kept != rules_of_run_.end() && !written && kept->second.of == mark_of(found)) {
    if (at == std::string::npos)
      texts.push_back({report::rules_name, "", kept->second.text});
    else
      texts[at].text = kept->second.text;
  } else if (kept != rules_of_run_.end() && !written) {
    rules_of_run_.erase(kept);
  }
  if (texts == rules_pane.texts) return;
  rules_pane.texts = texts;
  send(SetRules{std::move(texts)});
}

std::size_t App::text_for_rules() {
  auto& texts = rules_pane.texts;
  const std::string file = platform.rules_file ? platform.rules_file() : "";
  const auto found = std::find_if(texts.begin(), texts.end(), [&](const RulesText& text) { return text.path == file; });
  if (found != texts.end()) return static_cast<std::size_t>(found - texts.begin());
  texts.push_back({file.empty() ? report::rules_name : file, file, ""});
  return texts.size() - 1;
}

Result App::change_rules(std::size_t file, const std::string& text) {
  RulesText& changed = rules_pane.texts[file];
  if (text.size() > report::most_rules_bytes) return {false, tr(Text::text_too_long)};
  if (changed.path.empty()) {
    constexpr std::size_t most = 100;  // runs
    if (rules_of_run_.size() >= most && !rules_of_run_.contains(run().run_id))
      rules_of_run_.erase(rules_of_run_.begin());
    const std::size_t at = found_rules_ ? first_without_file(*found_rules_) : std::string::npos;
    rules_of_run_[run().run_id] = {at == std::string::npos ? "" : mark_of((*found_rules_)[at].text), text};
  } else if (!platform.write_rules || !platform.write_rules(changed.path, changed.text, text)) {
    send(Reload{});
    return {false, tr(Text::rule_not_written, {{"file", changed.name}})};
  }
  changed.text = text;
  send(SetRules{rules_pane.texts});
  wake();
  return {};
}

// The rule that is written now is judged at once; without a name, as yet, under one that nobody gives.
void App::ask_for_rules() {
  const bool writes = popup == Popup::rule;
  const RuleEditor& editor = rule_editor;
  std::string draft = writes ? editor.rule() : "";
  if (!draft.empty() && editor.name[0] == '\0')
    draft = rule_of_parts("?", editor.level, editor.conditions, editor.reason);
  view.rules.draft = std::move(draft);
  view.rules.draft_of = writes ? editor.of : "";
  view.rules.unfolded.assign(rules_pane.unfolded.begin(), rules_pane.unfolded.end());
  const auto fitting = static_cast<std::uint64_t>(rules_pane.fitting);
  const auto first = static_cast<std::uint64_t>(std::max(0.0, rules_pane.first));
  const std::uint64_t step = std::max<std::uint64_t>(1, fitting / 2);
  view.rules.first = first / step * step > fitting ? first / step * step - fitting : 0;
  view.rules.count = static_cast<std::uint32_t>(3 * fitting + step);
}

}  // namespace nanlens::viewer
