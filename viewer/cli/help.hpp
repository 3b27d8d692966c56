/// @file
/// The command's help, and what it says of wrong use and of failures, in the chosen language.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "texts/texts.hpp"

namespace nanlens::cli {

/// Puts all descriptions, and what is said of wrong use, into the language that the words of the command line or the
/// environment ask for. Those that it lacks stay English. Returns the language, to be spoken where help is shown; the
/// command itself speaks as it decides.
viewer::Tongue translate_help(CLI::App& app, const std::vector<std::string>& words);

/// Why the command failed, in the language that it speaks; what has no translation stays English.
std::string failure_words(const std::string& message);

}  // namespace nanlens::cli
