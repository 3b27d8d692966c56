/// @file
/// What an earlier check found, from what it wrote.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace nanlens::findings {

/// The fingerprints in what `nanlens check` wrote as JSON or SARIF. Nothing, with `why`, if it is neither.
std::optional<std::set<std::string>> fingerprints_in(std::string_view text, std::string& why);

}  // namespace nanlens::findings
