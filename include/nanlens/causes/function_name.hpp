/// @file
/// Functions as sentences name them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

namespace nanlens::causes {

/// A function's name without its arguments. In Rust's names, and in arguments of C++'s templates, brackets are part of
/// types.
inline std::string without_arguments(const std::string& function) {
  int depth = 0;
  for (std::size_t i = 0; i < function.size(); ++i) {
    if (function.compare(i, 8, "operator") == 0)
      i = std::min(function.find('(', function.compare(i, 10, "operator()") == 0 ? i + 10 : i + 8),
                   function.size() - 1);
    if (function[i] == '(' && depth == 0) return function.substr(0, i);
    if (function[i] == '<') ++depth;
    if (function[i] == '>' && (i == 0 || function[i - 1] != '-')) --depth;
  }
  return function;
}

}  // namespace nanlens::causes
