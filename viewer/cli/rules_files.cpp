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
#include "report/rules_files.hpp"

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

void add_rules_of(const std::string& name, const std::string& text, std::vector<query::Rule>& all) {
  if (const auto fault = query::parse_rules(text, all, regex::compiler()))
    throw_wrong(name + ":" + std::to_string(fault->line), fault->text, fault->error);
}

}  // namespace

std::vector<query::Rule> read_rules(const std::vector<std::string>& rules, const std::vector<std::string>& files) {
  std::vector<query::Rule> all;
  for (const std::string& path : files) add_rules_of(path, text_of_file(path), all);
  for (const std::string& text : rules) {
    query::Error error;
    auto rule = query::parse_rule(text, error, regex::compiler());
    if (!rule || !query::add_rule(all, std::move(*rule), text, error)) throw_wrong("--rule", text, error);
  }
  return all;
}

std::vector<findings::RuleFile> add_found_rules(const reader::Logdir& logdir, const std::string& path,
                                                std::vector<query::Rule>& rules) {
  std::vector<findings::RuleFile> files;
  for (const report::RulesFile& file : report::find_rules_of(logdir.storage(), path)) {
    const std::size_t before = rules.size();
    add_rules_of(file.name, file.text, rules);
    files.push_back({file.name, rules.size() - before});
  }
  return files;
}

std::string program_rules(const std::vector<std::string>& rules, const std::vector<std::string>& files) {
  std::vector<query::Rule> all;
  std::string text;  // items end with a line: then semicolons separate none
  for (const std::string& path : files) {
    if (const auto fault = query::parse_program_rules(text_of_file(path), all))
      throw_wrong(path + ":" + std::to_string(fault->line), fault->text, fault->error);
    text += (path == "standard" ? path : "@" + std::filesystem::absolute(path).string()) + "\n";
  }
  for (const std::string& rule : rules) {
    if (const auto fault = query::parse_program_rules(rule, all)) throw_wrong("--rule", fault->text, fault->error);
    text += rule + "\n";
  }
  return text;
}

}  // namespace nanlens::cli
