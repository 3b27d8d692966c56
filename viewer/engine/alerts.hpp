/// @file
/// The Alerts pane's list: every bad tensor of the run, grouped, with the groups in the order of their first alert.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_set>
#include <vector>

#include "explain.hpp"
#include "protocol.hpp"
#include "run_index.hpp"

namespace nanlens::viewer {

/// Groups alerts and answers for windows of the list. No alert is left out, however many there are.
class AlertList {
 public:
  AlertList(RunIndex& index, Explain& explain) : index_(index), explain_(explain) {}

  /// The run has grown: groups are made anew when they are asked for.
  void invalidate() {
    by_.clear();
    find_expected();
    find_muted();
  }
  [[nodiscard]] Alerts fill(const View& view, std::int64_t focus_alert);
  [[nodiscard]] std::size_t size() const { return index_.run().alerts().size(); }
  /// The numbers of all alerts.
  [[nodiscard]] std::vector<std::uint32_t> all() const;
  /// An alert by its number, in the order of Run::alerts.
  AlertLine describe(std::size_t alert);
  /// Position of the alert of a selected tensor; −1 if it is none.
  [[nodiscard]] std::int64_t find(const Focus& focus) const;
  /// Name of the op of an alert: groups and "another op" go by it.
  [[nodiscard]] std::uint64_t op_key(std::size_t alert) const;
  /// "graph/op" of a trace's alert, the op type of an execution's: what can be marked as expected.
  [[nodiscard]] std::string site(std::size_t alert) const;
  /// Alerts of these sites are listed last and passed over by steps.
  void set_expected(const std::vector<std::string>& sites);
  [[nodiscard]] bool is_expected(std::size_t alert) const {
    return expected_ops_.contains(op_key(alert)) || is_muted(alert);
  }
  /// Does nanlens.mutes list its cause?
  [[nodiscard]] bool is_muted(std::size_t alert) const { return alert < muted_.size() && muted_[alert]; }

 private:
  struct Group {
    std::string key;
    std::string name;
    std::vector<std::uint32_t> alerts;
  };
  void group(const std::string& by);
  // The name of the group of an alert, which `call` made; `in` a language.
  std::string group_name(const reader::AlertRef& ref, std::uint32_t call, EventClass event_class, Tongue in);
  std::string line_of(const reader::AlertRef& ref);
  void find_expected();
  void find_muted();
  AlertLine describe(const Group& group);

  RunIndex& index_;
  Explain& explain_;
  std::string by_;
  std::vector<Group> groups_;
  std::vector<std::string> expected_;
  std::unordered_set<std::uint64_t> expected_ops_;
  std::vector<bool> muted_;  // by alert; empty if none is
  std::uint64_t num_muted_ = 0;
};

}  // namespace nanlens::viewer
