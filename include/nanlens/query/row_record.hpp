/// @file
/// Rows as queries see them: tensors of graphs, and outputs of executions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <nanlens/causes/event.hpp>
#include <nanlens/config.hpp>
#include <nanlens/query/tensor_facts.hpp>
#include <nanlens/reader/run.hpp>

namespace nanlens::inline NANLENS_ABI::query {

using causes::EventRef;

/// The record of a row.
struct RowRecord {
  double wall_time = 0;
  std::int32_t mode = 0;
  std::int32_t slot = 0;
  std::string op_name;  ///< of an execution without a name: its type
  std::string op_type;
  std::string device;
  TensorFacts facts;
};

/// Reads a row's record at most once, and only if a condition needs it. The execution whose output it is, is kept for
/// the next one.
class RowReader {
 public:
  explicit RowReader(reader::Run& run) : run_(run) {}

  void begin(EventRef row) {
    row_ = row;
    read_ = false;
  }
  [[nodiscard]] EventRef row() const noexcept { return row_; }
  /// Null if the record can't be read any more.
  const RowRecord* record() {
    if (!read_) {
      read_ = true;
      record_ = row_.is_execution ? read_execution() : read_trace();
    }
    return record_ ? &*record_ : nullptr;
  }
  /// The execution whose output the row is.
  const std::optional<reader::ExecutionDetail>& execution() {
    if (execution_index_ != row_.index) {
      execution_ = run_.execution(row_.index);
      execution_index_ = row_.index;
    }
    return execution_;
  }
  /// The run has grown: what could not be read may be there now.
  void forget() {
    read_ = false;
    execution_index_ = reader::none;
  }

 private:
  std::optional<RowRecord> read_trace() {
    const auto detail = run_.trace(row_.index);
    if (!detail) return std::nullopt;
    const auto& outputs = detail->extension.outputs;
    RowRecord r;
    r.wall_time = detail->wall_time;
    r.mode = detail->event.tensor_debug_mode;
    r.slot = detail->event.output_slot;
    r.op_name = detail->event.op_name;
    r.op_type = detail->op_type;
    r.device = detail->event.device_name;
    r.facts = tensor_facts(r.mode, &detail->debug_tensor_value,
                           detail->event.tensor_proto ? &*detail->event.tensor_proto : nullptr,
                           outputs.empty() ? nullptr : &outputs.front());
    return r;
  }
  std::optional<RowRecord> read_execution() {
    const auto& detail = execution();
    if (!detail) return std::nullopt;
    const auto at = [slot = std::size_t{row_.slot}](const auto& list) {
      return slot < list.size() ? &list[slot] : nullptr;
    };
    RowRecord r;
    r.wall_time = detail->wall_time;
    r.mode = detail->event.tensor_debug_mode;
    r.slot = row_.slot;
    r.op_type = detail->event.op_type;
    r.op_name = detail->extension.op_name.empty() ? r.op_type : detail->extension.op_name;
    if (const auto* const device = at(detail->event.output_tensor_device_ids))
      r.device = run_.device_name(run_.set_of_execution(row_.index), *device);
    r.facts = tensor_facts(r.mode, at(detail->debug_tensor_values), at(detail->event.tensor_protos),
                           at(detail->extension.outputs));
    return r;
  }

  reader::Run& run_;
  EventRef row_;
  bool read_ = false;
  std::optional<RowRecord> record_;
  std::uint32_t execution_index_ = reader::none;
  std::optional<reader::ExecutionDetail> execution_;
};

}  // namespace nanlens::inline NANLENS_ABI::query
