/// @file
/// The cause analysis in words and in JSON, for `why`, `report` and `check`.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <nanlens/causes/sentence.hpp>
#include <nanlens/causes/sentence_table.hpp>
#include <nanlens/reader/reader.hpp>

#include "json.hpp"
#include "report/mutes.hpp"

namespace nanlens::cli {

/// Prints a line.
inline void line(const std::string& text) { std::printf("%s\n", text.c_str()); }

/// The finished analysis of a run.
std::unique_ptr<causes::Causes> find_causes(reader::Run& run);

/// The runs of a logdir in the order in which they are answered for.
std::vector<reader::Run*> runs_by_importance(const reader::Logdir& logdir);

/// Prints the headline with evidence, chain and remedy, indented; then the other causes. Muted ones come last.
void print_headline(causes::Causes& causes, report::Mutes& mutes);

/// Prints everything about one event.
void print_event(causes::Causes& causes, causes::EventRef event);

/// Floating-point exceptions (NanlensExtension.fp_flags) in words: "invalid, overflow".
std::string exceptions_text(std::uint32_t flags);

/// Prints where the program trapped exceptions itself, with what the op was to work on; false if it did nowhere.
bool print_trapped(causes::Causes& causes, report::Mutes& mutes);

/// Prints where exceptions were raised although the output is clean.
void print_hidden(causes::Causes& causes);

/// All of a run's answer; `asked` is the event to explain, the last that follows from the headline if it does not
/// exist.
Json why_json(causes::Causes& causes, causes::EventRef asked, report::Mutes& mutes);

/// Marks that do nothing.
Json mute_problems_json(const report::Mutes& mutes);

}  // namespace nanlens::cli
