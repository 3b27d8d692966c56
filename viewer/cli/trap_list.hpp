/// @file
/// What --traps takes.
#pragma once

#include <string>
#include <string_view>

namespace nanlens::cli {

/// Why exceptions can't be trapped as a list says: this machine can't, or it is no list of exceptions. Empty if they
/// can, and for no list.
std::string why_no_traps(std::string_view list);

}  // namespace nanlens::cli
