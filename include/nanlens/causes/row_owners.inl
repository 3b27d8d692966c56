// Part of row_owners.hpp: whose rows they are, and whether clocks agree.
#pragma once

#include <limits>

namespace nanlens::causes {

// Rows that calls of one name have below one function's graph.
NANLENS_API std::size_t RowOwners::rows_in(std::uint32_t type, std::uint32_t graph) {
  std::size_t n = 0;
  for (std::uint32_t call = 0; call < spans_.size(); ++call) {
    if (!calls_.is_call(call) || calls_.op_type_number(call) != type || spans_[call].first == none) continue;
    for (std::uint32_t row = spans_[call].first; row <= spans_[call].last; ++row)
      n += owner(row) == call && graphs_.top(graphs_.graph_of(run_.trace_op(row))) == graph;
    if (n > enough) break;
  }
  return n;
}

// "f", "__backward_f_3": one family, as a number.
NANLENS_API std::uint32_t RowOwners::family(std::string_view function) {
  constexpr std::string_view backward = "__backward_";
  if (function.starts_with(backward)) function = detail::without_number(function.substr(backward.size()));
  return family_names_.add(function);
}

NANLENS_API std::uint32_t RowOwners::family_of_graph(std::uint32_t graph) {
  std::uint32_t& known = family_of_graph_[graph];
  if (known == none) known = family(graphs_.graph_name(graph));
  return known;
}

// Is a graph, or one around it, of this family?
NANLENS_API bool RowOwners::is_inside(std::uint32_t graph, std::uint32_t family) {
  std::vector<std::uint64_t> asked;
  bool found = false;
  for (std::uint32_t g = graph; g != none && !found; g = graphs_.graph(g).outer) {
    if (asked.size() == limits::graph_nesting) return false;
    const std::uint64_t key = std::uint64_t{family} << 32 | g;
    if (const auto known = inside_.find(key); known != inside_.end()) {
      found = known->second;
      break;
    }
    asked.push_back(key);
    found = family_of_graph(g) == family;
  }
  for (const std::uint64_t key : asked) inside_.emplace(key, found);
  return found;
}

NANLENS_API bool RowOwners::may_run(std::uint32_t call, std::uint32_t graph) {
  if (!calls_.is_call(call)) return false;
  if (graphs_.is_root(graph)) return true;
  const std::uint32_t type = calls_.op_type_number(call);
  auto& [known_type, known] = last_answer_[graph];
  if (known_type == type) return known;
  if (type >= family_of_type_.size()) family_of_type_.resize(type + 1U, none);
  if (family_of_type_[type] == none) family_of_type_[type] = family(function_name(calls_.op_type(call)));
  known_type = type;
  return known = is_inside(graph, family_of_type_[type]) || runs_foreign_functions(type);
}

// A function that is called twice is traced once, inside its first caller: the second one has more calls than functions
// of its own, or is not on record at all.
NANLENS_API bool RowOwners::runs_foreign_functions(std::uint32_t type) {
  if (!foreign_known_) find_foreign_callers();
  const std::uint32_t family = family_of_type_[type];
  return foreign_callers_.contains(family) || !families_.contains(family);
}

NANLENS_API void RowOwners::find_foreign_callers() {
  foreign_known_ = true;
  families_.clear();
  foreign_callers_.clear();
  std::vector<bool> seen(run_.definitions().graphs().size());
  for (std::uint32_t g = 0; g < seen.size(); ++g) {
    families_.insert(family_of_graph(g));
    const GraphLinks& links = graphs_.links(g);
    if (links.unrecorded.size() <= links.functions.size()) continue;
    for (std::uint32_t outer = g; outer != none && !seen[outer]; outer = graphs_.graph(outer).outer) {
      seen[outer] = true;
      foreign_callers_.insert(family_of_graph(outer));
    }
  }
}

// Do the rows that time gives to a call belong to its function? If too few do, clocks may differ: the offset with which
// most do is taken. Rows of one host are never those of another host's calls.
NANLENS_API void RowOwners::compare_clocks() {
  std::vector<Sample> samples;
  take_samples(samples);
  constexpr double enough_share = 0.95;
  matched_ = true;
  offset_ = 0;
  sort_calls();
  const auto enough_fit = [&](const Fit& fit) {
    return static_cast<double>(fit.right) >= enough_share * static_cast<double>(samples.size());
  };
  open_rows_fit_ = rows_behind_are_of_one_call();
  Fit best = fit_of(samples, 0);
  if (!enough_fit(best)) {
    double best_offset = 0;
    for (const double offset : offsets_to_try(samples))
      if (const Fit fit = fit_of(samples, offset); fit.better_than(best)) {
        best = fit;
        best_offset = offset;
      }
    matched_ = enough_fit(best);
    if (matched_) offset_ = best_offset;
  }
  shift(offset_);
}

NANLENS_API void RowOwners::sort_calls() {
  calls_by_time_.assign(run_.num_sets(), {});
  for (std::uint32_t i = 0; i < run_.num_executions(); ++i)
    if (const double time = run_.execution_wall_time(i); time == time)
      calls_by_time_[run_.set_of_execution(i)].emplace_back(time, i);
  for (auto& calls : calls_by_time_)
    std::sort(calls.begin(), calls.end(), [](const auto& a, const auto& b) {
      return a.first < b.first || (a.first == b.first && a.second < b.second);
    });
}

// Rows of functions, from all over the run, and the last ones.
NANLENS_API void RowOwners::take_samples(std::vector<Sample>& samples) {
  const auto step = static_cast<std::uint32_t>(run_.num_traces() / enough + 1);
  constexpr std::uint32_t last = 64;
  const auto num_rows = static_cast<std::uint32_t>(run_.num_traces());
  for (std::uint32_t row = 0; row < num_rows;
       row += num_rows - row <= last ? 1 : std::min(step, num_rows - row - last)) {
    const std::uint32_t graph = graphs_.graph_of(run_.trace_op(row));
    if (graphs_.is_root(graph) || is_asynchronous(graph)) continue;
    const auto digest = run_.trace_digest(row);
    if (digest && digest->wall_time == digest->wall_time)
      samples.push_back({digest->wall_time, graph, row, run_.set_of_trace(row)});
  }
}

// Powers of two, both ways, from a tenth of a millisecond to a day; and what makes the last row of a function one of
// the function's last call.
NANLENS_API std::vector<double> RowOwners::offsets_to_try(const std::vector<Sample>& samples) {
  std::vector<double> offsets = {0};
  constexpr double shortest = 1e-4;
  constexpr double longest = 86400;
  for (double offset = shortest; offset < longest; offset *= 2) {
    offsets.push_back(offset);
    offsets.push_back(-offset);
  }
  for (const auto& [low, high] : offsets_of_last_calls(samples)) {
    const double middle = (std::max(low, high - longest) + high) / 2;
    offsets.push_back(high);
    offsets.push_back(middle);
    offsets.push_back(best_near(samples, middle));
  }
  return offsets;
}

// The offset with which most rows belong to one of the calls that they are near with another. Each row has an interval
// of offsets for each of these calls: the middle of where most of them overlap.
NANLENS_API double RowOwners::best_near(const std::vector<Sample>& samples, double offset) {
  constexpr std::size_t near = 2;
  std::vector<std::pair<double, int>> edges;
  for (const Sample& s : samples) {
    const auto& calls = calls_by_time_[s.set];
    const std::size_t position = position_at(s.time + offset, s.set);
    const std::size_t first = position - std::min(position, near);
    for (std::size_t k = first; k < std::min(calls.size(), position + near + 1); ++k) {
      if (!may_run(calls[k].second, s.graph)) continue;
      edges.emplace_back((k == 0 ? calls[k].first - 1 : calls[k - 1].first) - s.time, 1);
      edges.emplace_back(calls[k].first - s.time, -1);
    }
  }
  std::sort(edges.begin(), edges.end());
  double best = offset;
  int most = 0;
  int now = 0;
  for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
    now += edges[i].second;
    if (now <= most || edges[i].first == edges[i + 1].first) continue;
    most = now;
    best = (edges[i].first + edges[i + 1].first) / 2;
  }
  return best;
}

// For some functions: the offsets, from (excluding) … to, with which the last row is one of the last call.
NANLENS_API std::vector<std::pair<double, double>> RowOwners::offsets_of_last_calls(
    const std::vector<Sample>& samples) {
  constexpr std::size_t most = 16;
  std::vector<std::pair<double, double>> found;
  std::unordered_set<std::uint32_t> seen;
  for (std::size_t i = samples.size(); i-- > 0 && found.size() < most;) {
    const std::uint32_t top = graphs_.top(samples[i].graph);
    const std::uint32_t one = family_of_graph(top == none ? samples[i].graph : top);
    if (!seen.insert(one).second) continue;
    const auto& calls = calls_by_time_[samples[i].set];
    for (std::size_t k = calls.size(); k-- > 0;) {
      if (!calls_.is_call(calls[k].second) || family(function_name(calls_.op_type(calls[k].second))) != one) continue;
      const double before = k == 0 ? -std::numeric_limits<double>::infinity() : calls[k - 1].first;
      found.emplace_back(before - samples[i].time, calls[k].first - samples[i].time);
      break;
    }
  }
  return found;
}

NANLENS_API RowOwners::Fit RowOwners::fit_of(const std::vector<Sample>& samples, double offset) {
  Fit fit;
  std::vector<std::size_t> last(run_.num_sets(), 0);  // position of the last call with rows, of each set
  for (const Sample& s : samples) {
    const bool as_read = offset == 0 && run_.num_sets() == 1;
    const std::size_t position = position_at(s.time + offset, s.set);
    const auto& calls = calls_by_time_[s.set];
    const bool open = position == calls.size();
    if (!open) last[s.set] = std::max(last[s.set], position);
    const std::uint32_t call = as_read ? run_.trace_execution(s.row) : open ? none : calls[position].second;
    // That a call has not ended yet is no fault.
    fit.right += call == none ? offset == 0 && open_rows_fit_ : may_run(call, s.graph);
  }
  // Where all steps take the same time, an offset of whole steps fits nearly as well: but the last calls are left
  // without rows then.
  fit.calls_without_rows = offset == 0 ? 0 : calls_behind(last, samples);
  return fit;
}

// A call makes no tensor of its function twice, outside of loops: rows of several calls behind the last one that is on
// record are by another clock.
NANLENS_API bool RowOwners::rows_behind_are_of_one_call() {
  constexpr std::uint32_t threads = 2;  // as many calls may be under way
  std::unordered_map<std::uint32_t, std::uint32_t> times;
  std::size_t seen = 0;
  for (auto row = static_cast<std::uint32_t>(run_.num_traces()); row-- > 0 && seen++ < enough;) {
    const std::uint32_t call = run_.num_sets() == 1 ? run_.trace_execution(row) : call_after(row);
    if (call != none) return true;
    const std::uint32_t op = run_.trace_op(row);
    const std::uint32_t graph = graphs_.graph_of(op);
    if (graphs_.top(graph) != graph || is_asynchronous(graph) || graphs_.op(op).num_outputs > 1) continue;
    if (++times[op] > threads) return false;
  }
  return true;
}

// Calls of functions whose rows are in the samples, behind the last ones that have rows.
NANLENS_API std::size_t RowOwners::calls_behind(const std::vector<std::size_t>& last,
                                                const std::vector<Sample>& samples) {
  std::unordered_set<std::uint32_t> families;
  for (const Sample& s : samples)
    if (const std::uint32_t top = graphs_.top(s.graph); top != none) families.insert(family_of_graph(top));
  std::size_t n = 0;
  for (std::size_t set = 0; set < last.size(); ++set)
    for (std::size_t i = last[set] + 1; i < calls_by_time_[set].size() && n < enough; ++i) {
      const std::uint32_t call = calls_by_time_[set][i].second;
      n += calls_.is_call(call) && families.contains(family(function_name(calls_.op_type(call))));
    }
  return n;
}

NANLENS_API void RowOwners::shift(double offset) {
  shifted_.clear();
  if (offset == 0 && run_.num_sets() == 1) return;
  shifted_.reserve(run_.num_traces());
  for (std::uint32_t row = 0; row < run_.num_traces(); ++row) {
    const auto digest = run_.trace_digest(row);
    shifted_.push_back(digest ? call_at(digest->wall_time + offset, run_.set_of_trace(row)) : none);
  }
}

NANLENS_API double RowOwners::end_of_call_before(std::size_t set, double time) const {
  const auto& calls = calls_by_time_[set];
  const auto found = std::lower_bound(calls.begin(), calls.end(), std::pair(time, std::uint32_t{0}));
  return found == calls.begin() ? -std::numeric_limits<double>::infinity() : (found - 1)->first;
}

NANLENS_API std::uint32_t RowOwners::call_after(std::uint32_t row) {
  const auto digest = run_.trace_digest(row);
  const std::size_t set = run_.set_of_trace(row);
  if (!digest || set >= calls_by_time_.size()) return none;
  return call_at(digest->wall_time + offset_, set);
}

NANLENS_API std::size_t RowOwners::position_at(double time, std::size_t set) const {
  const auto& calls = calls_by_time_[set];
  const auto found = std::lower_bound(calls.begin(), calls.end(), std::pair(time, std::uint32_t{0}));
  return static_cast<std::size_t>(found - calls.begin());
}

NANLENS_API std::uint32_t RowOwners::call_at(double time, std::size_t set) const {
  const std::size_t position = position_at(time, set);
  return position == calls_by_time_[set].size() ? none : calls_by_time_[set][position].second;
}

}  // namespace nanlens::causes
