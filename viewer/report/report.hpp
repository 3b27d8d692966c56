/// @file
/// A run on a page of text: what was recorded, why it went bad and where, and what could not be read.
#pragma once

#include <string>

#include <nanlens/causes/sentence.hpp>

namespace nanlens::report {

/// How a terminal sets parts off; plain text if it is not on.
struct Style {
  bool on = false;
  [[nodiscard]] std::string bold(const std::string& s) const { return on ? "\033[1m" + s + "\033[0m" : s; }
  [[nodiscard]] std::string bad(const std::string& s) const { return on ? "\033[1;35m" + s + "\033[0m" : s; }
  [[nodiscard]] std::string dim(const std::string& s) const { return on ? "\033[2m" + s + "\033[0m" : s; }
};

/// The page of a run, in English. `causes` has looked at all of it; null for a run without alerts.
std::string run_report(reader::Run& run, causes::Causes* causes, const Style& style = {});

}  // namespace nanlens::report
