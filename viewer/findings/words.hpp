/// @file
/// Numbers with their nouns.
#pragma once

#include <cstdint>
#include <string>

#include "report/describe.hpp"

namespace nanlens::findings {

/// "1 thing", "2,000 things".
inline std::string counted(std::uint64_t n, const char* one, const char* many) {
  return report::with_separators(n) + " " + (n == 1 ? one : many);
}

}  // namespace nanlens::findings
