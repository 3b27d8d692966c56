// Part of live_set.hpp.
#pragma once

#include <algorithm>
#include <chrono>
#include <vector>

#include <nanlens/logdir/encode.hpp>

namespace nanlens::reader {

NANLENS_API void LiveSet::look(ByteSource& file, std::optional<bool> in_use, const OpenFile& open) {
  if (state_ == State::died) return;
  LiveRegions left;
  if (!left.begin(file)) return;
  const live::Commit& commit = left.commit();
  const bool alive = in_use.value_or(seconds_now() - left.header.alive < seconds_between_signs);
  for (std::size_t i = 0; i < limits_.size(); ++i)
    if (!was_watched_ || !holds_events(static_cast<FileKind>(i))) limits_[i] = commit.file_bytes[i];
  limits_[index(FileKind::metadata)] = everything;
  if (alive && left.keeps_all()) {
    if (was_watched_) add_written(commit, open);
    return;
  }
  left.read(file);
  truncated_ = left.truncated;
  if (alive && !left.steady) return;  // the next look will see what has moved into the files
  state_ = alive ? State::watched : State::died;
  if (was_watched_) add_written(commit, open);
  was_watched_ = was_watched_ || alive;
  if (!alive) add_definitions(left);
  add_events(left, alive ? left.header.alive : std::numeric_limits<double>::infinity());
}

NANLENS_API void LiveSet::gone(const OpenFile& open) {
  if (state_ == State::died) return;
  state_ = State::closed;
  live::Commit all{};
  all.file_bytes.fill(everything);
  for (std::size_t i = 0; i < limits_.size(); ++i)
    if (!was_watched_ || !holds_events(static_cast<FileKind>(i))) limits_[i] = everything;
  if (was_watched_) add_written(all, open);
}

NANLENS_API double LiveSet::seconds_now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

NANLENS_API void LiveSet::add_definitions(const LiveRegions& left) {
  for (auto at = left.definitions.lower_bound(left.commit().definitions); at != left.definitions.end(); ++at) {
    const LeftDefinition& d = at->second;
    if (!logdir::belongs_into(FileKind::graphs, d.kind)) continue;
    live::append_record(tail(FileKind::graphs), d.wall_time, d.kind, d.before, location(left, d.stack), d.after);
    ++num_left_;
  }
}

NANLENS_API void LiveSet::add_events(const LiveRegions& left, double before) {
  std::vector<const LeftEvent*> events;
  for (const LeftEvent& e : left.events)
    if (e.event.wall_time < before && (state_ == State::died || has_location(left, e.event.stack)))
      events.push_back(&e);
  const auto later = [](const LeftEvent* a, const LeftEvent* b) {
    if (earlier(b->event.wall_time, a->event.wall_time)) return true;
    return !earlier(a->event.wall_time, b->event.wall_time) && a->event.sequence > b->event.sequence;
  };
  sort_stably(events, later);
  std::int64_t kept[2] = {0, 0};
  if (state_ == State::died)
    std::erase_if(events,
                  [&](const LeftEvent* e) { return e->in_ring && ++kept[e->event.is_execution] > left.header.ring; });
  for (auto e = events.rbegin(); e != events.rend(); ++e)
    if (shown_.emplace((*e)->thread_id, (*e)->event.is_execution, (*e)->event.sequence).second) add_event(left, **e);
}

NANLENS_API void LiveSet::add_event(const LiveRegions& left, const LeftEvent& e) {
  std::string& to = tail(e.event.is_execution != 0 ? FileKind::execution : FileKind::graph_execution_traces);
  const std::size_t begin = to.size();
  live::append_record(to, e.event, e.content, location(left, e.event.stack));
  if (was_watched_) ++from_memory_[hash_of(std::string_view(to).substr(begin + logdir::record_header_bytes))];
  ++num_left_;
}

NANLENS_API std::size_t LiveSet::hash_of(std::string_view payload) noexcept {
  const std::size_t behind = logdir::record_overhead - logdir::record_header_bytes;
  return std::hash<std::string_view>{}(payload.substr(0, payload.size() - behind));
}

NANLENS_API void LiveSet::add_written(const live::Commit& commit, const OpenFile& open) {
  for (const FileKind kind : {FileKind::graph_execution_traces, FileKind::execution})
    if (auto source = open(kind)) {
      RecordFile file("", std::move(source));
      scanners_[index(kind)].scan(
          file, std::min(file.size(), commit.file_bytes[index(kind)]),
          [&](std::uint64_t offset, Bytes payload) {
            if (offset >= limits_[index(kind)])
              add_record(kind, {reinterpret_cast<const char*>(payload.data()), payload.size()});
          },
          [](const ScanFault&) {}, [](std::uint64_t) { return true; });
    }
}

NANLENS_API void LiveSet::add_record(FileKind kind, std::string_view payload) {
  const auto shown = from_memory_.find(std::hash<std::string_view>{}(payload));
  if (shown == from_memory_.end())
    logdir::append_record_of(tail(kind), [&](logdir::WireWriter& w) { w.raw(payload); });
  else if (--shown->second == 0)
    from_memory_.erase(shown);
}

NANLENS_API bool LiveSet::has_location(const LiveRegions& left, std::uint32_t stack) {
  if (stack == live::no_stack) return true;
  const auto found = left.stacks.find(stack);
  return found != left.stacks.end() && !found->second.location.empty();
}

NANLENS_API std::string_view LiveSet::location(const LiveRegions& left, std::uint32_t stack) {
  const auto found = stack == live::no_stack ? left.stacks.end() : left.stacks.find(stack);
  if (found == left.stacks.end()) return {};
  if (!found->second.location.empty()) return found->second.location;
  std::string& made = made_[stack];
  if (made.empty()) made = make_location(left.commit(), stack, found->second);
  return made;
}

NANLENS_API std::string LiveSet::make_location(const live::Commit& commit, std::uint32_t number,
                                               const LeftStack& stack) {
  const double now = seconds_now();
  const auto [file, is_new] = files_.try_emplace(stack.file, commit.source_files + files_.size());
  if (is_new) logdir::append_event(tail(FileKind::source_files), now, logdir::SourceFile{stack.file, host_, {}});
  logdir::StackFrameWithId frame;
  frame.id = "LIVE" + std::to_string(number);  // the recorder's own are in small letters
  frame.file_line_col = {static_cast<std::int32_t>(file->second), stack.line, 0, stack.function, {}};
  logdir::append_event(tail(FileKind::stack_frames), now, frame);
  std::string field;
  {
    logdir::WireWriter w(field);
    w.message(logdir::tags::Execution::code_location,
              [&](logdir::WireWriter& sub) { logdir::detail::encode(sub, logdir::CodeLocation{host_, {frame.id}}); });
  }
  return field;
}

}  // namespace nanlens::reader
