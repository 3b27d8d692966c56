/// @file
/// The six files of a recording and their names: `tfdbg_events.<seconds>.<host>.<suffix>`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include <nanlens/config.hpp>
#include <nanlens/logdir/events.hpp>

namespace nanlens::inline NANLENS_ABI::logdir {

/// The files of a set, in the order in which a reader reads them.
enum class FileKind : std::uint8_t { metadata, source_files, stack_frames, graphs, graph_execution_traces, execution };

inline constexpr std::size_t num_file_kinds = 6;
inline constexpr std::string_view file_prefix = "tfdbg_events.";
inline constexpr std::string_view file_version = "debug.Event:1";
inline constexpr std::string_view file_version_prefix = "debug.Event:";
inline constexpr std::array<std::string_view, num_file_kinds> file_suffixes = {
    "metadata", "source_files", "stack_frames", "graphs", "graph_execution_traces", "execution"};

/// "tfdbg_events.<seconds>.<host>": what the names of one set have in common. Seconds are padded to ten digits.
inline std::string file_set_stem(std::int64_t seconds, std::string_view host) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%010lld", static_cast<long long>(seconds));
  return std::string(file_prefix) + digits + "." + std::string(host);
}

/// The name of one file of a set.
inline std::string file_name(std::string_view stem, FileKind kind) {
  return std::string(stem) + "." + std::string(file_suffixes[static_cast<std::size_t>(kind)]);
}

/// Splits a file name into stem and kind. False if it is not the name of a tfdbg2 file. The host may hold dots, so the
/// suffix is found from the right.
inline bool parse_file_name(std::string_view name, std::string& stem, FileKind& kind) {
  const std::size_t dot = name.rfind('.');
  if (!name.starts_with(file_prefix) || dot == std::string_view::npos || dot < file_prefix.size()) return false;
  for (std::size_t i = 0; i < num_file_kinds; ++i) {
    if (file_suffixes[i] != name.substr(dot + 1)) continue;
    stem = name.substr(0, dot);
    kind = static_cast<FileKind>(i);
    return true;
  }
  return false;
}

/// True for records that belong into a file of this kind.
constexpr bool belongs_into(FileKind kind, EventKind event) noexcept {
  switch (kind) {
    case FileKind::metadata: return event == EventKind::debug_metadata;
    case FileKind::source_files: return event == EventKind::source_file;
    case FileKind::stack_frames: return event == EventKind::stack_frame_with_id;
    case FileKind::graphs:
      return event == EventKind::graph_op_creation || event == EventKind::debugged_graph ||
             event == EventKind::debugged_device;
    case FileKind::graph_execution_traces: return event == EventKind::graph_execution_trace;
    case FileKind::execution: return event == EventKind::execution;
  }
  return false;
}

}  // namespace nanlens::inline NANLENS_ABI::logdir
