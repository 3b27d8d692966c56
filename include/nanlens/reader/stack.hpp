/// @file
/// Stacks: telling a user's own frames from those of libraries.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nanlens/reader/run.hpp>

namespace nanlens::reader {

/// True for paths of installed libraries and of the interpreters' own modules, by the places where they are installed.
inline bool is_library_path(std::string_view path) noexcept {
  for (const std::string_view part :
       {"/site-packages/", "/dist-packages/", "/lib/python", "<frozen ", "<eval_with_key>", "/torchinductor_",
        "<__array_function__", "/usr/include/", "/usr/lib/", "/include/c++/", "/include/eigen3/", "/include/nanlens/",
        "/.cargo/registry/", "/rustlib/src/"})
    if (path.find(part) != std::string_view::npos) return true;
  for (const std::string_view rust : {"/rustc/", "library/core/src/", "library/alloc/src/", "library/std/src/"})
    if (path.starts_with(rust)) return true;
  return path.empty();
}

/// The frames of a stack that are on record, outermost first.
inline std::vector<StackFrame> resolve_stack(const Run& run, const std::optional<logdir::CodeLocation>& location) {
  std::vector<StackFrame> frames;
  if (!location) return frames;
  for (const auto& id : location->stack_frame_ids)
    if (auto frame = run.frame(id)) frames.push_back(std::move(*frame));
  return frames;
}

/// The innermost frame with a line that is not a library's: the line a user should look at. Without one, the innermost
/// of all.
inline std::optional<StackFrame> user_frame(const std::vector<StackFrame>& frames) {
  for (std::size_t i = frames.size(); i-- > 0;)
    if (!is_library_path(frames[i].file_path) && frames[i].line > 0) return frames[i];
  if (frames.empty()) return std::nullopt;
  return frames.back();
}

/// The innermost frame inside of the user's in an installed package of Python: what a library did there. Not in those
/// packages whose ops are recorded; nothing where no frame is the user's.
inline std::optional<StackFrame> package_frame(const std::vector<StackFrame>& frames) {
  constexpr std::string_view packages = "-packages/";  // site- and dist-packages
  const auto is_of_package = [&](std::string_view path) {
    const std::size_t at = path.rfind(packages);
    if (at == std::string_view::npos) return false;
    const std::string_view inside = path.substr(at + packages.size());
    for (const std::string_view recorded : {"torch/", "tensorflow/", "numpy/", "scipy/"})
      if (inside.starts_with(recorded)) return false;
    return true;
  };
  std::optional<StackFrame> innermost;
  for (std::size_t i = frames.size(); i-- > 0;) {
    if (frames[i].line <= 0) continue;
    if (!is_library_path(frames[i].file_path)) return innermost;
    if (!innermost && is_of_package(frames[i].file_path)) innermost = frames[i];
  }
  return std::nullopt;
}

/// The text of a line of a source file on record; nothing if the file, or its text, is not.
inline std::optional<std::string> source_line(Run& run, const StackFrame& frame) {
  for (std::size_t i = 0; i < run.source_files().size(); ++i) {
    const auto& file = run.source_files()[i];
    if (file.file_path != frame.file_path || file.host_name != frame.host_name) continue;
    const auto lines = run.source_lines(i);
    const auto line = static_cast<std::size_t>(frame.line);
    if (frame.line >= 1 && line <= lines.size()) return lines[line - 1];
  }
  return std::nullopt;
}

}  // namespace nanlens::reader
