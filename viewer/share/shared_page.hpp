/// @file
/// The page with a recording in it, as one file that a browser opens by itself: for the command and the desktop viewer.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace nanlens::share {

struct PageOptions {
  std::string path;
  std::string output;              ///< empty: `name_for` the path
  std::string page;                ///< empty: the one beside this program
  std::string view;                ///< a link, or what follows its '#'
  std::int64_t around_cause = -1;  ///< −1: everything; else what causes need, and so many events around it
  bool no_source = false;
  std::vector<std::string> redact;  ///< texts that must not be in it
  /// Asked every now and then; true gives the page up, and nothing of it stays.
  std::function<bool()> stopped = [] { return false; };
};

/// What the file for a logdir or an archive is called: the same name, with .html.
std::string name_for(const std::string& path);

/// Writes the file; returns its name. Throws Failure if the logdir can't be read, the page is missing or too old, the
/// file can't be written, or it is stopped.
std::string write_page(const PageOptions& options);

}  // namespace nanlens::share
