/// @file
/// What can't be done, and why.
#pragma once

#include <stdexcept>

namespace nanlens::report {

/// An error that ends a command with exit code 2; its text is the message.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace nanlens::report
