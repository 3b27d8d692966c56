/// @file
/// Starting a program and waiting for it as if this command were not between it and its caller.
#pragma once

#include <string>
#include <vector>

namespace nanlens::cli {

/// How a program ended.
struct Ended {
  int code = 0;    ///< its exit code; 128 + the signal that ended it
  int signal = 0;  ///< 0: none
};

/// Runs `path` with these words, its own name first, and with variables ("NAME=VALUE") that are set for it. Its
/// standard streams are ours; signals that are sent to this process go to it. Throws Failure if it can't be started.
Ended run_program(const std::string& path, const std::vector<std::string>& words,
                  const std::vector<std::string>& variables);

}  // namespace nanlens::cli
