#include "rule_book.hpp"

#include <algorithm>
#include <utility>

#include "regex/regex.hpp"
#include "rules_text.hpp"

namespace nanlens::viewer {

// A rule that asked the same before keeps what it has found.
std::unique_ptr<JudgedRule> RuleBook::judged(query::Rule rule, const std::string& text) {
  for (auto& known : spare_) {
    if (known == nullptr || !known->asks_as(rule)) continue;
    auto same = std::move(known);
    same->rename(rule);
    return same;
  }
  return std::make_unique<JudgedRule>(std::move(rule), text);
}

void RuleBook::read_line(const RulesText& text, Entry entry, std::vector<Entry>& all) {
  auto rule = query::parse_rule(entry.text, entry.error, regex::compiler());
  const auto is_taken = [&] {
    return std::any_of(all.begin(), all.end(), [&](const Entry& other) {
      return !other.off && other.rule && other.rule->rule().name == rule->name;
    });
  };
  const std::size_t end = std::min(entry.text.find(':'), entry.text.size());
  if (rule && !entry.off && is_taken())
    entry.error = {0, end, query::Problem::name_taken, rule->name};
  else if (all.size() >= query::most_rules)
    entry.error = {0, end, query::Problem::too_many_rules};
  else if (rule)
    entry.rule = judged(std::move(*rule), text.name);
  all.push_back(std::move(entry));
}

void RuleBook::set(const std::vector<RulesText>& texts) {
  constexpr std::size_t most_lines = 2 * query::most_rules;
  for (Entry& entry : entries_)
    if (entry.rule) spare_.push_back(std::move(entry.rule));
  if (draft_.rule) spare_.push_back(std::move(draft_.rule));
  std::vector<Entry> all;
  for (std::size_t file = 0; file < texts.size(); ++file) {
    std::uint32_t number = 0;
    for (const std::string& line : lines_of(texts[file].text)) {
      ++number;
      const std::string_view rule = rule_in(line);
      if (rule.empty() || all.size() >= most_lines) continue;
      Entry entry;
      entry.file = static_cast<std::uint32_t>(file);
      entry.line = number;
      entry.text = rule;
      entry.off = is_off(line);
      read_line(texts[file], std::move(entry), all);
    }
  }
  entries_ = std::move(all);
  spare_.clear();
  signs_due_ = true;
  has_draft_ = false;  // looked at anew: names may be free now
  (void)definitions_changed();
  RulesView again = std::exchange(asked_, {});
  set_draft(again);
}

void RuleBook::set_draft(const RulesView& view) {
  if (view.draft == asked_.draft && view.draft_of == asked_.draft_of) return;
  asked_.draft = view.draft;
  asked_.draft_of = view.draft_of;
  has_draft_ = !view.draft.empty();
  Entry draft;
  draft.text = view.draft;
  auto rule = has_draft_ ? query::parse_rule(view.draft, draft.error, regex::compiler()) : std::nullopt;
  const Entry* const other = rule ? entry_of(rule->name) : nullptr;
  if (other != nullptr && rule->name != view.draft_of) {
    draft.error = {0, view.draft.find(':'), query::Problem::name_taken, rule->name};
  } else if (rule) {
    if (draft_.rule && draft_.rule->asks_as(*rule)) {
      draft.rule = std::move(draft_.rule);
      draft.rule->rename(*rule);
    } else {
      draft.rule = std::make_unique<JudgedRule>(std::move(*rule), "");
    }
  }
  draft_ = std::move(draft);
}

// Has anything been declared that rows already referred to?
bool RuleBook::definitions_changed() {
  const auto& definitions = index_.run().definitions();
  const auto is_declared = [](const auto& defined) { return defined.declared; };
  const auto declared =
      static_cast<std::size_t>(std::count_if(definitions.ops().begin(), definitions.ops().end(), is_declared) +
                               std::count_if(definitions.graphs().begin(), definitions.graphs().end(), is_declared));
  const bool changed = num_undeclared_ > 0 && declared != num_declared_;
  num_declared_ = declared;
  num_undeclared_ = definitions.ops().size() + definitions.graphs().size() - declared;
  return changed;
}

void RuleBook::grow() {
  const bool renamed = definitions_changed();
  const std::size_t num_traces = index_.run().num_traces();
  for (Entry& entry : entries_)
    if (entry.rule) entry.rule->grow(renamed || entry.rule->uses_classes(), num_traces);
  if (draft_.rule) draft_.rule->grow(renamed || draft_.rule->uses_classes(), num_traces);
}

void RuleBook::explained() {
  const std::size_t num_traces = index_.run().num_traces();
  for (Entry& entry : entries_)
    if (entry.rule && entry.rule->uses_classes()) entry.rule->grow(true, num_traces);
  if (draft_.rule && draft_.rule->uses_classes()) draft_.rule->grow(true, num_traces);
}

JudgedRule* RuleBook::next_rule() {
  if (!draft_complete()) return draft_.rule.get();
  for (Entry& entry : entries_)
    if (entry.rule && !entry.off && entry.failure.empty() && !entry.rule->complete() && !waits(*entry.rule))
      return entry.rule.get();
  return nullptr;
}

bool RuleBook::draft_complete() const {
  return !draft_.rule || !draft_.failure.empty() || draft_.rule->complete() || waits(*draft_.rule);
}

bool RuleBook::complete() const { return const_cast<RuleBook*>(this)->next_rule() == nullptr; }

std::size_t RuleBook::rows_left() const {
  std::size_t rows = 0;
  for (const Entry& entry : entries_)
    if (entry.rule) rows += entry.rule->found().hit_rows.size();
  return rows < most_rule_rows ? most_rule_rows - rows : 0;
}

bool RuleBook::step(std::chrono::steady_clock::time_point deadline) {
  JudgedRule* rule = next_rule();
  while (rule != nullptr) {
    const std::size_t rows = rows_left();
    while (rule->step(index_.run(), around_, places_, rows))
      if (std::chrono::steady_clock::now() >= deadline) return true;
    signs_due_ = signs_due_ || rule != draft_.rule.get();
    bound_history();
    rule = next_rule();
    if (std::chrono::steady_clock::now() >= deadline) break;
  }
  return rule != nullptr;
}

// Those judged last go first: they would have to begin anew anyway.
void RuleBook::bound_history() {
  std::size_t bytes = 0;
  for (Entry& entry : entries_) {
    if (!entry.rule || !entry.rule->complete()) continue;
    bytes += entry.rule->history_bytes();
    if (bytes > most_judge_bytes) entry.rule->forget_history();
  }
}

void RuleBook::give_up(const std::string& reason) {
  JudgedRule* const rule = next_rule();
  if (rule != nullptr && rule == draft_.rule.get()) draft_.failure = reason;
  for (Entry& entry : entries_)
    if (rule != nullptr && rule == entry.rule.get()) entry.failure = reason;
}

std::size_t RuleBook::memory_bytes() const {
  std::size_t bytes = signs_.size() + call_signs_.size();
  for (const Entry& entry : entries_)
    if (entry.rule)
      bytes += entry.rule->history_bytes() + entry.rule->found().hit_rows.size() * sizeof(query::HitRow) +
               entry.rule->places().size() * sizeof(RulePlace);
  return bytes;
}

const RuleBook::Entry* RuleBook::entry_of(const std::string& name) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return !entry.off && entry.rule && entry.rule->rule().name == name;
  });
  return found == entries_.end() ? nullptr : &*found;
}

const RuleBook::Entry* RuleBook::holding(const std::string& name) const {
  if (const Entry* const entry = entry_of(name.empty() ? last_ : name); entry != nullptr || !name.empty()) return entry;
  const auto found = std::find_if(entries_.begin(), entries_.end(), [](const Entry& entry) {
    return !entry.off && entry.rule && !entry.rule->found().hit_rows.empty();
  });
  return found == entries_.end() ? nullptr : &*found;
}

}  // namespace nanlens::viewer
