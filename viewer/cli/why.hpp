/// @file
/// The cause analysis in words, shared by `why`, `report` and `check`.
#pragma once

#include <memory>
#include <string>

#include <nanlens/causes/sentence.hpp>

namespace nanlens::cli {

/// The finished analysis of a run.
std::unique_ptr<causes::Causes> find_causes(reader::Run& run);

/// The headline of a run in one line, with its consequence; empty if there is nothing to explain.
std::string headline_text(causes::Causes& causes);

/// Prints the headline with evidence, chain and remedy, indented.
void print_headline(causes::Causes& causes);

}  // namespace nanlens::cli
