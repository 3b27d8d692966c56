/// @file
/// The rows that evidence names: what the memory of an op's tensor had been recorded as before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include <nanlens/causes/model.hpp>

namespace nanlens::causes {

/// Finds the row of a graph's tensor by its id and the run of its graph, as nanlens' logdirs number them, in whichever
/// call it was made.
class RecordedRows {
 public:
  explicit RecordedRows(Model& model) : model_(model) {}

  /// The row, before an event of the same process; does not exist if it is neither among the last limits::rows_alike
  /// bad ones of its op, nor among those of the last few calls.
  [[nodiscard]] EventRef find(std::int64_t tensor_id, std::uint64_t graph_run, EventRef before);

 private:
  [[nodiscard]] EventRef find_bad(std::uint32_t op, std::uint32_t slot, std::uint64_t graph_run, EventRef before);
  [[nodiscard]] EventRef find_near(std::uint32_t op, std::uint32_t slot, std::uint64_t graph_run, EventRef before);
  void index();

  Model& model_;
  std::map<std::pair<std::size_t, std::int64_t>, std::uint32_t> ops_;  // by process and first tensor
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> bad_rows_;
  std::size_t ops_indexed_ = 0;
  std::size_t alerts_indexed_ = 0;
};

}  // namespace nanlens::causes

#if !defined(NANLENS_SPLIT)
#include <nanlens/causes/recorded_rows.inl>
#endif
