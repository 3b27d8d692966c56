/// @file
/// Everything that an analysis answers, as lines that can be compared. Events are named by what is in their records: in
/// a run that grew, those of several hosts have other indices.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <nanlens/causes/causes.hpp>
#include <nanlens/causes/groups.hpp>

namespace nanlens::test {

class Answers {
 public:
  explicit Answers(causes::Causes& causes) : causes_(causes) {}

  std::vector<std::string> list() {
    for (std::size_t i = 0; i < causes_.total(); ++i) add_alert(causes_.event_of(i));
    for (const auto& root : causes_.roots()) add_root(root);
    std::sort(lines_.begin(), lines_.end());
    for (const auto& incident : causes_.incidents()) {
      std::string line = "incident " + std::to_string(incident.reach);
      for (const std::uint32_t root : incident.roots) line += " " + name(causes_.roots()[root].event);
      lines_.push_back(std::move(line));
    }
    for (const auto& killer : causes_.killers())
      lines_.push_back("removed by " + name(killer.event) + " op " + op_name(killer.op) + " got " +
                       name(killer.removed) + " times " + std::to_string(killer.count));
    const causes::CauseGroups groups(causes_);
    for (const auto& group : groups.list())
      lines_.push_back("cause " + name(causes_.roots()[group.root].event) + " reach " + std::to_string(group.reach) +
                       " count " + std::to_string(group.count));
    lines_.push_back("explained " + std::to_string(causes_.explained()));
    return std::move(lines_);
  }

 private:
  std::string name(causes::EventRef event) {
    if (!event.exists()) return "-";
    auto& run = causes_.run();
    const std::size_t set = event.is_execution ? run.set_of_execution(event.index) : run.set_of_trace(event.index);
    std::string text = run.host_of_set(set) + "/" + std::to_string(causes_.model().time(event));
    if (event.is_execution)
      return text + " " + run.execution(event.index)->event.op_type + ":" + std::to_string(event.slot);
    const auto digest = run.trace_digest(event.index);
    return text + " " + std::string(digest->op_name) + ":" + std::to_string(digest->output_slot);
  }
  std::string op_name(std::uint32_t op) {
    return op == causes::none ? "-" : std::string(causes_.model().graphs().op_name(op));
  }
  void add_alert(causes::EventRef event) {
    const auto lineage = causes_.lineage(event);
    const auto& c = lineage.classification;
    std::string line = name(event) + " " + causes::class_name(c.event_class) + " sure " + std::to_string(c.confidence) +
                       " from " + (lineage.root == causes::none ? "-" : name(causes_.roots()[lineage.root].event));
    for (const auto& input : c.inputs)
      line += ", " + std::to_string(static_cast<int>(input.state)) + " " + name(input.event) + " " +
              std::to_string(input.link.confidence);
    for (const causes::EventRef parent : c.parents) line += "; " + name(parent);
    lines_.push_back(std::move(line));
  }
  void add_root(const causes::Root& root) {
    lines_.push_back("root " + name(root.event) + " " + causes::class_name(root.event_class) + " reach " +
                     std::to_string(root.reach) + " nan " + std::to_string(root.nan_reach) + " removed " +
                     std::to_string(root.removed) + " times " + std::to_string(root.occurrences) + " first nan " +
                     name(root.first_nan) + " last " + name(root.last) + " last removed " + name(root.last_removed) +
                     " failing " + name(root.failing[0]) + name(root.failing[1]) + name(root.failing[2]));
  }

  causes::Causes& causes_;
  std::vector<std::string> lines_;
};

}  // namespace nanlens::test
