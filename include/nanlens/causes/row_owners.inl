// Part of row_owners.hpp: whose rows they are, and whether clocks agree.
#pragma once

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

NANLENS_API const std::vector<std::uint32_t>& RowOwners::families_around(std::uint32_t graph) {
  if (graph >= families_of_graph_.size()) families_of_graph_.resize(run_.definitions().graphs().size());
  auto& list = families_of_graph_[graph];
  constexpr std::size_t deepest = 256;  // nesting; only a damaged logdir has more
  for (std::uint32_t g = graph; list.empty() || (g != none && list.size() < deepest); g = graphs_.graph(g).outer)
    list.push_back(family(graphs_.graph_name(g)));
  return list;
}

NANLENS_API bool RowOwners::may_run(std::uint32_t call, std::uint32_t graph) {
  if (!calls_.is_call(call)) return false;
  if (graphs_.is_root(graph)) return true;
  const std::uint32_t type = calls_.op_type_number(call);
  if (type >= family_of_type_.size()) family_of_type_.resize(type + 1U, none);
  if (family_of_type_[type] == none) family_of_type_[type] = family(function_name(calls_.op_type(call)));
  const auto& around = families_around(graph);
  return std::find(around.begin(), around.end(), family_of_type_[type]) != around.end() || runs_foreign_functions(type);
}

// A function that is called twice is traced once, inside its first caller: the second one has more calls than functions
// of its own, or is not on record at all.
NANLENS_API bool RowOwners::runs_foreign_functions(std::uint32_t type) {
  if (type >= foreign_allowed_.size()) foreign_allowed_.resize(type + 1U, 2);
  if (foreign_allowed_[type] != 2) return foreign_allowed_[type] == 1;
  foreign_allowed_[type] = 1;
  bool known = false;
  for (std::uint32_t g = 0; g < run_.definitions().graphs().size(); ++g) {
    const auto& around = families_around(g);
    if (std::find(around.begin(), around.end(), family_of_type_[type]) == around.end()) continue;
    known = true;
    const GraphLinks& links = graphs_.links(g);
    if (links.unrecorded.size() > links.functions.size()) return true;
  }
  foreign_allowed_[type] = known ? 0 : 1;
  return !known;
}

// Do the rows that time gives to a call belong to its function? If too few do, clocks may differ: the offset with which
// most do is taken. Rows of one host are never those of another host's calls.
NANLENS_API void RowOwners::compare_clocks() {
  std::vector<Sample> samples;
  take_samples(samples);
  constexpr double enough_share = 0.95;
  matched_ = true;
  calls_by_time_.clear();
  if (samples.empty()) return;
  calls_by_time_.resize(run_.num_sets());
  for (std::uint32_t i = 0; i < run_.num_executions(); ++i)
    if (const double time = run_.execution_wall_time(i); time == time)
      calls_by_time_[run_.set_of_execution(i)].emplace_back(time, i);
  for (auto& calls : calls_by_time_)
    std::sort(calls.begin(), calls.end(), [](const auto& a, const auto& b) {
      return a.first < b.first || (a.first == b.first && a.second < b.second);
    });
  double best = share_that_fits(samples, offset_);
  if (best < enough_share) {
    double best_offset = offset_;
    for (const double offset : offsets_to_try(samples))
      if (const double share = share_that_fits(samples, offset); share > best) {
        best = share;
        best_offset = offset;
      }
    matched_ = best >= enough_share;
    offset_ = matched_ ? best_offset : 0;
  }
  shift(offset_);
  calls_by_time_.clear();
}

// Rows of functions, from all over the run.
NANLENS_API void RowOwners::take_samples(std::vector<Sample>& samples) {
  const auto step = static_cast<std::uint32_t>(run_.num_traces() / enough + 1);
  for (std::uint32_t row = 0; row < run_.num_traces(); row += step) {
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
  constexpr std::size_t most = 16;
  std::vector<std::uint32_t> seen;
  for (std::size_t i = samples.size(); i-- > 0 && seen.size() < most;) {
    const auto& around = families_around(samples[i].graph);
    const std::uint32_t one = around.size() > 1 ? around[around.size() - 2] : around[0];
    if (std::find(seen.begin(), seen.end(), one) != seen.end()) continue;
    seen.push_back(one);
    const auto& calls = calls_by_time_[samples[i].set];
    for (std::size_t k = calls.size(); k-- > 0;)
      if (calls_.is_call(calls[k].second) && family(function_name(calls_.op_type(calls[k].second))) == one) {
        offsets.push_back(calls[k].first - samples[i].time);
        break;
      }
  }
  return offsets;
}

NANLENS_API double RowOwners::share_that_fits(const std::vector<Sample>& samples, double offset) {
  std::size_t right = 0;
  for (const Sample& s : samples) {
    const bool as_read = offset == 0 && run_.num_sets() == 1;
    const std::uint32_t call = as_read ? run_.trace_execution(s.row) : call_at(s.time + offset, s.set);
    // A call that has not ended yet is no fault.
    right += call == none ? offset == 0 : may_run(call, s.graph);
  }
  return static_cast<double>(right) / static_cast<double>(samples.size());
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

NANLENS_API std::uint32_t RowOwners::call_at(double time, std::size_t set) const {
  const auto& calls = calls_by_time_[set];
  const auto found = std::lower_bound(calls.begin(), calls.end(), std::pair(time, std::uint32_t{0}));
  return found == calls.end() ? none : found->second;
}

}  // namespace nanlens::causes
