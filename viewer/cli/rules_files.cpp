#include "rules_files.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <ios>
#include <system_error>
#include <utility>

#include <nanlens/query/standard_rules.hpp>

#include "open.hpp"
#include "regex/regex.hpp"

namespace nanlens::cli {

namespace {

[[noreturn]] void throw_wrong(const std::string& where, const std::string& text, const query::Error& error) {
  throw Failure(where + ": " + query::words(error) + "\n" + query::marked(text, error));
}

std::string text_of_file(const std::string& path) {
  if (path == "standard") return std::string(query::standard_rules);
  constexpr std::size_t most = std::size_t{1} << 20;
  std::error_code none;
  if (std::filesystem::is_directory(path, none)) throw Failure("'" + path + "' is a directory, not a file of rules");
  std::ifstream file(path, std::ios::binary);
  const bool is_open = file.is_open();
  std::string text(most + 1, '\0');  // no more is read of what has no end
  if (is_open) file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (!is_open || file.bad()) throw Failure("can't read the rules in '" + path + "': " + std::strerror(errno));
  if (text.size() > most) throw Failure("'" + path + "' is larger than 1 MB: it is no file of rules");
  return text;
}

}  // namespace

std::vector<query::Rule> read_rules(const std::vector<std::string>& rules, const std::vector<std::string>& files) {
  std::vector<query::Rule> all;
  for (const std::string& path : files)
    if (const auto fault = query::parse_rules(text_of_file(path), all, regex::compiler()))
      throw_wrong(path + ":" + std::to_string(fault->line), fault->text, fault->error);
  for (const std::string& text : rules) {
    query::Error error;
    auto rule = query::parse_rule(text, error, regex::compiler());
    if (!rule || !query::add_rule(all, std::move(*rule), text, error)) throw_wrong("--rule", text, error);
  }
  return all;
}

}  // namespace nanlens::cli
