/// @file
/// Finding ops, graphs and source files of a run by a part of their name.
#pragma once

#include <string>

#include "protocol.hpp"
#include "run_index.hpp"

namespace nanlens::viewer {

/// The first fifty names that contain `text`, without regard to case: exact ones first, then beginnings, then parts.
Search search(RunIndex& index, const std::string& text);

}  // namespace nanlens::viewer
