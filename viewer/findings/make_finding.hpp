/// @file
/// What findings of causes and of rules have in common.
#pragma once

#include <string>

#include <nanlens/causes/event.hpp>
#include <nanlens/reader/reader.hpp>

#include "findings.hpp"
#include "places.hpp"

namespace nanlens::findings {

Place place_of(const reader::StackFrame& frame, const SourceRoot& sources);

/// The same for the same rule at the same op in another recording. The line's text stands for its number, which moves
/// with every edit above it.
std::string fingerprint(reader::Run& run, const Finding& finding, const reader::StackFrame& frame);

/// "row 88", "execution 3"
std::string where_words(causes::EventRef event);

}  // namespace nanlens::findings
