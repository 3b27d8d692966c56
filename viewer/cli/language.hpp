/// @file
/// The language of what the command says.
#pragma once

#include <string>

namespace nanlens::cli {

/// Speaks the language that is asked for: "ja", or what `--lang` was given; else, to people alone, that of
/// NANLENS_LANG, or that of the system. What programs read is English unless it was asked for. Throws Failure for one
/// that there is not.
void speak(const std::string& asked, bool to_people);

}  // namespace nanlens::cli
