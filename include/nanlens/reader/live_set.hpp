/// @file
/// The six files of a recording together with what lies in its memory (logdir/live_format.hpp): what its process had
/// not written yet when it died, and what a ring holds while it lives.
#pragma once

#include <array>
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

#include <nanlens/reader/live_regions.hpp>
#include <nanlens/reader/record_scanner.hpp>
#include <nanlens/reader/sort_stably.hpp>
#include <nanlens/reader/time_order.hpp>

namespace nanlens::reader {

using logdir::FileKind;

/// Opens one of the six files of a set; null if it can't be opened.
using OpenFile = std::function<std::unique_ptr<ByteSource>(FileKind)>;

/// Where each file of a set ends for a reader, and what follows it. Both only grow, however the process fares.
class LiveSet {
 public:
  explicit LiveSet(std::string host) : host_(std::move(host)) { limits_.fill(everything); }

  /// Looks at the memory's file. `in_use`: whether a process holds it; where that can't be told, its clock does.
  void look(ByteSource& file, std::optional<bool> in_use, const OpenFile& open);

  /// The memory's file is gone: all is in the six. Of a ring's, only what has not been shown follows.
  void gone(const OpenFile& open);

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
  static double seconds_now();

  void add_definitions(const LiveRegions& left);

  // Those before a wall time that were not added before. Each thread kept its own last ones in its ring; when the
  // process has died, the last N of all together stay. While it lives, all can still be pinned.
  void add_events(const LiveRegions& left, double before);

  void add_event(const LiveRegions& left, const LeftEvent& e);
  // Of a record's payload; what is behind it depends on it alone.
  static std::size_t hash_of(std::string_view payload) noexcept;

  // What has moved from the memory into the files since it is watched, as far as it was not shown there.
  void add_written(const live::Commit& commit, const OpenFile& open);
  void add_record(FileKind kind, std::string_view payload);

  static bool has_location(const LiveRegions& left, std::uint32_t stack);

  // The field code_location of a stack; where its frames were not known yet, the line that names the op is one.
  std::string_view location(const LiveRegions& left, std::uint32_t stack);

  std::string make_location(const live::Commit& commit, std::uint32_t number, const LeftStack& stack);

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

#if !defined(NANLENS_SPLIT)
#include <nanlens/reader/live_set.inl>
#endif
