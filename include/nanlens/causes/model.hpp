/// @file
/// A run as the cause analysis sees it: facts, windows and health of its events.
#pragma once

#include <array>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include <nanlens/causes/nested_calls.hpp>
#include <nanlens/causes/numerics.hpp>
#include <nanlens/causes/window.hpp>

namespace nanlens::causes {

/// Where an event was recorded. Texts are empty where the record does not tell.
struct Recorder {
  std::string host;
  std::string device;
  std::string file_set;  ///< path of the set of files, without the ending of a kind
};

/// Everything that resolving a link asks for. Not thread-safe: it reads records on demand.
class Model {
 public:
  explicit Model(Run& run)
      : run_(run), graphs_(run), calls_(run, graphs_), owners_(run, graphs_, calls_), nested_(graphs_) {}
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  [[nodiscard]] Run& run() const noexcept { return run_; }
  [[nodiscard]] GraphFacts& graphs() noexcept { return graphs_; }
  [[nodiscard]] CallTable& calls() noexcept { return calls_; }
  [[nodiscard]] RowOwners& owners() noexcept { return owners_; }
  [[nodiscard]] NestedCalls& nested() noexcept { return nested_; }

  /// Takes in executions that are new, at most `most`; true when everything is in.
  bool update(std::size_t most) {
    if (!calls_.update(most)) return false;
    owners_.update();
    nested_.forget();
    windows_.clear();
    known_execution_ = none;
    return true;
  }

  /// The rows of a call; of `none`: all rows that belong to no call. The last few are kept.
  Window& window(std::uint32_t call) {
    for (auto it = windows_.begin(); it != windows_.end(); ++it)
      if ((*it)->call() == call) {
        windows_.splice(windows_.begin(), windows_, it);
        return *windows_.front();
      }
    constexpr std::size_t most = 4;
    if (windows_.size() < most) {
      windows_.push_front(std::make_unique<Window>(run_, graphs_, owners_));
    } else {
      windows_.splice(windows_.begin(), windows_, std::prev(windows_.end()));
    }
    windows_.front()->build(call);
    return *windows_.front();
  }

  /// Health of one event; flags 0 where it holds no summary.
  TensorHealth health(EventRef event) {
    if (!event.is_execution) {
      const auto digest = run_.trace_digest(event.index);
      return digest ? digest->health : TensorHealth{};
    }
    const auto& outputs = outputs_of(event.index);
    return event.slot < outputs.size() ? outputs[event.slot] : TensorHealth{};
  }
  /// Its flags alone: cheap.
  std::uint8_t flags(EventRef event) {
    if (!event.is_execution) return run_.trace_flags(event.index);
    const std::uint8_t all = run_.execution_flags(event.index);
    if ((all & reader::bad_flags) == 0) return all & ~reader::function_flag;
    return health(event).flags;
  }
  bool bad(EventRef event) { return (flags(event) & reader::bad_flags) != 0; }
  /// Kinds of non-finite values in an event; 0 where only their presence is on record (CURT_HEALTH).
  Kinds kinds(EventRef event) {
    if (!kinds_known()) return 0;
    return flags(event) & reader::bad_flags;
  }
  /// Does the recording tell NaN from infinity? Found from the first summary on record.
  bool kinds_known() {
    if (!kinds_known_) kinds_known_ = mode() != TensorDebugMode::curt_health;
    return *kinds_known_;
  }
  TensorDebugMode mode() {
    if (mode_ != TensorDebugMode::unspecified) return mode_;
    if (run_.num_traces() > 0)
      if (const auto detail = run_.trace(0)) mode_ = static_cast<TensorDebugMode>(detail->event.tensor_debug_mode);
    if (mode_ == TensorDebugMode::unspecified && run_.num_executions() > 0)
      if (const auto detail = run_.execution(0)) mode_ = static_cast<TensorDebugMode>(detail->event.tensor_debug_mode);
    return mode_;
  }

  /// Orders events by time as far as files tell: rows of a call come before the call's own outputs.
  [[nodiscard]] double time(EventRef event) {
    if (event.is_execution) return run_.execution_wall_time(event.index);
    const auto digest = run_.trace_digest(event.index);
    return digest ? digest->wall_time : 0;
  }

  /// Which host, device and set of files an event is from: of several ranks, which one.
  [[nodiscard]] Recorder recorder(EventRef event) {
    Recorder r;
    r.file_set =
        run_.set_path(event.is_execution ? run_.set_of_execution(event.index) : run_.set_of_trace(event.index));
    if (event.is_execution) {
      const auto detail = run_.execution(event.index);
      if (detail && detail->event.code_location) r.host = detail->event.code_location->host_name;
      const auto& devices = run_.devices();
      if (detail && event.slot < detail->event.output_tensor_device_ids.size())
        for (const auto& device : devices)
          if (device.device_id == detail->event.output_tensor_device_ids[event.slot]) r.device = device.device_name;
      return r;
    }
    if (const auto detail = run_.trace(event.index)) r.device = detail->event.device_name;
    const auto op = run_.op(run_.trace_op(event.index));
    if (op && op->event.code_location) r.host = op->event.code_location->host_name;
    return r;
  }

  OpCode code(EventRef event) {
    if (!event.is_execution) return graphs_.op(run_.trace_op(event.index)).code;
    return calls_.is_call(event.index) ? OpCode::call : execution_code(event.index);
  }
  [[nodiscard]] std::string_view op_type(EventRef event) {
    return event.is_execution ? calls_.op_type(event.index) : graphs_.op_type(run_.trace_op(event.index));
  }

 private:
  const std::vector<TensorHealth>& outputs_of(std::uint32_t execution) {
    if (known_execution_ != execution) {
      known_execution_ = execution;
      if (!run_.execution_links(execution, known_links_)) known_links_ = {};
      known_links_.op_type = known_links_.graph_id = {};  // their record may go
    }
    return known_links_.outputs;
  }
  OpCode execution_code(std::uint32_t execution) {
    const std::uint32_t type = calls_.op_type_number(execution);
    if (type >= codes_.size()) codes_.resize(type + 1U);
    if (!codes_[type]) codes_[type] = op_code(calls_.op_type(execution));
    return *codes_[type];
  }

  Run& run_;
  GraphFacts graphs_;
  CallTable calls_;
  RowOwners owners_;
  NestedCalls nested_;
  std::list<std::unique_ptr<Window>> windows_;  // most recently used first
  std::uint32_t known_execution_ = none;
  reader::ExecutionLinks known_links_;
  std::vector<std::optional<OpCode>> codes_;
  std::optional<bool> kinds_known_;
  TensorDebugMode mode_ = TensorDebugMode::unspecified;
};

}  // namespace nanlens::causes
