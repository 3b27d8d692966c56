/// @file
/// Views of a recording as links, as a person gives them to a program.
#pragma once

#include <optional>
#include <string>

namespace nanlens::report {

/// What 'Copy a link to this view' gives, of the page or of the desktop viewer; what is before its '#' does not matter,
/// and "nl=1", with which it begins, may be left out: "t=88" is row 88. Nothing if the text is no view.
inline std::optional<std::string> view_link(const std::string& text) {
  std::string view = text.substr(text.find('#') + 1);  // all of it where there is none
  if (view.find('=') == std::string::npos) return std::nullopt;
  return view.starts_with("nl=1") ? view : "nl=1&" + view;
}

/// What to say where it is none.
inline std::string no_view_link(const std::string& text) {
  return "'" + text + "' is no view: copy one with 'Copy a link to this view', or name a row: --view t=88";
}

}  // namespace nanlens::report
