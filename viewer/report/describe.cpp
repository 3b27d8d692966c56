#include "describe.hpp"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <map>
#include <span>
#include <string>
#include <utility>

#include <nanlens/causes/evidence.hpp>
#include <nanlens/causes/stack_of.hpp>
#include <nanlens/summary/summarize.hpp>
#include <nanlens/tensor/dtype_name.hpp>

#include "texts/numbers.hpp"
#include "texts/speech.hpp"
#include "texts/texts.hpp"

namespace nanlens::report {

namespace {

using viewer::Text;
using viewer::tr;

void add_count(std::string& text, const char* name, double count) {
  if (count <= 0) return;
  if (!text.empty()) text += ", ";
  text += std::string(name) + " ×" + with_separators(static_cast<std::uint64_t>(count));
}

std::string describe_counts(const reader::TensorHealth& h) {
  std::string counts;
  const bool complex = dtype_kind(h.dtype) == DTypeKind::complex;  // in what is counted a part is NaN or infinite
  add_count(counts, complex ? tr(Text::out_nan_or_inf) : "NaN", h.num_nan);
  add_count(counts, "−∞", h.num_neg_inf);
  add_count(counts, "+∞", h.num_pos_inf);
  add_count(counts, "−", h.num_negative);
  add_count(counts, "0", h.num_zero);
  add_count(counts, "+", h.num_positive);
  return counts;
}

// Of more than six dimensions the last are on record.
std::string describe_shape(double rank, std::span<const double> extents) {
  std::string shape;
  for (const double extent : extents)
    shape += (shape.empty() ? "" : ",") + std::to_string(static_cast<std::int64_t>(extent));
  return (rank > static_cast<double>(extents.size()) ? "[…," : "[") + shape + "]";
}

}  // namespace

std::string sentence_of(const std::string& text) {
  return causes::say(viewer::speech(), causes::Saying::full_stop, {{"text", text}});
}

std::string with_separators(std::uint64_t value) {
  std::string text = std::to_string(value);
  for (std::size_t i = text.size(); i > 3;) text.insert(i -= 3, tr(Text::number_group));
  return text;
}

std::string describe_values(std::int32_t number, const reader::TensorValues& values) {
  const auto mode = static_cast<TensorDebugMode>(number);
  const reader::TensorHealth h = values ? reader::tensor_health(mode, *values) : reader::TensorHealth{};
  if (!h.known()) return {};
  if (!tells(mode, Told::size)) return tr(h.bad() ? Text::out_has_bad : Text::out_has_none);
  std::string text = tells(mode, Told::rank) ? std::string(dtype_name(h.dtype)) + " " : "";
  if (summary_places(mode).extents != 0)
    return text + tr(Text::out_shape, {{"shape", describe_shape(h.rank, extents_in(mode, *values))}});
  if (h.rank >= 0) text += with_separators(static_cast<std::uint64_t>(h.rank)) + "D ";
  text += tr(Text::out_size, {{"n", h.size}});
  const std::string counts = describe_counts(h);
  if (!counts.empty()) return text + ": " + counts;
  return tells(mode, Told::finite_counts) ? text : text + ": " + tr(Text::out_has_none);
}

std::string values_of(reader::Run& run, causes::EventRef event) {
  if (!event.is_execution) {
    const auto detail = run.trace(event.index);
    return detail ? describe_values(detail->event.tensor_debug_mode, detail->debug_tensor_value) : "";
  }
  const auto detail = run.execution(event.index);
  if (!detail || event.slot >= detail->debug_tensor_values.size()) return "";
  return describe_values(detail->event.tensor_debug_mode, detail->debug_tensor_values[event.slot]);
}

std::string describe_tensor(const reader::Alert& alert) {
  if (alert.trace != reader::none) return alert.op_name + ":" + std::to_string(alert.output_slot);
  return tr(Text::out_output, {{"op", alert.op_type}, {"slot", alert.output_slot}});
}

std::string describe_health(const reader::TensorHealth& health) {
  std::string text(dtype_name(health.dtype));
  if (health.rank >= 0) text += " " + std::to_string(static_cast<int>(health.rank)) + "D";
  if (health.size >= 0) text += " " + tr(Text::out_size, {{"n", health.size}});
  const std::string counts = describe_counts(health);
  return text + (counts.empty() ? "" : ": " + counts);
}

std::string elements_text(const logdir::TensorEvidence& seen) {
  const std::size_t rank = seen.shape.size();
  const std::size_t count = rank == 0 ? std::min<std::size_t>(seen.values.size(), 1) : seen.positions.size() / rank;
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) text += ", ";
    for (std::size_t axis = 0; axis < rank; ++axis)
      text += (axis == 0 ? "[" : ",") + std::to_string(seen.positions[i * rank + axis]);
    if (rank > 0) text += "]";
    if (i < seen.values.size()) text += (rank > 0 ? " " : "") + viewer::value_text(seen.values[i]);
  }
  return text;
}

std::string describe_alert(const reader::TensorHealth& health) {
  std::string counts;
  add_count(counts, "NaN", health.num_nan);
  add_count(counts, "−∞", health.num_neg_inf);
  add_count(counts, "+∞", health.num_pos_inf);
  return counts.empty() ? tr(Text::out_nan_or_inf) : counts;
}

std::vector<reader::StackFrame> stack_of(reader::Run& run, const reader::Alert& alert) {
  if (alert.trace == reader::none) {
    const auto detail = run.execution(alert.execution);
    return detail ? reader::resolve_stack(run, detail->event.code_location) : std::vector<reader::StackFrame>{};
  }
  const auto op = run.op(run.trace_op(alert.trace));
  return op ? reader::resolve_stack(run, op->event.code_location) : std::vector<reader::StackFrame>{};
}

std::string describe_start(double wall_time) {
  constexpr double year_10000 = 253402300800;  // a damaged record may tell any time
  if (!(wall_time >= 0 && wall_time < year_10000)) return tr(Text::out_no_time);
  const auto seconds = static_cast<std::time_t>(wall_time);
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  char time[64];
  std::strftime(time, sizeof time, "%Y-%m-%d %H:%M:%S UTC", &utc);
  return time;
}

std::string run_name(const reader::Run& run) {
  std::string hosts;
  for (const auto& host : run.hosts()) hosts += (hosts.empty() ? "" : ", ") + host;
  const std::string id = run.id().empty() ? tr(Text::out_no_id) : run.id();
  const std::string time = describe_start(run.starting_wall_time());
  return tr(Text::out_run_name, {{"id", id}, {"hosts", hosts}, {"time", time}});
}

std::vector<std::string> missing_words(std::uint64_t dropped, std::uint64_t unread_tensors) {
  std::vector<std::string> reasons;
  if (dropped > 0) reasons.push_back(tr(Text::out_not_recorded, {{"n", dropped}}));
  if (unread_tensors > 0) reasons.push_back(tr(Text::out_not_read, {{"n", unread_tensors}}));
  return reasons;
}

std::vector<std::string> unfinished_words(const reader::Run& run) {
  std::vector<std::string> reasons = missing_words(run.dropped(), run.unread_tensors());
  if (run.clean_end() == false) reasons.emplace_back(tr(Text::out_no_clean_end));
  if (const auto& complex = run.bad_complex(); run.alerts().empty() && !complex.empty())
    reasons.push_back(tr(Text::out_complex, {{"n", complex.size()}, {"first", complex.front()}}));
  return reasons;
}

bool tells_nothing(const reader::Run& run) {
  for (std::size_t i = 0; i < run.num_traces(); ++i)
    if ((run.trace_flags(i) & reader::has_summary_flag) != 0) return false;
  for (std::size_t i = 0; i < run.num_executions(); ++i)
    if ((run.execution_flags(i) & reader::has_summary_flag) != 0) return false;
  return run.num_traces() + run.num_executions() > 0;
}

std::string left_out_words(const reader::Run& run) {
  const logdir::LeftOut left_out = run.left_out();
  if (left_out == logdir::LeftOut{}) return {};
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%.1f s", static_cast<double>(left_out.ns) * 1e-9);
  std::string time = seconds;
  if (const std::size_t point = time.find('.'); point != std::string::npos)
    time.replace(point, 1, tr(Text::number_point));
  const bool all = run.clean_end() == true;
  if (left_out.steps == 0 && left_out.ops == 0)
    return tr(all ? Text::out_paused : Text::out_paused_least, {{"time", time}});
  std::string what = left_out.steps > 0 ? tr(Text::out_steps, {{"n", left_out.steps}}) : std::string();
  const std::string ops = left_out.ops > 0 ? tr(Text::out_ops, {{"n", left_out.ops}}) : std::string();
  what = what.empty() ? ops : ops.empty() ? what : tr(Text::out_and, {{"one", what}, {"other", ops}});
  if (!all) what = tr(Text::out_least, {{"what", what}});
  if (left_out.ns > 0) what = tr(Text::out_during, {{"what", what}, {"time", time}});  // 0: of a part, by `share`
  return tr(Text::out_left_out, {{"what", what}, {"n", left_out.steps + left_out.ops}});
}

std::string expected_words(causes::SentenceWriter& writer, const causes::CauseGroup& group) {
  return tr(Text::out_expected, {{"text", writer.sentence(group.root).text}}) + writer.times_words(group.root);
}

std::string ring_words(const reader::Run& run) {
  const std::uint64_t kept = run.kept_last();
  return kept > 0 ? tr(Text::out_ring, {{"n", kept}}) : std::string();
}

std::string untrapped_words(reader::Run& run) {
  return causes::trapped_in_part(run) ? tr(Text::out_untrapped) : std::string();
}

namespace {

// "relu.cpp:12", else the event's op.
std::string place_of_hit(reader::Run& run, const reader::RuleHitRow& row) {
  const causes::EventRef event =
      row.is_execution ? causes::execution_event(row.event, 0) : causes::trace_event(row.event);
  if (const auto frame = reader::user_frame(causes::stack_of(run, event)); frame && frame->line > 0)
    return frame->file_path.substr(frame->file_path.rfind('/') + 1) + ":" + std::to_string(frame->line);
  if (!row.is_execution) {
    const auto detail = run.trace(row.event);
    return detail ? detail->event.op_name : std::string();
  }
  const auto detail = run.execution(row.event);
  return detail ? detail->event.op_type : std::string();
}

// Each rule once, with the first place where it held. A program that has not ended in order has told no total: what it
// noted last is the least.
struct RuleInRun {
  logdir::RuleHit hit;
  std::string place;
  std::map<std::size_t, std::uint64_t> hits_of_set;

  void note(const logdir::RuleHit& of, std::size_t set) {
    std::uint64_t& known = hits_of_set[set];
    known = std::max(known, of.hits);
    hit.stopped = hit.stopped || of.stopped;
  }
};

class RulesInRun {
 public:
  RuleInRun& find(const logdir::RuleHit& hit) {
    const auto [known, is_new] = numbers_.try_emplace({hit.rule, hit.expression}, list.size());
    if (is_new) list.push_back({hit, {}, {}});
    return list[known->second];
  }
  std::vector<RuleInRun> list;

 private:
  std::map<std::pair<std::string, std::string>, std::size_t> numbers_;
};

std::vector<RuleInRun> rules_in(reader::Run& run) {
  RulesInRun rules;
  for (std::size_t set = 0; set < run.num_sets(); ++set)
    for (const logdir::RuleHit& outcome : run.rule_outcomes_of_set(set))
      if (outcome.hits > 0) rules.find(outcome).note(outcome, set);
  for (const reader::RuleHitRow& row : run.rule_hit_rows()) {
    std::vector<logdir::RuleHit> hits;
    if (row.is_execution) {
      if (auto detail = run.execution(row.event)) hits = std::move(detail->extension.rule_hits);
    } else if (auto detail = run.trace(row.event)) {
      hits = std::move(detail->extension.rule_hits);
    }
    const std::size_t set = row.is_execution ? run.set_of_execution(row.event) : run.set_of_trace(row.event);
    for (const logdir::RuleHit& hit : hits) {
      RuleInRun& rule = rules.find(hit);
      rule.note(hit, set);
      if (rule.place.empty()) rule.place = place_of_hit(run, row);
    }
  }
  for (RuleInRun& rule : rules.list) {
    rule.hit.hits = 0;
    for (const auto& [set, hits] : rule.hits_of_set) rule.hit.hits += hits;
  }
  return std::move(rules.list);
}

}  // namespace

std::vector<std::string> rule_words(reader::Run& run) {
  std::vector<std::string> lines;
  for (const RuleInRun& rule : rules_in(run))
    lines.push_back(tr(rule.hit.stopped ? Text::out_rule_stopped : Text::out_rule_held,
                       {{"rule", rule.hit.rule}, {"place", rule.place}, {"n", rule.hit.hits}}));
  return lines;
}

std::string not_followed_words(const logdir::RuleHit& outcome) {
  if (outcome.not_followed == 0) return {};
  return tr(Text::out_rule_not_followed, {{"rule", outcome.rule}, {"n", outcome.not_followed}});
}

std::string idle_rules_words(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return list.empty() ? list : tr(Text::out_rules_never, {{"rules", list}});
}

std::vector<std::string> rule_gaps(const reader::Run& run) {
  std::vector<std::string> lines;
  std::vector<std::string> idle;
  for (const logdir::RuleHit& outcome : run.rule_outcomes()) {
    if (std::string words = not_followed_words(outcome); !words.empty()) lines.push_back(std::move(words));
    if (outcome.idle) idle.push_back(outcome.rule);
  }
  if (std::string words = idle_rules_words(idle); !words.empty()) lines.push_back(std::move(words));
  return lines;
}

std::string short_function(const std::string& function) {
  const std::size_t parenthesis =
      function.find('(', function.find("operator()") == std::string::npos ? 0 : function.find("operator()") + 10);
  return function.substr(0, parenthesis);
}

std::string line_or_function(const reader::StackFrame& frame) {
  std::string place = causes::SentenceWriter::short_place(frame);
  return place.empty() ? short_function(frame.function) : place;
}

std::string describe_frame(const reader::StackFrame& frame) {
  const std::string function = short_function(frame.function);
  const std::string place = frame.file_path + ":" + std::to_string(frame.line);
  return function.empty() ? place : tr(Text::out_in_function, {{"place", place}, {"function", function}});
}

}  // namespace nanlens::report
