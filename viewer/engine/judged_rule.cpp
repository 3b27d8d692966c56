#include "judged_rule.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include <nanlens/causes/stack_of.hpp>
#include <nanlens/query/names.hpp>
#include <nanlens/reader/stack.hpp>

#include "report/describe.hpp"

namespace nanlens::viewer {

namespace {

std::string short_value(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

// "zero = 98 %, norm 0.1 → 12": in no language.
std::string facts_of(const query::Hit& hit) {
  std::string text;
  const auto add = [&](const std::string& fact) { text += (text.empty() ? "" : ", ") + fact; };
  for (const query::NumberSeen& seen : hit.numbers) {
    const std::string value =
        seen.size > 0 ? short_value(100 * seen.value / seen.size) + " %" : short_value(seen.value);
    add(std::string(query::name_of(seen.field)) + " = " + value);
  }
  for (const query::ChangeSeen& change : hit.changes)
    add(std::string(query::name_of(change.field)) + " " + short_value(change.from) + " → " + short_value(change.to));
  return text;
}

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  const std::size_t end = text.find_last_not_of(" \t\r");
  return begin == std::string::npos ? std::string() : text.substr(begin, end + 1 - begin);
}

}  // namespace

// What stands on the line counts, not its number: turns of a loop that was unrolled are one place.
RulePlaces::Named RulePlaces::name(const query::Hit& hit) {
  Named named;
  named.key = hit.op_type + '\n' + hit.op_name;
  if (!hit.row.exists()) return named;
  if (!hit.row.is_execution) {
    const auto& definitions = run_.definitions();
    named.key += '\n';
    named.key += definitions.text(definitions.graphs()[definitions.ops()[run_.trace_op(hit.row.index)].graph].name);
  }
  const auto frame = reader::user_frame(causes::stack_of(run_, hit.row));
  if (!frame || frame->line <= 0) return named;
  const std::string file = frame->file_path.substr(frame->file_path.rfind('/') + 1);
  named.place = file + ":" + std::to_string(frame->line);
  const auto [text, is_new] =
      line_texts_.try_emplace(frame->host_name + '\n' + frame->file_path + ':' + std::to_string(frame->line));
  if (is_new) {
    text->second = std::to_string(frame->line);
    if (const auto line = reader::source_line(run_, *frame))
      if (std::string shown = trimmed(*line); !shown.empty()) text->second = std::move(shown);
  }
  named.key += '\n' + file + '\n' + report::short_function(frame->function) + '\n' + text->second;
  return named;
}

bool JudgedRule::step(reader::Run& run, query::Surroundings& around, RulePlaces& places, std::size_t rows) {
  constexpr std::size_t slice = 64;
  if (complete_) return false;
  if (!next_) {
    if (!judge_) {
      judge_ = std::make_unique<query::Judge>(run, rule_, around, query::Kept{most_rule_hits, rows});
      had_traces_ = run.num_traces();
    }
    if (judge_->advance(slice)) next_ = judge_->judgement();
    return true;
  }
  if (place_of_hit_.size() < next_->hits.size())
    place_next(places);
  else
    publish(rows);
  return !complete_;
}

void JudgedRule::place_next(RulePlaces& places) {
  const query::Hit& hit = next_->hits[place_of_hit_.size()];
  RulePlaces::Named named = places.name(hit);
  const auto number = static_cast<std::uint32_t>(next_places_.size());
  const auto [known, is_new] = place_by_key_.try_emplace(std::move(named.key), number);
  if (is_new) next_places_.push_back({hit.row, hit.tensor, std::move(named.place), facts_of(hit), 0, {}});
  next_places_[known->second].count += hit.count;
  place_of_hit_.push_back(known->second);
}

// Others may have found some since the judge was told how many it may keep.
void JudgedRule::publish(std::size_t rows) {
  if (next_->hit_rows.size() > rows)
    next_->hit_rows = {next_->hit_rows.begin(), next_->hit_rows.begin() + static_cast<std::ptrdiff_t>(rows)};
  for (std::size_t i = 0; i < next_->hit_rows.size(); ++i)
    next_places_[place_of_hit_[next_->hit_rows[i].hit]].rows.push_back(static_cast<std::uint32_t>(i));
  found_ = std::move(*next_);
  places_ = std::move(next_places_);
  next_.reset();
  next_places_.clear();
  place_of_hit_.clear();
  place_by_key_.clear();
  was_judged_ = true;
  complete_ = !std::exchange(behind_, false);
  if (!std::exchange(again_, false)) return;
  judge_.reset();
  complete_ = false;
}

void JudgedRule::grow(bool anew, std::size_t num_traces) {
  // Where there are rows of graphs, calls are none of their own any more.
  anew = anew || uses_calls() || (judge_ && had_traces_ == 0 && num_traces > 0);
  if (anew && !complete_ && judge_) {
    again_ = true;  // else a run that grows all the time would never be judged to its end
    return;
  }
  if (anew) judge_.reset();
  complete_ = false;
  behind_ = next_.has_value();
}

}  // namespace nanlens::viewer
