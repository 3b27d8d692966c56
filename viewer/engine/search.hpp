/// @file
/// Finding ops, in graphs and eager ones, graphs and source files of a run by a part of their name.
#pragma once

#include <string>

#include "explain.hpp"
#include "protocol.hpp"
#include "run_index.hpp"

namespace nanlens::viewer {

/// The first fifty names that contain `text`, without regard to case: exact ones first, then beginnings, then parts.
Search search(RunIndex& index, Explain& explain, const std::string& text);

}  // namespace nanlens::viewer
