/// @file
/// Libraries of nanlens' own that become part of programs.
#pragma once

#include <string>

namespace nanlens::cli {

/// The path of one, by its file's name: beside this program in a build tree, and where it is installed
/// (DIR/bin/nanlens, DIR/lib/nanlens). It need not be there.
std::string library_path(const std::string& name);

/// The path of one that is loaded. Throws Failure if it is not there, or can't be loaded from there.
std::string library(const std::string& name);

}  // namespace nanlens::cli
