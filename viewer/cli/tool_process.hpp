/// @file
/// Running a tool, such as a compiler, for its output.
#pragma once

#include <string>
#include <vector>

namespace nanlens::cli {

struct ToolResult {
  int code = 0;        ///< exit code; 127 if it could not be started, 128 + the signal that ended it
  std::string output;  ///< what it wrote to stdout and stderr
};

/// Runs a tool, found by PATH, to its end. Without LD_PRELOAD: what is put into a recorded program is not meant for
/// the tools that nanlens itself calls. Throws Failure if the system has no process to give.
ToolResult run_tool(const std::vector<std::string>& words);

}  // namespace nanlens::cli
