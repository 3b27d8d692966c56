/// @file
/// What a host calls the tensors of a story: which gradient the first bad one is, and which parameter it came to.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include <nanlens/causes/causes.hpp>
#include <nanlens/causes/evidence.hpp>

namespace nanlens::causes {

/// Names are on record with bad tensors alone, and for few of these.
struct HostNames {
  std::string root;       ///< of the root's tensor: "grad of net.fc.weight"
  std::string parameter;  ///< the first one that became bad after the root
  EventRef writer;        ///< what wrote that: an optimizer's step
};

namespace detail {

inline constexpr std::string_view gradient_mark = "grad of ";

// Reads the story's events in turn.
class NameSearch {
 public:
  NameSearch(Causes& causes, std::uint32_t root) : causes_(causes), number_(root), root_(causes.roots()[root]) {
    const auto detail = causes.run().execution(root_.event.index);
    if (detail && root_.event.slot < detail->event.output_tensor_ids.size())
      tensor_ = detail->event.output_tensor_ids[root_.event.slot];
  }
  [[nodiscard]] HostNames find() {
    constexpr std::size_t most_events = 2048;
    const std::size_t end = std::min(causes_.done(), root_.alert + most_events);
    for (std::size_t i = root_.alert; i < end && (names_.root.empty() || names_.parameter.empty()); ++i)
      look_at(causes_.event_of(i));
    return std::move(names_);
  }

 private:
  void look_at(EventRef event) {
    if (!event.is_execution || causes_.root_of(event) != number_) return;
    const auto extension = extension_of(causes_.run(), event);
    // Who takes the root's tensor may know what it is: a gradient gets its name once it is whole.
    for (const TensorEvidence& input : extension.input_evidence)
      if (names_.root.empty() && input.recorded_id > 0 && input.recorded_id - 1 == tensor_) names_.root = input.name;
    if (event.slot >= extension.output_evidence.size()) return;
    const std::string& name = extension.output_evidence[event.slot].name;
    if (name.empty()) return;
    if (event.index == root_.event.index && event.slot == root_.event.slot)
      names_.root = name;
    else if (names_.parameter.empty() && !name.starts_with(gradient_mark))
      names_.parameter = name, names_.writer = event;
  }

  Causes& causes_;
  std::uint32_t number_;
  Root root_;
  std::int64_t tensor_ = -2;  // which no tensor has
  HostNames names_;
};

}  // namespace detail

/// The names in the story of a root; none where no host gave any.
inline HostNames host_names(Causes& causes, std::uint32_t root) {
  const bool named = causes.model().owners().native() && causes.roots()[root].event.is_execution;
  return named ? detail::NameSearch(causes, root).find() : HostNames{};
}

}  // namespace nanlens::causes
