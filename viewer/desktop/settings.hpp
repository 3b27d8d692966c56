/// @file
/// What the desktop viewer remembers between sessions, in $XDG_CONFIG_HOME/nanlens (~/.config/nanlens).
#pragma once

#include <string>
#include <vector>

#include "app/app.hpp"
#include "widgets/fonts.hpp"

namespace nanlens::viewer {

std::string load_settings();
void store_settings(const std::string& text);

/// Logdirs that were opened, the latest first.
std::vector<Recent> load_recent();
/// Puts a logdir, opened now, at the head of the list, in place of what was known of it.
void add_recent(Recent opened);

/// Writes a file by replacing it, so that a reader never sees half of it. False if that failed.
bool replace_file(const std::string& path, const std::string& content);

/// Writes a part of a list to a file of this name in the current directory. Returns its path; "" if that failed.
std::string save_part(const std::string& name, const std::string& text, bool first);

/// Fonts with Japanese, Chinese and Korean characters, from fontconfig; that of the given language first.
std::vector<FallbackFont> find_cjk_fonts(Tongue tongue);

}  // namespace nanlens::viewer
