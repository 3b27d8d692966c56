/// @file
/// Why the rules that ship matter, in the viewer's languages.
#pragma once

#include <string>

namespace nanlens::viewer {

/// The reason of a rule: of one that ships in the chosen language, of another as it is written.
[[nodiscard]] std::string rule_reason(const std::string& written);

}  // namespace nanlens::viewer
