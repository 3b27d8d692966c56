// Part of run.hpp: how a run reads what is new in its files.
#pragma once

namespace nanlens::reader {

struct Run::Scan {
  const Progress& progress;
  std::uint64_t done = 0;
  std::uint64_t total = 0;
  bool stopped = false;
  bool changed = false;
  // Sizes taken before anything is read: what events refer to reaches the disk before them, so that whatever these
  // sizes cover can be resolved by what is read afterwards. Executions first: their traces are then all in view.
  std::vector<std::uint64_t> execution_end;
  std::vector<std::uint64_t> trace_end;
};

// Which call does a trace belong to? Executions are sorted by time only once that is asked for.
struct Run::CallLookup {
  Run& run;
  bool ready = false;
  std::size_t count = 0;  // of executions with a time
  explicit CallLookup(Run& r) : run(r) {}

  [[nodiscard]] double time(std::size_t i) const {
    return run.execution_times_[run.executions_by_time_.empty() ? i : run.executions_by_time_[i]];
  }

  void prepare() {
    if (std::exchange(ready, true)) return;
    const std::size_t n = run.num_executions();
    auto& order = run.executions_by_time_;
    const auto in_order = [&](std::size_t i) {
      const double t = run.execution_times_[i];
      return i == 0 ? t == t : run.execution_times_[i - 1] <= t;
    };
    std::size_t& sorted = run.executions_sorted_;
    if (order.empty())
      while (sorted < n && in_order(sorted)) ++sorted;
    if (sorted < n) {
      if (order.empty()) sorted = 0;
      std::vector<std::uint64_t> ranks;
      for (std::size_t i = sorted; i < n; ++i) ranks.push_back(time_rank(run.execution_times_[i]));
      for (const std::size_t place : places_in_order(ranks))
        order.push_back(static_cast<std::uint32_t>(sorted + place));
      const auto middle = order.begin() + static_cast<std::ptrdiff_t>(sorted);
      const auto before = [&](std::uint32_t a, std::uint32_t b) {
        const std::uint64_t x = time_rank(run.execution_times_[a]);
        const std::uint64_t y = time_rank(run.execution_times_[b]);
        return x != y ? x < y : a < b;
      };
      std::vector<std::uint32_t> merged(order.size());
      std::merge(order.begin(), middle, middle, order.end(), merged.begin(), before);
      order = std::move(merged);
      sorted = n;
    }
    count = first([](double t) { return t == t; }, n);
  }

  // The first place among the first `n` whose time does not satisfy what those before it do.
  template <class Before>
  [[nodiscard]] std::size_t first(Before&& before, std::size_t n) const {
    std::size_t low = 0;
    std::size_t high = n;
    while (low < high) {
      const std::size_t mid = (low + high) / 2;
      if (before(time(mid)))
        low = mid + 1;
      else
        high = mid;
    }
    return low;
  }

  // The first execution that ended at or after this time, if it is a call; `open` tells that it may still be to come.
  [[nodiscard]] std::uint32_t find(double wall_time, bool& open) {
    prepare();
    open = false;
    if (wall_time != wall_time) return none;
    const std::size_t at = first([&](double t) { return t < wall_time; }, count);
    open = at == count;
    if (open) return none;
    const auto i = static_cast<std::uint32_t>(run.executions_by_time_.empty() ? at : run.executions_by_time_[at]);
    return (run.execution_flags_[i] & function_flag) != 0 ? i : none;
  }
};

NANLENS_API bool Run::update(Storage& storage, const Progress& progress) {
  if (out_of_memory_) return false;
  Scan scan{progress, 0, 0, false, false, {}, {}};
  out_of_memory_ = !with_memory([&] { read_all(storage, scan); });
  return scan.changed || out_of_memory_;
}

NANLENS_API void Run::read_all(Storage& storage, Scan& scan) {
  for (auto& set : sets_) {
    set->open_missing(storage, diagnostics_);
    const auto size = [&](logdir::FileKind kind) { return (*set)[kind].file ? (*set)[kind].file->size() : 0; };
    scan.execution_end.push_back(size(logdir::FileKind::execution));
    scan.trace_end.push_back(size(logdir::FileKind::graph_execution_traces));
    for (std::size_t i = 0; i < logdir::num_file_kinds; ++i) scan.total += size(static_cast<logdir::FileKind>(i));
  }
  files_of_set_.resize(sets_.size());
  call_ids_.resize(sets_.size());
  for (std::size_t set = 0; set < sets_.size() && !scan.stopped; ++set) {
    sets_[set]->read_metadata(diagnostics_);
    read_source_files(scan, set);
    read_stack_frames(scan, set);
    read_graphs(scan, set);
  }
  const std::size_t old_alerts = alerts_.size();
  CallLookup calls(*this);
  if (!scan.stopped) read_executions(scan);
  if (!scan.stopped) read_traces(scan, calls);
  sort_alerts(old_alerts);
}

// Faults of an event that is too large. False: it is passed over.
template <class Digest>
bool Run::within_limits(const Digest& digest, std::size_t set, logdir::FileKind kind, std::uint64_t offset) {
  const OverLimit over = over_limit(digest);
  if (!over.what.empty()) fault(set, kind, offset, over.what);
  return !over.skip;
}

template <class OnEvent>
void Run::scan_definitions(Scan& scan, std::size_t set, logdir::FileKind kind, OnEvent&& on_event, bool keep_gaps) {
  SetFile& f = (*sets_[set])[kind];
  if (!f.file || scan.stopped) return;
  logdir::DebugEvent event;
  const auto lost = [&](std::uint64_t offset) {
    if (keep_gaps) on_event(Locator(set, offset), nullptr);
  };
  f.scanner.scan(
      *f.file, f.file->size(),
      [&](std::uint64_t offset, Bytes payload) {
        scan.changed = true;
        if (!logdir::decode(payload, event)) {
          fault(set, kind, offset, FaultId::not_event);
          return lost(offset);
        }
        if (!within_limits(event, set, kind, offset)) return lost(offset);
        if (!logdir::belongs_into(kind, logdir::kind_of(event))) {
          fault(set, kind, offset, FaultId::wrong_file);
          return;
        }
        on_event(Locator(set, offset), &event);
      },
      [&](const ScanFault& gap) {
        fault(set, kind, gap.offset, gap.what);
        lost(gap.offset);
      },
      [&](std::uint64_t position) {
        scan.stopped = scan.progress && !scan.progress(scan.done + position, scan.total);
        return !scan.stopped;
      });
  scan.done += f.scanner.position();
}

NANLENS_API void Run::read_source_files(Scan& scan, std::size_t set) {
  scan_definitions(
      scan, set, logdir::FileKind::source_files,
      [&](Locator where, const logdir::DebugEvent* event) {
        files_of_set_[set].push_back(static_cast<std::uint32_t>(files_.size()));
        SourceFileEntry entry;
        entry.where = where;
        if (event != nullptr) {
          const auto& file = std::get<logdir::SourceFile>(event->what);
          entry.readable = true;
          entry.host_name = file.host_name;
          entry.file_path = file.file_path;
          entry.num_lines = static_cast<std::uint32_t>(file.lines.size());
        }
        files_.push_back(std::move(entry));
      },
      true);
}

NANLENS_API void Run::read_stack_frames(Scan& scan, std::size_t set) {
  scan_definitions(scan, set, logdir::FileKind::stack_frames, [&](Locator where, const logdir::DebugEvent* event) {
    const auto& frame = std::get<logdir::StackFrameWithId>(event->what);
    const auto index = static_cast<std::uint32_t>(frames_.size());
    if (!frame_by_id_.try_emplace(frame.id, index).second) {
      fault(set, logdir::FileKind::stack_frames, where.offset(), {FaultId::frame_twice, {{"name", frame.id}}});
      return;
    }
    FrameEntry entry;
    entry.id = frame.id;
    entry.set = static_cast<std::uint32_t>(set);
    entry.where = where;
    if (frame.file_line_col) {
      entry.file_index = frame.file_line_col->file_index;
      entry.line = frame.file_line_col->line;
      entry.function = frame.file_line_col->func;
    }
    frames_.push_back(std::move(entry));
  });
}

NANLENS_API void Run::read_graphs(Scan& scan, std::size_t set) {
  scan_definitions(scan, set, logdir::FileKind::graphs, [&](Locator where, const logdir::DebugEvent* event) {
    if (const auto* graph = std::get_if<logdir::DebuggedGraph>(&event->what)) return add_graph(*graph, where);
    if (const auto* op = std::get_if<logdir::GraphOpCreation>(&event->what)) return add_op(*op, where);
    const auto& device = std::get<logdir::DebuggedDevice>(event->what);
    devices_.push_back({static_cast<std::uint32_t>(set), device.device_id, device.device_name});
  });
}

NANLENS_API void Run::add_graph(const logdir::DebuggedGraph& event, Locator where) {
  const std::uint32_t index = graphs_.graph(event.graph_id, where, logdir::FileKind::graphs);
  if (graphs_.graphs()[index].declared) {
    fault(where.set(), logdir::FileKind::graphs, where.offset(), {FaultId::graph_twice, {{"name", event.graph_id}}});
    return;
  }
  const std::uint32_t outer =
      event.outer_context_id.empty() ? none : graphs_.graph(event.outer_context_id, where, logdir::FileKind::graphs);
  Graph& graph = graphs_.graphs()[index];
  graph.declared = true;
  graph.name = graphs_.strings().add(event.graph_name);
  graph.outer = outer;
  graph.where = where;
  if (outer != none) graphs_.graphs()[outer].inner.push_back(index);
}

NANLENS_API void Run::add_op(const logdir::GraphOpCreation& event, Locator where) {
  const std::uint32_t graph = graphs_.graph(event.graph_id, where, logdir::FileKind::graphs);
  const std::uint32_t index = graphs_.op(graph, event.op_name, where, logdir::FileKind::graphs);
  Op& op = graphs_.ops()[index];
  const auto report = [&](Fault what) {
    what.values.emplace_back("name", event.op_name);
    what.values.emplace_back("graph", event.graph_name);
    fault(where.set(), logdir::FileKind::graphs, where.offset(), std::move(what));
  };
  if (op.declared) return report(FaultId::op_twice);
  op.declared = true;
  op.where = where;
  op.type = graphs_.strings().add(event.op_type);
  op.num_outputs = event.num_outputs;
  graphs_.graphs()[graph].ops.push_back(index);
  for (const auto& input : event.input_names)
    if (!parse_tensor_name(input)) report({FaultId::odd_input, {{"input", input}}});
  if (event.code_location) {
    const std::string bytes = logdir::encoded(*event.code_location);
    check_stack({reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()}, where, logdir::FileKind::graphs);
  }
}

NANLENS_API void Run::check_stack(logdir::Bytes code_location, Locator where, logdir::FileKind file) {
  const std::string_view text(reinterpret_cast<const char*>(code_location.data()), code_location.size());
  if (!seen_stacks_.insert(std::hash<std::string_view>{}(text)).second) return;
  logdir::CodeLocation location;
  logdir::detail::decode(code_location, location);
  for (const auto& id : location.stack_frame_ids)
    if (!frame_by_id_.contains(id) && unknown_frames_.size() < Diagnostics::limit)
      unknown_frames_.push_back({id, where, file});
}

NANLENS_API void Run::read_executions(Scan& scan) {
  for (std::size_t set = 0; set < sets_.size() && !scan.stopped; ++set) {
    SetFile& f = (*sets_[set])[logdir::FileKind::execution];
    if (!f.file) continue;
    f.scanner.scan(
        *f.file, scan.execution_end[set],
        [&](std::uint64_t offset, Bytes payload) {
          scan.changed = true;
          const auto digest = execution_digest(payload);
          if (digest && within_limits(*digest, set, logdir::FileKind::execution, offset))
            append_execution(*digest, Locator(set, offset));
          else if (!digest)
            fault(set, logdir::FileKind::execution, offset, FaultId::not_execution);
        },
        [&](const ScanFault& gap) { fault(set, logdir::FileKind::execution, gap.offset, gap.what); },
        [&](std::uint64_t position) {
          scan.stopped = scan.progress && !scan.progress(scan.done + position, scan.total);
          return !scan.stopped;
        });
    scan.done += f.scanner.position();
  }
}

NANLENS_API void Run::append_execution(const ExecutionDigest& digest, Locator where) {
  const auto index = static_cast<std::uint32_t>(num_executions());
  execution_locators_.push_back(where);
  execution_times_.push_back(digest.wall_time);
  execution_flags_.push_back(digest.flags);  // last, since it is what counts
  const std::uint32_t op_type = digest.num_bad_outputs == 0 ? none : graphs_.strings().add(digest.op_type);
  for (std::uint32_t k = 0; k < digest.num_bad_outputs; ++k)
    alerts_.push_back({digest.wall_time, index, op_type, true, static_cast<std::uint16_t>(k)});
  constexpr std::uint32_t telling = 1 | 2 | 4;  // underflow is harmless
  const bool is_call = (digest.flags & function_flag) != 0;
  if ((digest.fp_flags & telling) != 0 && digest.num_bad_outputs == 0 && !is_call)
    hidden_.push_back({index, true, digest.fp_flags});
  if (digest.has_rule_hits) add_rule_hit_row({index, true});
  if (digest.has_bad_complex) bad_complex_.push_back(index);
  if (!digest.graph_id.empty()) graphs_.graph(digest.graph_id, where, logdir::FileKind::execution);
  if (digest.call_id != 0) {
    CallIds& ids = call_ids_[where.set()];
    if (!ids.calls.empty() && ids.calls.back().first >= digest.call_id) ids.sorted = false;
    ids.calls.emplace_back(digest.call_id, index);
    if (const auto open = ids.traces_of_open_call.find(digest.call_id); open != ids.traces_of_open_call.end()) {
      for (const std::uint32_t trace : open->second) trace_executions_[trace] = index;
      ids.traces_of_open_call.erase(open);
    }
  }
  check_stack(digest.code_location, where, logdir::FileKind::execution);
}

// The call with this id; of several, which only a damaged logdir has, the first.
NANLENS_API std::uint32_t Run::find_call(std::size_t set, std::uint64_t call_id) {
  CallIds& ids = call_ids_[set];
  if (!ids.sorted) std::sort(ids.calls.begin(), ids.calls.end());
  ids.sorted = true;
  const auto found = std::lower_bound(ids.calls.begin(), ids.calls.end(), std::pair(call_id, std::uint32_t{0}));
  return found != ids.calls.end() && found->first == call_id ? found->second : none;
}

// What a trace adds to the columns. Its call is looked up here, where traces come set by set.
NANLENS_API Run::FoundTrace Run::found_trace(const TraceDigest& digest, Locator where) {
  FoundTrace trace;
  const std::uint32_t graph = graphs_.graph(digest.graph_id, where, logdir::FileKind::graph_execution_traces);
  trace.op = graphs_.op(graph, digest.op_name, where, logdir::FileKind::graph_execution_traces);
  trace.wall_time = digest.wall_time;
  trace.where = where;
  trace.flags = digest.health.flags;
  trace.fp_flags = digest.fp_flags & 0x3f;
  trace.has_rule_hits = digest.has_rule_hits;
  trace.has_call_id = digest.call_id != 0;
  if (digest.call_id != 0) trace.call = find_call(where.set(), digest.call_id);
  return trace;
}

NANLENS_API void Run::append_trace(const FoundTrace& trace, CallLookup& calls) {
  const auto index = static_cast<std::uint32_t>(num_traces());
  trace_locators_.push_back(trace.where);
  trace_ops_.push_back(trace.op);
  trace_flags_.push_back(trace.flags);
  std::uint32_t call = trace.call;
  bool open = false;
  if (trace.has_call_id == 0)
    call = calls.find(trace.wall_time, open);
  else if (call == none)  // it has not ended yet
    if (const auto digest = reader::trace_digest(payload(trace.where, logdir::FileKind::graph_execution_traces)))
      call_ids_[trace.where.set()].traces_of_open_call[digest->call_id].push_back(index);
  if (open) open_traces_.emplace(trace.wall_time, index);
  trace_executions_.push_back(call);            // last, since it is what counts
  constexpr std::uint32_t telling = 1 | 2 | 4;  // underflow is harmless
  const bool bad = (trace.flags & bad_flags) != 0;
  if ((trace.fp_flags & telling) != 0 && !bad) hidden_.push_back({index, false, trace.fp_flags});
  if (trace.has_rule_hits != 0) add_rule_hit_row({index, false});
  if (bad) alerts_.push_back({trace.wall_time, index, trace.op, false, 0});
}

// Traces without a call id that were read before their call had ended.
NANLENS_API void Run::join_pending(CallLookup& calls) {
  if (open_traces_.empty()) return;
  calls.prepare();
  while (!open_traces_.empty() && calls.count > 0 && open_traces_.top().first <= calls.time(calls.count - 1)) {
    bool open = false;
    trace_executions_[open_traces_.top().second] = calls.find(open_traces_.top().first, open);
    open_traces_.pop();
  }
}

// Those of several sets, each of which is in the order of time but for a few, in that order. By a tree of which each
// node keeps who lost there: a step costs one comparison for each level.
template <class Visit>
void Run::merge_by_time(std::vector<Column<FoundTrace>>& sets, Visit&& visit) {
  struct Next {
    std::uint64_t time;
    std::uint32_t set;  // of equal times, the lower one's
    std::uint32_t at;   // among its traces
    bool ended;
    [[nodiscard]] bool comes_before(const Next& other) const {
      if (time != other.time) return time < other.time;
      return ended != other.ended ? other.ended : set < other.set;
    }
  };
  const std::size_t width = std::bit_ceil(sets.size());
  const auto look = [&](std::size_t set, std::size_t at) {
    Next next{~std::uint64_t{0}, static_cast<std::uint32_t>(set), static_cast<std::uint32_t>(at), true};
    if (set >= sets.size() || at >= sets[set].size()) return next;
    next.time = time_rank(sets[set][at].wall_time);
    next.ended = false;
    return next;
  };
  for (Column<FoundTrace>& set : sets) sort_by_time(set);
  std::vector<Next> losers(width);
  std::vector<Next> winners(2 * width);  // of each node, while the tree is made
  for (std::size_t i = 0; i < width; ++i) winners[width + i] = look(i, 0);
  for (std::size_t node = width; node-- > 1;) {
    const bool left = winners[2 * node].comes_before(winners[2 * node + 1]);
    winners[node] = winners[2 * node + (left ? 0 : 1)];
    losers[node] = winners[2 * node + (left ? 1 : 0)];
  }
  Next best = winners[1];
  while (!best.ended) {
    visit(sets[best.set][best.at]);
    best = look(best.set, best.at + std::size_t{1});
    for (std::size_t node = (width + best.set) / 2; node > 0; node /= 2)
      if (losers[node].comes_before(best)) std::swap(best, losers[node]);
  }
}

// Of equal times, the one that was written first.
NANLENS_API void Run::sort_by_time(Column<FoundTrace>& set) {
  bool sorted = true;
  for (std::size_t i = 1; i < set.size() && sorted; ++i) sorted = !earlier(set[i].wall_time, set[i - 1].wall_time);
  if (sorted) return;
  std::vector<FoundTrace> traces;
  std::vector<std::uint64_t> ranks;
  for (std::size_t i = 0; i < set.size(); ++i) {
    traces.push_back(set[i]);
    ranks.push_back(time_rank(set[i].wall_time));
  }
  std::size_t at = 0;
  for (const std::size_t place : places_in_order(ranks)) set[at++] = traces[place];
}

NANLENS_API void Run::read_traces(Scan& scan, CallLookup& calls) {
  if (scan.changed) join_pending(calls);
  std::vector<Column<FoundTrace>> found(sets_.size());  // several hosts: their traces are merged by time
  const bool merge = sets_.size() > 1;
  for (std::size_t set = 0; set < sets_.size() && !scan.stopped; ++set) {
    SetFile& f = (*sets_[set])[logdir::FileKind::graph_execution_traces];
    if (!f.file) continue;
    f.scanner.scan(
        *f.file, scan.trace_end[set],
        [&](std::uint64_t offset, Bytes payload) {
          scan.changed = true;
          const auto digest = reader::trace_digest(payload);
          if (!digest)
            fault(set, logdir::FileKind::graph_execution_traces, offset, FaultId::not_trace);
          else if (!within_limits(*digest, set, logdir::FileKind::graph_execution_traces, offset))
            return;
          else if (merge)
            found[set].push_back(found_trace(*digest, Locator(set, offset)));
          else
            append_trace(found_trace(*digest, Locator(set, offset)), calls);
        },
        [&](const ScanFault& gap) { fault(set, logdir::FileKind::graph_execution_traces, gap.offset, gap.what); },
        [&](std::uint64_t position) {
          scan.stopped = scan.progress && !scan.progress(scan.done + position, scan.total);
          return !scan.stopped;
        });
    scan.done += f.scanner.position();
  }
  merge_by_time(found, [&](const FoundTrace& trace) { append_trace(trace, calls); });
}

// By time; of equal times, rows before executions, each in their order, in which they were added.
NANLENS_API void Run::sort_alerts(std::size_t first_new) {
  if (first_new == alerts_.size()) return;
  std::vector<AlertRef> added;
  for (const bool executions : {false, true})
    std::copy_if(alerts_.begin() + static_cast<std::ptrdiff_t>(first_new), alerts_.end(), std::back_inserter(added),
                 [&](const AlertRef& alert) { return alert.is_execution == executions; });
  std::vector<std::uint64_t> ranks;
  for (const AlertRef& alert : added) ranks.push_back(time_rank(alert.wall_time));
  alerts_.resize(first_new);
  for (const std::size_t place : places_in_order(ranks)) alerts_.push_back(added[place]);
  const auto before = [](const AlertRef& a, const AlertRef& b) {
    const std::uint64_t x = time_rank(a.wall_time);
    const std::uint64_t y = time_rank(b.wall_time);
    if (x != y) return x < y;
    if (a.is_execution != b.is_execution) return b.is_execution;
    if (a.event != b.event) return a.event < b.event;
    return a.nth_bad < b.nth_bad;
  };
  const auto middle = alerts_.begin() + static_cast<std::ptrdiff_t>(first_new);
  std::vector<AlertRef> merged(alerts_.size());
  std::merge(alerts_.begin(), middle, middle, alerts_.end(), merged.begin(), before);
  alerts_ = std::move(merged);
}

}  // namespace nanlens::reader
