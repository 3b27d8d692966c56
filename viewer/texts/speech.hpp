/// @file
/// The words of sentences about causes, in the viewer's languages.
#pragma once

#include <nanlens/causes/speech.hpp>

#include "texts/texts.hpp"

namespace nanlens::viewer {

/// The words of a language. Those of the pseudo-language are English.
[[nodiscard]] const causes::Speech& speech_of(Tongue tongue);
/// The words of the chosen language.
[[nodiscard]] inline const causes::Speech& speech() { return speech_of(tongue()); }

/// Names of the sayings that a language's table lacks.
[[nodiscard]] std::vector<std::string_view> missing_sayings(Tongue tongue);

}  // namespace nanlens::viewer
