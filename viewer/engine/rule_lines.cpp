// What the list of rules shows, and steps through what it lists.
#include <algorithm>
#include <tuple>
#include <unordered_set>

#include "rule_book.hpp"
#include "rule_faults.hpp"
#include "texts/texts.hpp"

#include <nanlens/query/names.hpp>
#include <nanlens/query/numbers.hpp>

namespace nanlens::viewer {

namespace {

RuleLevel level_of(query::Level level) {
  return level == query::Level::error     ? RuleLevel::error
         : level == query::Level::warning ? RuleLevel::warning
                                          : RuleLevel::note;
}

// "max, dtype not on record: record with .statistics = true"
std::string why_not_judged(const query::Judgement& found) {
  if (!found.could_not_be_judged()) return {};
  std::string names;
  bool statistics = false;
  bool counts = false;
  for (const std::string_view name : found.missing) {
    names += (names.empty() ? "" : ", ") + std::string(name);
    const auto field = query::detail::find_name(query::detail::number_names, name);
    const bool of_stack = name == "line" || name == "file" || name == "fn" || name == "host";
    const bool is_statistic = field && query::needed_for(*field) == query::Needed::statistics;
    statistics = statistics || is_statistic;
    counts = counts || (!of_stack && !is_statistic);
  }
  return tr(statistics ? Text::rule_needs_statistics
            : counts   ? Text::rule_needs_health
                       : Text::rule_not_on_record,
            {{"names", names}});
}

causes::EventRef row_of(const Focus& focus) {
  if (focus.trace >= 0) return causes::trace_event(static_cast<std::uint32_t>(focus.trace));
  if (focus.execution < 0) return {};
  return causes::execution_event(static_cast<std::uint32_t>(focus.execution),
                                 static_cast<std::size_t>(std::max(focus.slot, 0)));
}

bool comes_before(const causes::EventRef& a, const causes::EventRef& b) {
  return std::tuple(a.is_execution, a.index, a.slot) < std::tuple(b.is_execution, b.index, b.slot);
}

void set_row(RuleLine& line, causes::EventRef row) {
  if (!row.exists()) return;
  (row.is_execution ? line.execution : line.trace) = row.index;
  line.slot = row.is_execution ? row.slot : -1;
}

}  // namespace

RuleState RuleBook::state_of(const Entry& entry) const {
  if (entry.off) return RuleState::off;
  if (!entry.rule) return RuleState::unreadable;
  if (!why_given_up(entry).empty()) return RuleState::not_judged;
  if (!entry.rule->was_judged()) return RuleState::judging;
  return entry.rule->found().could_not_be_judged() ? RuleState::not_judged : RuleState::judged;
}

// What it has found before may be less than there is by now.
std::string RuleBook::why_given_up(const Entry& entry) const {
  if (!entry.failure.empty()) return entry.failure;
  return unexplained_ && waits(*entry.rule) ? tr(Text::rule_unexplained) : std::string();
}

std::string RuleBook::problem_of(const Entry& entry) const {
  const std::string given_up = why_given_up(entry);
  return given_up.empty() ? why_not_judged(entry.rule->found()) : given_up;
}

RuleLine RuleBook::describe(const Entry& entry) const {
  RuleLine line;
  line.state = state_of(entry);
  line.text = entry.text;
  line.file = entry.file;
  line.line = entry.line;
  line.name = entry.parts.name;
  line.level = level_of(entry.parts.level);
  line.expression = entry.parts.conditions;
  line.reason = entry.parts.reason;
  // The others' names are their own; one of these may be called as one of them.
  if (!entry.rule || entry.off) line.key = "line " + std::to_string(entry.file) + ":" + std::to_string(entry.line);
  if (!entry.rule) {
    line.problem = rule_error_text(entry.error);
    line.begin = static_cast<std::uint32_t>(entry.error.begin);
    line.end = static_cast<std::uint32_t>(entry.error.end);
    return line;
  }
  const query::Judgement& found = entry.rule->found();
  if (!entry.off) line.key = "rule " + line.name;
  line.problem = problem_of(entry);
  line.holds = !entry.off && entry.rule->holds();
  line.total = entry.rule->rule().conditions.total.has_value();
  line.rows = line.total && line.holds ? found.hits.front().count : found.held;
  line.places = entry.rule->num_places();
  line.unjudged = found.unjudged;
  if (!found.hits.empty()) set_row(line, found.hits.front().row);
  return line;
}

RuleLine RuleBook::describe(const RulePlace& place) const {
  RuleLine line;
  line.kind = RuleLineKind::place;
  line.op = place.tensor;
  line.place = place.place;
  line.facts = place.facts;
  line.rows = place.count;
  set_row(line, place.first);
  return line;
}

RuleLine RuleBook::describe(causes::EventRef row, const RulePlace& place) const {
  RuleLine line;
  line.kind = RuleLineKind::row;
  line.op = place.tensor;
  line.rows = 1;
  set_row(line, row);
  return line;
}

RuleDraft RuleBook::describe_draft() const {
  RuleDraft d;
  d.text = asked_.draft;
  if (!has_draft_) return d;
  d.state = state_of(draft_);
  if (!draft_.rule) {
    const Entry* const other = draft_.error.problem == query::Problem::name_taken ? named(draft_.error.name) : nullptr;
    d.error = other != nullptr && other->off ? tr(Text::rule_name_of_off, {{"name", draft_.error.name}})
                                             : rule_error_text(draft_.error);
    d.begin = static_cast<std::uint32_t>(std::min(draft_.error.begin, d.text.size()));
    d.end = static_cast<std::uint32_t>(std::min(draft_.error.end, d.text.size()));
    const std::size_t colon = d.text.find(':');
    d.in_name = draft_.error.begin < colon;
    return d;
  }
  const JudgedRule& rule = *draft_.rule;
  const auto& run = index_.run();
  const std::size_t total = run.num_traces() + run.num_executions();
  const bool known = rule.was_judged();
  d.done = known ? 1 : total == 0 ? 0 : static_cast<double>(rule.rows_seen()) / static_cast<double>(total);
  d.holds = known && rule.holds();
  d.rows = rule.rule().conditions.total && d.holds ? rule.found().hits.front().count : rule.found().held;
  d.places = rule.num_places();
  d.unjudged = rule.found().unjudged;
  d.problem = problem_of(draft_);
  return d;
}

void RuleBook::count(RuleList& list) const {
  list.holding.assign(3, 0);
  list.num_rules = entries_.size() + num_left_out_;
  for (const Entry& entry : entries_) {
    const RuleState state = state_of(entry);
    list.num_off += state == RuleState::off;
    list.num_not_judged += state == RuleState::not_judged || state == RuleState::unreadable;
    if (state == RuleState::off || !entry.rule) continue;
    list.num_judging += !entry.rule->complete() && !waits(*entry.rule) && entry.failure.empty();
    list.cut = list.cut || entry.rule->is_cut();
    if (entry.rule->holds()) ++list.holding[static_cast<std::size_t>(entry.rule->rule().level)];
  }
}

// Lines as they are asked for: all are counted, those on screen alone are made.
class RuleBook::Window {
 public:
  Window(RuleList& list, const RulesView& view)
      : list_(list),
        begin_(view.first),
        end_(view.first + view.count),
        unfolded_(view.unfolded.begin(), view.unfolded.end()) {}
  [[nodiscard]] bool is_open(const std::string& key) const { return unfolded_.contains(key); }
  [[nodiscard]] std::uint64_t count() const { return at_; }
  void add(RuleLine line) {
    if (at_ >= begin_ && at_ < end_) list_.lines.push_back(std::move(line));
    ++at_;
  }
  template <class Make>
  void add_many(std::uint64_t count, Make&& make) {
    const std::uint64_t first = std::max(at_, begin_);
    for (std::uint64_t k = first; k < std::min(at_ + count, end_); ++k) list_.lines.push_back(make(k - at_));
    at_ += count;
  }
  void add_rest(std::uint64_t rows, std::uint64_t places) {
    if (rows == 0 && places == 0) return;
    RuleLine line;
    line.kind = RuleLineKind::more;
    line.rows = rows;
    line.places = places;
    add(std::move(line));
  }

 private:
  RuleList& list_;
  std::uint64_t begin_;
  std::uint64_t end_;
  std::uint64_t at_ = 0;
  std::unordered_set<std::string> unfolded_;
};

void RuleBook::add_place(const Entry& entry, const RulePlace& place, const std::string& key, Window& window) const {
  RuleLine line = describe(place);
  line.key = key + "\n" + place.tensor + "\n" + place.place;
  line.level = level_of(entry.rule->rule().level);
  line.total = entry.rule->rule().conditions.total.has_value();
  const bool open = window.is_open(line.key);
  window.add(std::move(line));
  if (!open) return;
  window.add_many(place.rows.size(), [&](std::uint64_t k) {
    return describe(entry.rule->found().hit_rows[place.rows[static_cast<std::size_t>(k)]].row, place);
  });
  window.add_rest(place.count - place.rows.size(), 0);
}

RuleList RuleBook::fill(const RulesView& view) {
  RuleList list;
  count(list);
  list.draft = describe_draft();
  list.first = view.first;
  Window window(list, view);
  for (const Entry& entry : entries_) {
    RuleLine head = describe(entry);
    const std::string key = head.key;
    window.add(std::move(head));
    if (entry.off || !entry.rule || !window.is_open(key)) continue;
    for (const RulePlace& place : entry.rule->places()) add_place(entry, place, key, window);
    window.add_rest(0, entry.rule->found().hits_left_out);
  }
  if (num_left_out_ > 0) {
    RuleLine rest;
    rest.kind = RuleLineKind::more_rules;
    rest.rows = num_left_out_;
    window.add(std::move(rest));
  }
  list.num_lines = window.count();
  return list;
}

Focus RuleBook::step_hit(const std::string& rule, const Focus& from, std::int64_t direction, std::string& notice) {
  const Entry* const entry = holding(rule);
  if (entry == nullptr || entry->rule->found().hit_rows.empty()) {
    notice = tr(entry == nullptr ? Text::rule_none_holds : Text::rule_no_hits);
    return from;
  }
  last_ = entry->rule->rule().name;
  std::vector<causes::EventRef> rows;
  for (const query::HitRow& hit : entry->rule->found().hit_rows) rows.push_back(hit.row);
  std::sort(rows.begin(), rows.end(), comes_before);
  const causes::EventRef here = row_of(from);
  auto to = rows.cbegin();
  if (here.exists() && direction > 0) {
    to = std::upper_bound(rows.cbegin(), rows.cend(), here, comes_before);
    if (to == rows.cend()) to = rows.cbegin();
  } else if (direction < 0) {
    to = here.exists() ? std::lower_bound(rows.cbegin(), rows.cend(), here, comes_before) : rows.cbegin();
    to = (to == rows.cbegin() ? rows.cend() : to) - 1;
  }
  Focus focus;
  (to->is_execution ? focus.execution : focus.trace) = to->index;
  if (to->is_execution) focus.slot = to->slot;
  return focus;
}

const std::vector<std::uint8_t>& RuleBook::signs() {
  find_signs();
  return signs_;
}

void RuleBook::mark(Timeline& timeline) {
  find_signs();
  for (Box& box : timeline.boxes)
    if (box.index < call_signs_.size()) box.rules = call_signs_[static_cast<std::size_t>(box.index)];
}

// A call has the signs of its rows.
void RuleBook::find_signs() {
  if (!std::exchange(signs_due_, false)) return;
  constexpr std::uint8_t of_level[] = {minimap_error, minimap_warning, minimap_note};
  const reader::Run& run = index_.run();
  signs_.clear();
  call_signs_.clear();
  const auto set = [](std::vector<std::uint8_t>& signs, std::size_t size, std::uint32_t at, std::uint8_t sign) {
    if (signs.size() < size) signs.resize(size);
    if (at < signs.size()) signs[at] |= sign;
  };
  for (const Entry& entry : entries_) {
    if (entry.off || !entry.rule) continue;
    const std::uint8_t sign = of_level[static_cast<std::size_t>(entry.rule->rule().level)];
    for (const query::HitRow& hit : entry.rule->found().hit_rows) {
      const std::uint32_t call = hit.row.is_execution ? hit.row.index : run.trace_execution(hit.row.index);
      if (!hit.row.is_execution) set(signs_, run.num_traces(), hit.row.index, sign);
      if (hit.row.exists()) set(call_signs_, run.num_executions(), call, sign);
    }
  }
}

}  // namespace nanlens::viewer
