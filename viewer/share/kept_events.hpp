/// @file
/// What of a recording its causes need.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_set>

#include <nanlens/reader/logdir.hpp>

namespace nanlens::share {

/// Asked every now and then; true ends the work.
using Stopped = std::function<bool()>;

/// Throws Failure when the work is stopped.
void go_on_unless(const Stopped& stopped);

/// Events of a logdir, by the names of their files and where their records begin.
struct KeptEvents {
  std::map<std::string, std::unordered_set<std::uint64_t>> offsets;
  std::map<std::string, std::uint64_t> left_out;  ///< how many are not kept, by the path of their file set
};

/// Of the causes of each run: where they began, what their inputs were made from, how these were when they were last
/// fine, what became of it first and last, each with `around` rows or executions before and after it, and the calls of
/// these rows. Throws Failure if nothing in the logdir has a cause, and when it is stopped.
KeptEvents events_of_causes(const reader::Logdir& logdir, std::int64_t around, const Stopped& stopped);

}  // namespace nanlens::share
