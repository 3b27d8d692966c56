/// @file
/// The commands' bodies, by group, and reading their arguments.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/app.hpp"

namespace nanlens::viewer {

using CommandBody = Result (*)(App&, const Json&);

/// A line of the palette and of the list of keys.
struct CommandEntry {
  Text title;
  std::string keys = {};         ///< "N", "Shift+I", "Ctrl+F", "F3", "?": see key_bindings.hpp. Several after a blank
  std::string arguments = "{}";  ///< JSON that they pass
};

struct CommandRow {
  std::string_view name;
  CommandBody body;
  std::vector<CommandEntry> entries = {};  ///< none: clicks, scripts and links alone run it
};
using CommandTable = std::vector<CommandRow>;

/// Commands by group; every name is in exactly one table. To add one: body and row in its group's file, the titles of
/// its entries in texts/strings.def and strings_de.def.
const CommandTable& session_commands();
const CommandTable& selection_commands();
const CommandTable& list_commands();
const CommandTable& window_commands();
const CommandTable& keeping_commands();
const CommandTable& rule_commands();

/// @name Arguments; nothing, or `otherwise`, if there is none of that type
///@{
std::optional<std::int64_t> integer(const Json& arguments, const char* name);
std::optional<double> number(const Json& arguments, const char* name);
std::string text(const Json& arguments, const char* name, const std::string& otherwise = {});
bool flag(const Json& arguments, const char* name, bool otherwise);
std::optional<Pane> pane_of(const Json& arguments);
/// The one of these words that is the value of any argument.
std::string choice(const Json& arguments, std::initializer_list<const char*> words);
///@}

/// All entries, in the order of palette and help.
struct CommandInfo {
  std::string_view command;
  const CommandEntry* entry;
};
const std::vector<CommandInfo>& command_list();
/// The keys of a command's first entry; "" if it has none.
const char* keys_of(std::string_view command);

inline Result fail(const std::string& message) { return {false, message}; }

}  // namespace nanlens::viewer
