/// @file
/// The executions of a run by the ranks of its job. Ranks share no order but the one in which each of them recorded:
/// clocks of hosts differ.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nanlens/reader/reader.hpp>

#include "protocol.hpp"

namespace nanlens::viewer {

/// Some executions in an order, with what they are in sum over any part of it: the cost is that of a few of them.
class ExecutionList {
 public:
  [[nodiscard]] std::size_t size() const noexcept { return executions_.size(); }
  [[nodiscard]] std::uint32_t operator[](std::size_t i) const noexcept { return executions_[i]; }
  void add(const reader::Run& run, std::uint32_t execution);
  /// Of those in [first, end).
  [[nodiscard]] Density sum(const reader::Run& run, std::size_t first, std::size_t end) const;
  /// The first bad one in [first, end); `end` if there is none.
  [[nodiscard]] std::size_t first_bad(const reader::Run& run, std::size_t first, std::size_t end) const;
  [[nodiscard]] std::size_t memory_bytes() const noexcept {
    return executions_.memory_bytes() + sums_.capacity() * sizeof(Sums);
  }

 private:
  struct Sums {
    std::uint32_t functions = 0;
    std::uint32_t bad = 0;
    void add(std::uint8_t flags) noexcept;
  };
  static constexpr std::size_t step = 16;
  [[nodiscard]] Sums before(const reader::Run& run, std::size_t i) const;

  reader::Column<std::uint32_t> executions_;
  std::vector<Sums> sums_;  // before every 16th
  Sums whole_;
};

/// What a rank recorded.
struct RankTrack {
  std::int32_t rank = -1;  ///< −1: a process that did not tell one
  std::string host;
  std::uint64_t bad = 0;  ///< bad tensors, those of graphs included
  ExecutionList executions;
  bool in_time = true;  ///< their times ascend
  double last_time = 0;
  ExecutionList by_time;  ///< unless they do; without those whose time is no number
  std::size_t by_time_of = 0;
};

/// What all tracks hold from the run's beginning to its end, in a number of columns (Track::overview).
struct RankMap {
  bool by_time = false;
  std::uint32_t columns = 0;
  std::size_t executions = 0;  ///< of the run when it was made
  std::vector<std::vector<std::uint8_t>> cells;
};

/// The tracks of a run, which `refresh` brings up to date when it has grown.
class RankTracks {
 public:
  explicit RankTracks(reader::Run& run) : run_(run) {}

  void refresh();
  /// Did more than one rank record? There are no tracks else.
  [[nodiscard]] bool several() const noexcept { return several_; }
  /// By rank, then by host.
  [[nodiscard]] std::size_t size() const noexcept { return order_.size(); }
  [[nodiscard]] const RankTrack& operator[](std::size_t number) const { return tracks_[order_[number]]; }
  /// Its executions by time.
  [[nodiscard]] const ExecutionList& by_time(std::size_t number);

  /// Where an execution is: in which track, and how many of that rank came before it.
  struct Place {
    std::int32_t track = -1;
    std::size_t at = 0;
  };
  [[nodiscard]] Place find(std::int64_t execution) const;
  [[nodiscard]] std::int32_t track_of_set(std::size_t set) const {
    return several_ && set < track_of_set_.size() ? number_of_[track_of_set_[set]] : -1;
  }
  [[nodiscard]] std::size_t memory_bytes() const noexcept;
  /// Kept from one answer to the next.
  [[nodiscard]] RankMap& map() noexcept { return map_; }

 private:
  void take_sets();
  void take_executions();
  void count_bad();
  void put_in_order();

  reader::Run& run_;
  std::vector<RankTrack> tracks_;        // as they were found
  std::vector<std::uint32_t> order_;     // of them
  std::vector<std::int32_t> number_of_;  // of each of them in that order; −1: not shown
  std::vector<std::uint32_t> track_of_set_;
  std::size_t executions_ = 0;  // taken in
  RankMap map_;
  bool several_ = false;
};

/// How many ranks a run has, none for a program that was started alone.
std::uint32_t num_ranks(const reader::Run& run);

/// The name of the host that recorded a set, without the rank that it ends with.
std::string host_name_of(const reader::Run& run, std::size_t set);

}  // namespace nanlens::viewer
