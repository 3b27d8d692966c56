// Every command by its name. Clicks, keys, menus, scripts and links all come through here.
#include "app/commands.hpp"

#include <array>
#include <cmath>
#include <map>

namespace nanlens::viewer {

std::optional<std::int64_t> integer(const Json& a, const char* name) {
  const auto value = number(a, name);
  if (!value || !(std::fabs(*value) < 9e15)) return std::nullopt;
  return static_cast<std::int64_t>(*value);
}

std::optional<double> number(const Json& a, const char* name) {
  if (!a.contains(name) || !a[name].is_number()) return std::nullopt;
  return a[name].get<double>();
}

std::string text(const Json& a, const char* name, const std::string& otherwise) {
  return a.contains(name) && a[name].is_string() ? a[name].get<std::string>() : otherwise;
}

bool flag(const Json& a, const char* name, bool otherwise) {
  return a.contains(name) && a[name].is_boolean() ? a[name].get<bool>() : otherwise;
}

std::optional<Pane> pane_of(const Json& a) {
  const std::string name = text(a, "pane");
  for (std::size_t i = 0; i < num_panes; ++i)
    if (name == pane_ids[i]) return static_cast<Pane>(i);
  return std::nullopt;
}

std::string choice(const Json& a, std::initializer_list<const char*> words) {
  for (const auto& [name, value] : a.items())
    for (const char* const word : words)
      if (value.is_string() && value.get<std::string>() == word) return word;
  return {};
}

namespace {

std::array<const CommandTable*, 6> all_tables() {
  return {&selection_commands(), &list_commands(),    &window_commands(),
          &session_commands(),   &keeping_commands(), &rule_commands()};
}

}  // namespace

const std::vector<CommandInfo>& command_list() {
  static const std::vector<CommandInfo> list = [] {
    std::vector<CommandInfo> all;
    for (const CommandTable* table : all_tables())
      for (const CommandRow& row : *table)
        for (const CommandEntry& entry : row.entries) all.push_back({row.name, &entry});
    return all;
  }();
  return list;
}

const char* keys_of(std::string_view command) {
  for (const CommandInfo& info : command_list())
    if (info.command == command) return info.entry->keys.c_str();
  return "";
}

Result App::command(std::string_view name, const Json& arguments) {
  static const std::map<std::string_view, CommandBody> bodies = [] {
    std::map<std::string_view, CommandBody> all;
    for (const CommandTable* table : all_tables())
      for (const CommandRow& row : *table) all.emplace(row.name, row.body);
    return all;
  }();
  const auto found = bodies.find(name);
  if (found == bodies.end()) return fail("There is no command \"" + std::string(name) + "\".");
  if (!arguments.is_object() && !arguments.is_null()) return fail("The arguments must be an object.");
  wake();
  return found->second(*this, arguments.is_null() ? Json::object() : arguments);
}

}  // namespace nanlens::viewer
