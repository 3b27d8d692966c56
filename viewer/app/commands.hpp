/// @file
/// The commands' bodies, by group, and reading their arguments.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/app.hpp"

namespace nanlens::viewer {

using CommandBody = Result (*)(App&, const Json&);
using CommandTable = std::vector<std::pair<std::string_view, CommandBody>>;

/// Commands by name; every name is in exactly one table.
const CommandTable& session_commands();
const CommandTable& selection_commands();
const CommandTable& list_commands();
const CommandTable& window_commands();

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

inline Result fail(std::string message) { return {false, std::move(message)}; }

}  // namespace nanlens::viewer
