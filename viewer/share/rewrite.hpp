/// @file
/// A logdir again, without what is not to be handed on.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kept_events.hpp"
#include "logdir_files.hpp"

namespace nanlens::share {

struct Rewriting {
  bool no_source = false;           ///< without the text of source files
  std::vector<std::string> redact;  ///< texts that no file may hold
  std::optional<KeptEvents> keep;   ///< of executions and graph execution traces, these alone
  Stopped stopped;

  [[nodiscard]] bool changes_anything() const { return no_source || !redact.empty() || keep; }
};

/// A text without those that are to be taken out; each leaves a word of its own, so that what differed still does.
std::string redacted(std::string text, const std::vector<std::string>& words);

/// Writes files into an empty directory, changed. Throws Failure if that can't be done or is stopped, also where a text
/// can't be taken out of a record without breaking it: the result holds none of them. Damaged records are left out, and
/// told on stderr.
LogdirFiles rewrite(const LogdirFiles& files, const Rewriting& rewriting, const std::string& directory);

}  // namespace nanlens::share
