/// @file
/// The viewer without a window over logdirs in memory: "memory:0", "memory:1", … are those of `base_sets`.
#pragma once

#include <cmath>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "../app/headless.hpp"
#include "edited_logdir.hpp"

namespace nanlens::fuzz {

inline void require(bool holds) {
  if (!holds) std::abort();
}

/// Adds the `part`th of `parts` shares of a set's records.
inline void add_records(test::GrowingFiles& files, const FileSet& set, std::size_t part, std::size_t parts) {
  const std::string stem = logdir::file_set_stem(1, "host0");
  for (std::size_t i = 0; i < set.size(); ++i) {
    std::string bytes;
    for (std::size_t k = set[i].size() * part / parts; k < set[i].size() * (part + 1) / parts; ++k)
      append_record(bytes, set[i][k]);
    files.append(logdir::file_name(stem, static_cast<logdir::FileKind>(i)), bytes);
  }
}

inline std::string memory_path(std::size_t set) { return "memory:" + std::to_string(set); }

/// Lines of an input, of which a fuzzer takes so many.
inline std::vector<std::string> lines_of(std::string_view input, std::size_t most) {
  std::vector<std::string> lines;
  while (!input.empty() && lines.size() < most) {
    const std::size_t end = std::min(input.find('\n'), input.size());
    lines.emplace_back(input.substr(0, end));
    input.remove_prefix(std::min(end + 1, input.size()));
  }
  return lines;
}

/// What must hold whenever the viewer is at rest.
inline void check_sound(test::Headless& v) {
  const viewer::Focus& focus = v.app().selection.focus;
  require(focus.trace < static_cast<std::int64_t>(v.app().run().num_traces));
  require(focus.execution < static_cast<std::int64_t>(v.app().run().num_executions));
  const ImVec2 size = ImGui::GetIO().DisplaySize;
  for (const auto& [id, r] : v.app().ui.rects) {
    require(std::isfinite(r.x) && std::isfinite(r.y) && r.x >= 0 && r.y >= 0);
    require(r.right() <= size.x + 1 && r.bottom() <= size.y + 1);
  }
}

}  // namespace nanlens::fuzz
