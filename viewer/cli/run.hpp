/// @file
/// Where programs record that are run by `nanlens run` and `nanlens onnx`.
#pragma once

#include <string>

namespace nanlens::cli {

/// A directory here, named after the time, or after the job whose ranks share it.
std::string default_logdir();

}  // namespace nanlens::cli
