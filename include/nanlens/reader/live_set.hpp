/// @file
/// The six files of a recording together with what lies in its memory (logdir/live_format.hpp): what its process had
/// not written yet when it died, and what a ring holds while it lives.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include <nanlens/logdir/decode.hpp>
#include <nanlens/logdir/encode.hpp>
#include <nanlens/reader/live_regions.hpp>
#include <nanlens/reader/record_scanner.hpp>
#include <nanlens/reader/sort_stably.hpp>
#include <nanlens/reader/time_order.hpp>

namespace nanlens::reader {

using logdir::FileKind;

/// Where each file of a set ends for a reader, and what follows it. Both only grow, however the process fares.
class LiveSet {
 public:
  explicit LiveSet(std::string host) : host_(std::move(host)) { limits_.fill(everything); }

  /// Looks at the memory's file. `in_use`: whether a process holds it; where that can't be told, its clock does.
  /// `open(kind)` opens one of the six.
  template <class Open>
  void look(ByteSource& file, std::optional<bool> in_use, Open&& open) {
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

  /// The memory's file is gone: all is in the six. Of a ring's, only what has not been shown follows.
  template <class Open>
  void gone(Open&& open) {
    if (state_ == State::died) return;
    state_ = State::closed;
    live::Commit all{};
    all.file_bytes.fill(everything);
    for (std::size_t i = 0; i < limits_.size(); ++i)
      if (!was_watched_ || !holds_events(static_cast<FileKind>(i))) limits_[i] = everything;
    if (was_watched_) add_written(all, open);
  }

  /// How many bytes of a file are to be read, and what follows them.
  [[nodiscard]] std::uint64_t bytes_of(FileKind kind) const noexcept { return limits_[index(kind)]; }
  [[nodiscard]] const std::string& tail_of(FileKind kind) const noexcept { return tails_[index(kind)]; }
  /// True if the process died and has left something that its files lack, or bytes that are not whole records.
  [[nodiscard]] bool died() const noexcept { return state_ == State::died; }
  /// Events and definitions that were only in memory.
  [[nodiscard]] std::uint64_t num_left() const noexcept { return num_left_; }
  [[nodiscard]] bool truncated() const noexcept { return truncated_; }

 private:
  static constexpr std::uint64_t everything = std::numeric_limits<std::uint64_t>::max();
  static constexpr double seconds_between_signs = 2;  // a living recording gives one 20 times a second
  enum class State : std::uint8_t { files, watched, died, closed };

  static constexpr std::size_t index(FileKind kind) noexcept { return static_cast<std::size_t>(kind); }
  static constexpr bool holds_events(FileKind kind) noexcept {
    return kind == FileKind::graph_execution_traces || kind == FileKind::execution;
  }
  std::string& tail(FileKind kind) noexcept { return tails_[index(kind)]; }
  static double seconds_now() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  }

  void add_definitions(const LiveRegions& left) {
    for (auto at = left.definitions.lower_bound(left.commit().definitions); at != left.definitions.end(); ++at) {
      const LeftDefinition& d = at->second;
      if (!logdir::belongs_into(FileKind::graphs, d.kind)) continue;
      live::append_record(tail(FileKind::graphs), d.wall_time, d.kind, d.before, location(left, d.stack), d.after, {});
      ++num_left_;
    }
  }

  // Those before a wall time that were not added before. Each thread kept its own last ones in its ring; when the
  // process has died, the last N of all together stay. While it lives, all can still be pinned.
  void add_events(const LiveRegions& left, double before) {
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

  void add_event(const LiveRegions& left, const LeftEvent& e) {
    const bool execution = e.event.is_execution != 0;
    const std::string_view content = e.content;
    const std::size_t message = std::size_t{e.event.before_bytes} + e.event.after_bytes;
    const std::string_view place = location(left, e.event.stack);
    std::string& to = tail(execution ? FileKind::execution : FileKind::graph_execution_traces);
    const std::size_t begin = to.size();
    live::append_record(to, e.event.wall_time,
                        execution ? logdir::EventKind::execution : logdir::EventKind::graph_execution_trace,
                        content.substr(0, e.event.before_bytes), place,
                        content.substr(e.event.before_bytes, e.event.after_bytes), content.substr(message));
    if (was_watched_) ++from_memory_[hash_of(std::string_view(to).substr(begin + logdir::record_header_bytes))];
    ++num_left_;
  }
  // Of a record's payload; what is behind it depends on it alone.
  static std::size_t hash_of(std::string_view payload) noexcept {
    const std::size_t behind = logdir::record_overhead - logdir::record_header_bytes;
    return std::hash<std::string_view>{}(payload.substr(0, payload.size() - behind));
  }

  // What has moved from the memory into the files since it is watched, as far as it was not shown there.
  template <class Open>
  void add_written(const live::Commit& commit, Open&& open) {
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
  void add_record(FileKind kind, std::string_view payload) {
    const auto shown = from_memory_.find(std::hash<std::string_view>{}(payload));
    if (shown == from_memory_.end())
      logdir::append_record_of(tail(kind), [&](logdir::WireWriter& w) { w.raw(payload); });
    else if (--shown->second == 0)
      from_memory_.erase(shown);
  }

  static bool has_location(const LiveRegions& left, std::uint32_t stack) {
    if (stack == live::no_stack) return true;
    const auto found = left.stacks.find(stack);
    return found != left.stacks.end() && !found->second.location.empty();
  }

  // The field code_location of a stack; where its frames were not known yet, the line that names the op is one.
  std::string_view location(const LiveRegions& left, std::uint32_t stack) {
    const auto found = stack == live::no_stack ? left.stacks.end() : left.stacks.find(stack);
    if (found == left.stacks.end()) return {};
    if (!found->second.location.empty()) return found->second.location;
    std::string& made = made_[stack];
    if (made.empty()) made = make_location(left.commit(), stack, found->second);
    return made;
  }

  std::string make_location(const live::Commit& commit, std::uint32_t number, const LeftStack& stack) {
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

  std::string host_;
  State state_ = State::files;
  bool truncated_ = false;
  std::uint64_t num_left_ = 0;
  std::array<std::uint64_t, logdir::num_file_kinds> limits_;
  std::array<std::string, logdir::num_file_kinds> tails_;
  std::set<std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>> shown_;  // thread, is_execution, sequence
  bool was_watched_ = false;  // from then on events are shown from memory, and of files what did not come from there
  std::unordered_map<std::size_t, std::uint32_t> from_memory_;  // records that a file may still get, by hash
  std::array<RecordScanner, logdir::num_file_kinds> scanners_;
  std::map<std::uint32_t, std::string> made_;  // code_location by stack
  std::map<std::string, std::uint64_t> files_;
};

}  // namespace nanlens::reader
