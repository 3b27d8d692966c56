/// @file
/// What is wrong with a logdir, in the viewer's languages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nanlens/reader/fault.hpp>

#include "texts.hpp"

namespace nanlens::viewer {

/// A fault in words of a language. Those of the pseudo-language are English.
[[nodiscard]] std::string fault_words(const reader::Fault& fault, Tongue tongue);
/// A fault in words of the chosen language.
[[nodiscard]] inline std::string fault_words(const reader::Fault& fault) { return fault_words(fault, tongue()); }

/// Names of the faults that a language's table lacks.
[[nodiscard]] std::vector<std::string_view> missing_faults(Tongue tongue);

}  // namespace nanlens::viewer
