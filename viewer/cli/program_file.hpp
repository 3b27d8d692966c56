/// @file
/// What can be known of a program before it is started.
#pragma once

#include <string>

namespace nanlens::cli {

/// The file that a shell would start for this name: as it is if it has a '/', else from PATH. Throws Failure if there
/// is none, or if it can't be executed.
std::string find_program(const std::string& name);

/// Why a library can't be loaded into the program: it is linked statically, or runs with rights of its own. Empty if it
/// can. Of a script, its interpreter is looked at. `x86_64`: it must be of that machine, too.
std::string why_not_watchable(const std::string& path, bool x86_64);

}  // namespace nanlens::cli
