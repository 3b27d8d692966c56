/// @file
/// Finding ops, in graphs and eager ones, graphs and source files of a run by a part of their name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "explain.hpp"
#include "protocol.hpp"
#include "run_index.hpp"

namespace nanlens::viewer {

/// What ran eagerly, by type and by name, in the order of the first of each. Calls of functions are found as graphs.
class EagerNames {
 public:
  /// The executions of one type, or of one name.
  struct Entry {
    std::string_view name;
    std::uint64_t count = 0;
    std::uint64_t bad = 0;
    std::uint32_t shown = 0;  ///< the first bad one, or the first
  };

  /// Counts what is new. The views hold until the next call.
  const std::vector<Entry>& update(const reader::Run& run, const causes::CallTable& calls);

 private:
  void count(std::vector<std::size_t>& places, std::uint32_t number, std::uint32_t execution, bool bad);

  std::vector<Entry> list_;
  std::vector<std::size_t> of_type_;  // place in list_, by number
  std::vector<std::size_t> of_name_;
  std::uint32_t counted_ = 0;
};

/// The first fifty names that contain `text`, without regard to case: exact ones first, then beginnings, then parts.
Search search(RunIndex& index, Explain& explain, EagerNames& eager, const std::string& text);

}  // namespace nanlens::viewer
