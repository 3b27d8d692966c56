#include "kept_events.hpp"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

#include <nanlens/causes/sentence.hpp>
#include <nanlens/logdir/file_set.hpp>

#include "report/failure.hpp"

namespace nanlens::share {

namespace {

using causes::EventRef;

std::unique_ptr<causes::Causes> finished_causes(reader::Run& run, const Stopped& stopped) {
  auto causes = std::make_unique<causes::Causes>(run);
  constexpr std::size_t slice = 4096;
  while (!causes->advance(slice)) go_on_unless(stopped);
  return causes;
}

// Of one run.
class Keeper {
 public:
  Keeper(reader::Run& run, std::int64_t around)
      : run_(run), around_(around), traces_(run.num_traces()), executions_(run.num_executions()) {}

  void keep(EventRef event) {
    if (!event.exists()) return;
    auto& kept = event.is_execution ? executions_ : traces_;
    const auto at = static_cast<std::int64_t>(event.index);
    const std::int64_t end = std::min(at + around_ + 1, static_cast<std::int64_t>(kept.size()));
    for (std::int64_t i = std::max<std::int64_t>(at - around_, 0); i < end; ++i)
      kept[static_cast<std::size_t>(i)] = true;
  }
  void keep_calls_of_rows() {
    for (std::size_t i = 0; i < traces_.size(); ++i)
      if (const std::uint32_t call = run_.trace_execution(i); traces_[i] && call != reader::none)
        executions_[call] = true;
  }
  void add_to(KeptEvents& events) const {
    using logdir::FileKind;
    for (std::size_t i = 0; i < traces_.size(); ++i)
      add(events, traces_[i], run_.set_path(run_.set_of_trace(i)), FileKind::graph_execution_traces,
          run_.offset_of_trace(i));
    for (std::size_t i = 0; i < executions_.size(); ++i)
      add(events, executions_[i], run_.set_path(run_.set_of_execution(i)), FileKind::execution,
          run_.offset_of_execution(i));
  }

 private:
  static void add(KeptEvents& events, bool kept, const std::string& set, logdir::FileKind kind, std::uint64_t offset) {
    if (kept)
      events.offsets[logdir::file_name(set, kind)].insert(offset);
    else
      ++events.left_out[set];
  }

  reader::Run& run_;
  std::int64_t around_;
  std::vector<bool> traces_;
  std::vector<bool> executions_;
};

// What an event was made from, and that from, up to a number of events.
void keep_ancestors(causes::Causes& causes, EventRef event, Keeper& keeper) {
  constexpr std::size_t most = 500;
  std::vector<EventRef> known{event};
  for (std::size_t i = 0; i < known.size() && known.size() < most; ++i) {
    for (const auto& input : causes.lineage(known[i]).classification.inputs)
      if (input.event.exists() && std::find(known.begin(), known.end(), input.event) == known.end())
        known.push_back(input.event);
  }
  for (const EventRef& one : known) {
    keeper.keep(one);
    keeper.keep(causes.last_healthy(one));  // "none the time before"
  }
}

// True if the run has a cause to keep.
bool keep_causes(reader::Run& run, Keeper& keeper, const Stopped& stopped) {
  const auto causes = finished_causes(run, stopped);
  constexpr std::size_t most_groups = 50;
  causes::SentenceWriter writer(*causes);
  const auto& groups = writer.groups().list();
  for (std::size_t i = 0; i < std::min(most_groups, groups.size()); ++i) {
    const causes::Root& root = causes->roots()[groups[i].root];
    keep_ancestors(*causes, root.event, keeper);
    for (const EventRef result : {root.first_nan, root.last, root.last_removed})
      if (result.exists())
        for (const causes::ChainLink& link : causes->chain(result, most_groups)) keeper.keep(link.event);
  }
  for (const reader::HiddenException& hidden : run.hidden_exceptions())
    keeper.keep(hidden.is_execution ? causes::execution_event(hidden.event, 0) : causes::trace_event(hidden.event));
  return !groups.empty() || !run.hidden_exceptions().empty();
}

}  // namespace

void go_on_unless(const Stopped& stopped) {
  if (stopped()) throw report::Failure("it was stopped");
}

KeptEvents events_of_causes(const reader::Logdir& logdir, std::int64_t around, const Stopped& stopped) {
  KeptEvents events;
  bool any = false;
  for (const auto& run : logdir.runs()) {
    Keeper keeper(*run, around);
    any = keep_causes(*run, keeper, stopped) || any;
    keeper.keep_calls_of_rows();
    keeper.add_to(events);
  }
  if (!any) throw report::Failure("there is no NaN or infinity on record, and so no cause to keep what is around it");
  return events;
}

}  // namespace nanlens::share
