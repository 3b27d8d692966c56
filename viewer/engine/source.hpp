/// @file
/// A source file of the run, with the lines that made ops.
#pragma once

#include <string>

#include "protocol.hpp"
#include "run_index.hpp"

namespace nanlens::viewer {

/// The text of a file and, for every line that made graph ops, how many and whether any of their tensors went bad. An
/// op counts for the innermost frame that its stack has in the file.
Source source_of(RunIndex& index, const std::string& host, const std::string& path);

/// Only the text of one line; "" if it is not on record.
std::string source_line_of(RunIndex& index, const std::string& host, const std::string& path, std::int32_t line);

}  // namespace nanlens::viewer
