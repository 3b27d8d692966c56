/// @file
/// What a shared library's file tells of it.
#pragma once

#include <string>

namespace nanlens::cli {

/// The build id in hexadecimal digits, which differs where the code does; empty if the linker left none. Throws Failure
/// if the file is no shared library of this machine's kind.
std::string build_id(const std::string& library);

}  // namespace nanlens::cli
