#include "report/rules_files.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <system_error>

#include "report/failure.hpp"
#include "report/found_files.hpp"
#include "report/whole_file.hpp"

namespace nanlens::report {

namespace {

namespace fs = std::filesystem;

std::runtime_error no_rules(const std::string& name) {
  return std::runtime_error("'" + name + "' is larger than 1 MB: it is no file of rules");
}

std::string text_of_rules(const std::string& path) {
  std::string text(most_rules_bytes + 1, '\0');  // no more is read of what has no end
  std::ifstream file(path, std::ios::binary);
  const bool is_open = file.is_open();
  if (is_open) file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (!is_open || file.bad())
    throw std::runtime_error("can't read the rules in '" + path + "': " + std::strerror(errno));
  if (text.size() > most_rules_bytes) throw no_rules(path);
  return text;
}

// Nothing, where it is not there.
bool holds_text(const std::string& path, const std::string& text) {
  std::error_code error;
  if (!fs::exists(path, error)) return text.empty() && !error;
  try {
    return text_of_rules(path) == text;
  } catch (const std::runtime_error&) {
    return false;
  }
}

}  // namespace

std::string rules_in(reader::Storage& storage) { return outermost(storage, rules_name); }

std::vector<RulesFile> read_rules_in(reader::Storage& storage) {
  const std::string name = rules_in(storage);
  if (name.empty()) return {};
  auto text = text_in(storage, name, most_rules_bytes);
  if (!text) throw no_rules(name);
  return {{name, {}, std::move(*text)}};
}

std::vector<RulesFile> find_rules_of(reader::Storage& storage, const std::string& path) {
  std::vector<RulesFile> files = read_rules_in(storage);
  fs::path directory = directory_of(path);
  if (directory.empty()) directory = ".";
  const fs::path of_project = file_of_project(rules_name);
  std::error_code none;
  if (!files.empty()) {
    const fs::path file = directory / files.front().name;
    if (fs::is_regular_file(file, none)) files.front().path = file.string();
    files.front().name = shown_path(file);
    if (fs::equivalent(file, of_project, none)) return files;
  }
  if (!of_project.empty())
    files.push_back({shown_path(of_project), of_project.string(), text_of_rules(of_project.string())});
  return files;
}

std::string rules_file_for(const std::string& path) {
  std::error_code none;
  fs::path directory = directory_of(path);
  if (directory.empty()) directory = ".";
  return fs::is_directory(directory, none) ? (directory / rules_name).string() : std::string();
}

bool replace_rules(const std::string& file, const std::string& before, const std::string& text) {
  if (!may_be_written(file) || !holds_text(file, before)) return false;
  try {
    WholeFile whole(file);  // who reads it meanwhile never sees half of it
    whole.write(text);
    whole.finish();
  } catch (const Failure&) {
    return false;
  }
  return true;
}

}  // namespace nanlens::report
