#include "rules_files.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include <nanlens/query/nearest_rules.hpp>
#include <nanlens/query/standard_rules.hpp>
#include <nanlens/reader/byte_source.hpp>

#include "open.hpp"
#include "regex/regex.hpp"
#include "report/rules_files.hpp"
#include "texts/texts.hpp"

namespace nanlens::cli {

namespace {

[[noreturn]] void throw_wrong(const std::string& where, const std::string& text, const query::Error& error) {
  throw Failure(where + ": " + query::words(error) + "\n" + query::marked(text, error));
}

// What is no regular file is neither read nor waited for.
std::string text_of_file(const std::string& path) {
  if (path == "standard") return std::string(query::standard_rules);
  std::error_code none;
  if (std::filesystem::is_directory(path, none)) throw Failure("'" + path + "' is a directory, not a file of rules");
  reader::FileSource file(path);
  if (!file.error().empty()) throw Failure("can't read the rules in '" + path + "': " + file.error());
  std::string text(report::most_rules_bytes + 1, '\0');  // it may grow
  text.resize(file.read(0, reinterpret_cast<unsigned char*>(text.data()), text.size()));
  if (!file.error().empty()) throw Failure("can't read the rules in '" + path + "': " + file.error());
  if (text.size() > report::most_rules_bytes)
    throw Failure("'" + path + "' is larger than 1 MB: it is no file of rules");
  return text;
}

/// Rules of files and of the command line, each name once.
class GatheredRules {
 public:
  explicit GatheredRules(bool for_program) : for_program_(for_program) {}

  void add_file(const std::string& text, const query::RulePlace& place) {
    std::vector<query::Rule> read;
    if (const auto fault =
            for_program_ ? query::parse_program_rules(text, read) : query::parse_rules(text, read, regex::compiler()))
      throw_wrong(place.name + ":" + std::to_string(fault->line), fault->text, fault->error);
    for (query::Rule& rule : read) add(std::move(rule), place, {});
  }
  void add_rule(const std::string& text) {
    const query::RulePlace place{"--rule", nearest};
    if (for_program_) {
      std::vector<query::Rule> read;
      if (const auto fault = query::parse_program_rules(text, read)) throw_wrong(place.name, fault->text, fault->error);
      for (query::Rule& rule : read) add(std::move(rule), place, text);
      return;
    }
    query::Error error;
    auto rule = query::parse_rule(text, error, regex::compiler());
    if (!rule) throw_wrong(place.name, text, error);
    add(std::move(*rule), place, text);
  }
  [[nodiscard]] std::size_t num_of(const query::RulePlace& place) const { return rules_.num_of(place); }
  [[nodiscard]] std::vector<std::string>& hidden() noexcept { return hidden_; }
  [[nodiscard]] std::vector<query::Rule> take() { return std::move(rules_).take(); }

 private:
  static constexpr int nearest = 1 << 30;

  void add(query::Rule rule, const query::RulePlace& place, const std::string& text) {
    const std::string name = rule.name;
    const auto problem = rules_.add(std::move(rule), place, [&](const auto& far, const auto& near) {
      hidden_.push_back(
          viewer::tr(viewer::Text::rules_hidden, {{"rule", name}, {"far", far.name}, {"near", near.name}}));
    });
    const std::string& shown = text.empty() ? name : text;
    if (problem) throw_wrong(place.name, shown, {0, std::min(shown.find(':'), shown.size()), *problem, name});
  }

  bool for_program_;
  query::NearestRules rules_;
  std::vector<std::string> hidden_;
};

// Where a file that is named stands among those on a command line.
query::RulePlace place_of(const std::string& path, std::size_t number) {
  constexpr std::size_t found = 2;  // those of the project and of the logdir are farther
  return {path, static_cast<int>(found + number)};
}

}  // namespace

CheckRules read_rules(const std::vector<std::string>& rules, const std::vector<std::string>& files,
                      const reader::Logdir* logdir, const std::string& path) {
  GatheredRules all(false);
  for (std::size_t i = 0; i < files.size(); ++i) all.add_file(text_of_file(files[i]), place_of(files[i], i));
  for (const std::string& text : rules) all.add_rule(text);
  CheckRules read;
  if (files.empty() && logdir != nullptr) {
    int nearness = 1;
    for (const report::RulesFile& file : report::find_rules_of(logdir->storage(), path)) {
      const query::RulePlace place{file.name, nearness--};
      all.add_file(file.text, place);
      read.found.push_back({file.name, all.num_of(place)});
    }
  }
  read.hidden = std::move(all.hidden());
  read.rules = all.take();
  return read;
}

std::string program_rules(const std::vector<std::string>& rules, const std::vector<std::string>& files) {
  GatheredRules all(true);  // the program says which are left out
  std::string text;         // items end with a line: then semicolons separate none
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::string& path = files[i];
    all.add_file(text_of_file(path), place_of(path, i));
    text += (path == "standard" ? path : "@" + std::filesystem::absolute(path).string()) + "\n";
  }
  for (const std::string& rule : rules) {
    all.add_rule(rule);
    text += rule + "\n";
  }
  return text;
}

}  // namespace nanlens::cli
