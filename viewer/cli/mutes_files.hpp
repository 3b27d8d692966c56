/// @file
/// Where mutes lie.
#pragma once

#include <string>

#include "report/mutes.hpp"

namespace nanlens::cli {

/// The marks for what a user names as a logdir: of the file `named`; where none is named, of nanlens.mutes in the
/// logdir and of the nearest one from the working directory up to the root of its repository. Throws Failure if a file
/// can't be read.
report::Mutes find_mutes(const std::string& path, const std::string& named);

}  // namespace nanlens::cli
