#include "alerts.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "badges.hpp"
#include "texts/texts.hpp"

namespace nanlens::viewer {

namespace {

constexpr std::size_t sparkline_cells = 40;

std::int32_t rank_of(const reader::Run& run, const reader::AlertRef& ref) {
  return run.rank_of_set(ref.is_execution ? run.set_of_execution(ref.event) : run.set_of_trace(ref.event));
}

std::string rank_name(std::int32_t rank, Tongue in) {
  return rank < 0 ? "" : tr(in, Text::rank_named, {{"rank", rank}});
}

}  // namespace

std::uint64_t AlertList::op_key(std::size_t alert) const {
  const auto& ref = index_.run().alerts()[alert];
  return std::uint64_t{ref.is_execution} << 32 | ref.op;
}

std::string AlertList::site(std::size_t alert) const {
  const auto& ref = index_.run().alerts()[alert];
  if (ref.is_execution) return index_.text(ref.op);
  const auto& op = index_.op(ref.op);
  return index_.text(index_.graph(op.graph).name).append("/").append(index_.text(op.name));
}

void AlertList::set_expected(const std::vector<std::string>& sites) {
  if (sites == expected_) return;
  expected_ = sites;
  invalidate();
}

void AlertList::find_expected() {
  expected_ops_.clear();
  if (expected_.empty()) return;
  std::unordered_set<std::uint64_t> seen;
  for (std::size_t i = 0; i < index_.run().alerts().size(); ++i) {
    const std::uint64_t key = op_key(i);
    if (seen.insert(key).second && std::find(expected_.begin(), expected_.end(), site(i)) != expected_.end())
      expected_ops_.insert(key);
  }
}

void AlertList::find_muted() {
  muted_.clear();
  num_muted_ = 0;
  if (!explain_.has_mutes()) return;
  muted_.resize(index_.run().alerts().size());
  for (std::size_t i = 0; i < muted_.size(); ++i) {
    muted_[i] = explain_.mute_of_alert(i) != nullptr;
    num_muted_ += muted_[i] ? 1U : 0U;
  }
}

std::string AlertList::line_of(const reader::AlertRef& ref) {
  reader::Run& run = index_.run();
  std::optional<logdir::CodeLocation> location;
  if (ref.is_execution) {
    if (auto detail = run.execution(ref.event)) location = std::move(detail->event.code_location);
  } else if (auto detail = run.op(ref.op)) {
    location = std::move(detail->event.code_location);
  }
  const auto frame = reader::user_frame(reader::resolve_stack(run, location));
  if (!frame) return {};
  return frame->file_path.substr(frame->file_path.rfind('/') + 1) + ":" + std::to_string(frame->line);
}

std::string AlertList::group_name(const reader::AlertRef& ref, std::uint32_t call, EventClass event_class, Tongue in) {
  if (by_ == "call") {
    const auto execution = call == reader::none ? std::nullopt : index_.run().execution(call);
    return execution ? "#" + std::to_string(call) + " " + execution->event.op_type : "";
  }
  if (by_ == "class") return causes::class_words(event_class);
  if (by_ == "rank") return rank_name(rank_of(index_.run(), ref), in);
  if (by_ == "graph") return ref.is_execution ? "" : index_.text(index_.graph(index_.op(ref.op).graph).name);
  if (by_ == "line") return line_of(ref);
  return ref.is_execution ? index_.text(ref.op) : index_.text(index_.op(ref.op).type);
}

void AlertList::group(const std::string& by) {
  if (by == by_) return;
  by_ = by;
  groups_.clear();
  reader::Run& run = index_.run();
  std::unordered_map<std::string, std::size_t> group_of;
  std::unordered_map<std::uint64_t, std::size_t> group_of_key;  // saves making the name for every alert
  Group expected{"expected", "expected", {}};
  Group muted{"muted", "muted", {}};
  for (std::size_t i = 0; i < run.alerts().size(); ++i) {
    if (is_muted(i)) {
      muted.alerts.push_back(static_cast<std::uint32_t>(i));
      continue;
    }
    if (is_expected(i)) {
      expected.alerts.push_back(static_cast<std::uint32_t>(i));
      continue;
    }
    const auto& ref = run.alerts()[i];
    const std::uint32_t call = ref.is_execution ? ref.event : run.trace_execution(ref.event);
    const EventClass event_class = by == "class" ? explain_.of_alert(i) : EventClass::unknown;
    const std::uint64_t key = by == "call"    ? call
                              : by == "class" ? static_cast<std::uint64_t>(event_class)
                              : by == "rank"  ? static_cast<std::uint64_t>(rank_of(run, ref))
                                              : op_key(i);
    const auto known = group_of_key.find(key);
    if (known != group_of_key.end()) {
      groups_[known->second].alerts.push_back(static_cast<std::uint32_t>(i));
      continue;
    }
    // What is folded stays so in another language.
    const std::string lasting = group_name(ref, call, event_class, Tongue::english);
    const auto [found, is_new] = group_of.try_emplace(lasting, groups_.size());
    if (is_new) groups_.push_back({lasting, by == "rank" ? group_name(ref, call, event_class, tongue()) : lasting, {}});
    group_of_key.emplace(key, found->second);
    groups_[found->second].alerts.push_back(static_cast<std::uint32_t>(i));
  }
  if (!expected.alerts.empty()) groups_.push_back(std::move(expected));
  if (!muted.alerts.empty()) groups_.push_back(std::move(muted));
}

AlertLine AlertList::describe(const Group& group) {
  AlertLine line;
  line.group = true;
  line.key = group.key;
  line.text = group.name;
  line.count = group.alerts.size();
  if (by_ == "class") line.event_class = explain_.of_alert(group.alerts.front());
  const auto& alerts = index_.run().alerts();
  const double begin = alerts.front().wall_time;
  const double duration = std::max(1e-9, alerts.back().wall_time - begin);
  std::vector<std::uint32_t> cells(sparkline_cells);
  for (const std::uint32_t i : group.alerts) {
    const double share = (alerts[i].wall_time - begin) / duration;  // of a damaged record's time it is no number
    const double cell = share > 0 ? std::min(share, 1.0) * sparkline_cells : 0;
    ++cells[std::min(sparkline_cells - 1, static_cast<std::size_t>(cell))];
  }
  const std::uint32_t most = std::max<std::uint32_t>(1, *std::max_element(cells.begin(), cells.end()));
  for (const std::uint32_t n : cells)
    line.sparkline.push_back(static_cast<std::uint8_t>((n * 255ull + most - 1) / most));
  return line;
}

AlertLine AlertList::describe(std::size_t i) {
  reader::Run& run = index_.run();
  AlertLine line;
  line.index = static_cast<std::int64_t>(i);
  const auto& ref = run.alerts()[i];
  line.job_rank = rank_of(run, ref);
  const auto alert = run.alert(ref);
  if (!alert) {
    line.text = tr(Text::badge_unreadable);
    return line;
  }
  line.event_class = explain_.of_alert(i);
  if (const report::Mute* const mark = explain_.mute_of_alert(i))
    line.muted = mark->place() + " (" + mark->reason + ")";
  line.op_name = alert->op_name;
  line.op_type = alert->op_type;
  line.output_slot = alert->output_slot;
  if (ref.is_execution) {
    line.execution = ref.event;
    line.call = ref.event;
    line.text = alert->op_type + ":" + std::to_string(alert->output_slot);
  } else {
    line.trace = ref.event;
    const std::uint32_t call = run.trace_execution(ref.event);
    line.call = call == reader::none ? -1 : static_cast<std::int64_t>(call);
    line.text = alert->op_name + ":" + std::to_string(alert->output_slot);
    line.graph_name = index_.text(index_.graph(index_.op(ref.op).graph).name);
  }
  const auto count = [&](BadgeKind kind, double n) {
    if (n > 0) line.badges.push_back({kind, n, {}});
  };
  count(BadgeKind::nan, alert->health.num_nan);
  count(BadgeKind::ninf, alert->health.num_neg_inf);
  count(BadgeKind::pinf, alert->health.num_pos_inf);
  if (line.badges.empty()) line.badges.push_back({BadgeKind::curt, 1, {}});
  return line;
}

std::vector<std::uint32_t> AlertList::all() const {
  std::vector<std::uint32_t> numbers(index_.run().alerts().size());
  std::iota(numbers.begin(), numbers.end(), 0U);
  return numbers;
}

std::int64_t AlertList::find(const Focus& focus) const {
  auto& run = index_.run();
  const auto& alerts = run.alerts();
  const bool is_trace = focus.trace >= 0;
  const std::int64_t event = is_trace ? focus.trace : focus.execution;
  const auto count = static_cast<std::int64_t>(is_trace ? run.num_traces() : run.num_executions());
  if (event < 0 || event >= count) return -1;
  const auto e = static_cast<std::size_t>(event);
  if (((is_trace ? run.trace_flags(e) : run.execution_flags(e)) & reader::bad_flags) == 0) return -1;
  // A bad event is among the alerts; which, needs a look at all of them, since they are in the order of time.
  std::int64_t first = -1;
  for (std::size_t i = 0; i < alerts.size(); ++i) {
    if (alerts[i].event != event || alerts[i].is_execution == is_trace) continue;
    if (first < 0) first = static_cast<std::int64_t>(i);
    if (is_trace || focus.slot < 0) break;
    // An execution has an alert for each bad output.
    if (const auto alert = run.alert(alerts[i]); alert && alert->output_slot == focus.slot)
      return static_cast<std::int64_t>(i);
  }
  return first;
}

Alerts AlertList::fill(const View& view, std::int64_t focus_alert) {
  Alerts answer;
  answer.total = index_.run().alerts().size();
  answer.muted = num_muted_;
  answer.by = view.alerts_by;
  if (answer.total == 0) return answer;
  group(view.alerts_by);
  const auto folded = [&](const Group& g) {
    return std::find(view.alerts_folded.begin(), view.alerts_folded.end(), g.key) != view.alerts_folded.end();
  };
  answer.first = view.alerts_first;
  const std::uint64_t end = view.alerts_first + view.alerts_count;
  std::uint64_t at = 0;
  for (const Group& g : groups_) {
    if (at >= view.alerts_first && at < end) answer.lines.push_back(describe(g));
    ++at;
    if (folded(g)) continue;
    const std::uint64_t begin = at;
    at += g.alerts.size();
    for (std::uint64_t line = std::max(begin, view.alerts_first); line < std::min(at, end); ++line)
      answer.lines.push_back(describe(static_cast<std::size_t>(g.alerts[static_cast<std::size_t>(line - begin)])));
    if (focus_alert < 0 || answer.line_of_focus >= 0) continue;
    const auto found = std::lower_bound(g.alerts.begin(), g.alerts.end(), static_cast<std::uint32_t>(focus_alert));
    if (found != g.alerts.end() && *found == focus_alert)
      answer.line_of_focus = static_cast<std::int64_t>(begin) + (found - g.alerts.begin());
  }
  answer.num_lines = at;
  return answer;
}

}  // namespace nanlens::viewer
