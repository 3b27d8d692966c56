/// @file
/// Looking for a diagnostic.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <nanlens/reader/diagnostics.hpp>

namespace nanlens::test {

inline bool mentions(const std::vector<reader::Diagnostic>& list, const std::string& text) {
  return std::any_of(list.begin(), list.end(),
                     [&](const reader::Diagnostic& d) { return d.message().find(text) != std::string::npos; });
}

}  // namespace nanlens::test
