/// @file
/// PyTorch's backward passes, and steps that its loss scaling leaves out. torch.amp.GradScaler scales the loss, so that
/// small gradients don't vanish in float16; where one got too large, it leaves the step out, and goes on with a smaller
/// scale.
#pragma once

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <nanlens/causes/call_table.hpp>

namespace nanlens::causes {

/// Finds backward passes, and where gradients are searched for what is not finite.
class ScaledSteps {
 public:
  ScaledSteps(CallTable& calls, Run& run) : calls_(calls), run_(run) {}

  /// Are gradients searched here, by GradScaler's own op?
  [[nodiscard]] bool is_search(std::uint32_t execution) const {
    return calls_.op_type(execution) == "aten::_amp_foreach_non_finite_check_and_unscale_";
  }
  /// The next search after an execution, of its process; none if there is none on record.
  [[nodiscard]] std::uint32_t search_after(std::uint32_t execution) {
    find_searches();
    auto at = std::upper_bound(searches_.begin(), searches_.end(), execution);
    while (at != searches_.end() && !of_one_process(*at, execution)) ++at;
    return at == searches_.end() ? none : *at;
  }
  /// Did a later search find nothing?
  [[nodiscard]] bool is_well_after(std::uint32_t search) {
    find_searches();
    const auto last = last_well_.find(run_.set_of_execution(search));
    return last != last_well_.end() && last->second > search;
  }
  /// The first op of a backward pass after a search, of its process; none if there is none on record.
  [[nodiscard]] std::uint32_t pass_after(std::uint32_t search) {
    std::uint32_t& next = passes_.try_emplace(search, search + 1).first->second;
    while (next < calls_.size() && !(is_of_backward_pass(next) && of_one_process(next, search))) ++next;
    return next < calls_.size() ? next : none;
  }
  /// Does an op belong to a node of the backward pass? Such a node is named "MulBackward0", or "MulBackward0 of
  /// net.fc".
  [[nodiscard]] bool is_of_backward_pass(std::uint32_t execution) const {
    const std::string_view node = calls_.op_name(calls_.op_name_number(execution));
    return node.find("Backward") != std::string_view::npos || node.starts_with("AccumulateGrad");
  }
  /// The same, or does it stand between two nodes? There a gradient is given the type and the shape that the next one
  /// takes.
  [[nodiscard]] bool is_in_backward_pass(std::uint32_t execution) const {
    if (is_of_backward_pass(execution)) return true;
    const std::string_view type = calls_.op_type(execution);
    return (type == "aten::_to_copy" || type == "aten::sum") && execution + 1 < calls_.size() &&
           is_of_backward_pass(execution + 1);
  }
  /// Is a gradient given another type here, for other ranks, say?
  [[nodiscard]] bool is_cast_of_gradient(std::uint32_t execution) {
    if (calls_.op_type(execution) != "aten::_to_copy") return false;
    const auto inputs = calls_.inputs(execution);
    const auto made = inputs.empty() ? std::nullopt : calls_.producer(inputs[0].tensor_id, execution);
    if (!made || is_of_backward_pass(made->execution)) return made.has_value();
    const bool follows = made->execution > 0 && is_of_backward_pass(made->execution - 1);
    return follows && calls_.op_type(made->execution) == "aten::sum";  // as behind a bias that was added to each row
  }
  /// Is a gradient of 1 made like the loss here, for a backward pass to begin with?
  [[nodiscard]] bool begins_backward_pass(std::uint32_t execution) const {
    return calls_.op_type(execution) == "aten::ones_like" && execution + 1 < calls_.size() &&
           is_in_backward_pass(execution + 1);
  }

 private:
  void find_searches() {
    for (; looked_at_ < calls_.size(); ++looked_at_) {
      if (!is_search(looked_at_)) continue;
      searches_.push_back(looked_at_);
      if ((run_.execution_flags(looked_at_) & reader::bad_flags) == 0)
        last_well_[run_.set_of_execution(looked_at_)] = looked_at_;
    }
  }
  [[nodiscard]] bool of_one_process(std::uint32_t a, std::uint32_t b) const {
    return run_.set_of_execution(a) == run_.set_of_execution(b);
  }

  CallTable& calls_;
  Run& run_;
  std::uint32_t looked_at_ = 0;
  std::vector<std::uint32_t> searches_;
  std::unordered_map<std::size_t, std::uint32_t> last_well_;  // by process: the last search that found nothing
  std::unordered_map<std::uint32_t, std::uint32_t> passes_;   // by search: what was looked at so far
};

}  // namespace nanlens::causes
