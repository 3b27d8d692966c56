#include "rule_book.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "regex/regex.hpp"

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

struct RuleBook::Taken {
  std::vector<Entry> entries;
  std::unordered_set<std::string> names;  // of those that are judged
  std::size_t others = 0;
  std::size_t left_out = 0;
};

// All that can be judged, wherever it stands, as `check` does; beside these no more than are easily listed.
void RuleBook::take(const RulesText& text, Entry entry, Taken& taken) {
  const bool is_full = taken.others == query::most_rules;
  if (entry.off && is_full) {
    ++taken.left_out;
    return;
  }
  auto rule = query::parse_rule(entry.text, entry.error, regex::compiler());
  const std::size_t end = std::min(entry.text.find(':'), entry.text.size());
  const bool is_judged = rule && !entry.off;
  const bool is_taken = is_judged && taken.names.contains(rule->name);
  const bool is_too_many = is_judged && taken.names.size() == query::most_rules;
  if (is_taken) entry.error = {0, end, query::Problem::name_taken, rule->name};
  if (!is_taken && is_too_many) entry.error = {0, end, query::Problem::too_many_rules};
  if (is_taken || is_too_many) rule.reset();
  if (rule && !entry.off) {
    taken.names.insert(rule->name);
  } else if (is_full) {
    ++taken.left_out;
    return;
  } else {
    ++taken.others;
  }
  entry.parts = parts_in(entry.text);
  if (rule) entry.rule = judged(std::move(*rule), text.name);
  taken.entries.push_back(std::move(entry));
}

void RuleBook::set(const std::vector<RulesText>& texts) {
  for (Entry& entry : entries_)
    if (entry.rule) spare_.push_back(std::move(entry.rule));
  if (draft_.rule) spare_.push_back(std::move(draft_.rule));
  Taken taken;
  for (std::size_t file = 0; file < texts.size(); ++file) {
    std::uint32_t number = 0;
    for (const std::string& line : lines_of(texts[file].text)) {
      ++number;
      const std::string_view rule = rule_in(line);
      if (rule.empty()) continue;
      Entry entry;
      entry.file = static_cast<std::uint32_t>(file);
      entry.line = number;
      entry.text = rule;
      entry.off = is_off(line);
      take(texts[file], std::move(entry), taken);
    }
  }
  entries_ = std::move(taken.entries);
  num_left_out_ = taken.left_out;
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
  const Entry* const other = rule ? named(rule->name) : nullptr;
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

// Those of the rule itself go when it has been judged.
std::size_t RuleBook::rows_left(const JudgedRule& rule) const {
  std::size_t rows = 0;
  for (const Entry& entry : entries_)
    if (entry.rule && entry.rule.get() != &rule) rows += entry.rule->found().hit_rows.size();
  return rows < most_rule_rows ? most_rule_rows - rows : 0;
}

bool RuleBook::step(std::chrono::steady_clock::time_point deadline) {
  JudgedRule* rule = next_rule();
  while (rule != nullptr) {
    const std::size_t rows = rows_left(*rule);
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

// Also one that is off or can't be read; one that is judged before these.
const RuleBook::Entry* RuleBook::named(const std::string& name) const {
  if (const Entry* const judged = entry_of(name)) return judged;
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.parts.name == name; });
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
