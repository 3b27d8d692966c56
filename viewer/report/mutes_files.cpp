#include "report/mutes_files.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <system_error>

#include <nanlens/logdir/file_set.hpp>

namespace nanlens::report {

namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t most_bytes = std::uintmax_t{16} << 20;

// Named from the working directory on, as a person there would.
std::string shown_path(const fs::path& path) {
  std::error_code none;
  const fs::path relative = fs::proximate(path, none);
  return none || relative.empty() || *relative.begin() == ".." ? path.string() : relative.string();
}

std::runtime_error too_large(const std::string& name) {
  return std::runtime_error("'" + name + "' is larger than 16 MB: it is no file of mutes");
}

// The nearest one, from the working directory up to the root of its repository; empty if there is none.
fs::path file_of_project() {
  std::error_code none;
  for (fs::path directory = fs::current_path(none); !directory.empty(); directory = directory.parent_path()) {
    if (fs::is_regular_file(directory / mutes_name, none)) return directory / mutes_name;
    if (fs::exists(directory / ".git", none) || directory == directory.parent_path()) break;
  }
  return {};
}

// Of a file of a logdir its directory.
fs::path directory_of(const std::string& path) {
  const bool one_file = fs::path(path).filename().string().starts_with(logdir::file_prefix);
  return one_file ? fs::path(path).parent_path() : fs::path(path);
}

// In the outermost directory, and there the first by name.
std::string outermost(const std::vector<std::string>& names) {
  std::string found;
  const auto depth = [](const std::string& name) { return std::count(name.begin(), name.end(), '/'); };
  for (const std::string& name : names)
    if (name.substr(name.rfind('/') + 1) == mutes_name && (found.empty() || depth(name) < depth(found))) found = name;
  return found;
}

bool is_or_may_become_file_of_mutes(const fs::path& file) {
  std::error_code error;
  const fs::file_status itself = fs::symlink_status(file, error);
  if (itself.type() == fs::file_type::not_found) return true;
  const fs::path target = fs::canonical(file, error);
  return !error && target.filename() == file.filename() && fs::is_regular_file(target, error);
}

}  // namespace

// Among all names: a storage of growing logdirs takes what is not listed for gone.
std::string mutes_in(reader::Storage& storage) { return outermost(storage.list()); }

std::string read_mutes_in(reader::Storage& storage, const std::string& directory, Mutes& mutes) {
  const std::string name = mutes_in(storage);
  if (name.empty()) return name;
  std::string why;
  const auto file = storage.open(name, why);
  if (file == nullptr) throw std::runtime_error("can't read the mutes in '" + name + "': " + why);
  if (file->size() > most_bytes) throw too_large(name);
  std::string text(static_cast<std::size_t>(file->size()), '\0');
  text.resize(file->read(0, reinterpret_cast<unsigned char*>(text.data()), text.size()));
  mutes.read(directory.empty() ? name : shown_path(fs::path(directory) / name), text, today());
  return name;
}

void read_mutes_file(const std::string& path, Mutes& mutes) {
  std::error_code error;
  if (fs::file_size(path, error) > most_bytes && !error) throw too_large(path);
  std::ifstream file(path, std::ios::binary);
  if (!file || error) throw std::runtime_error("can't read the mutes in '" + path + "': " + std::strerror(errno));
  mutes.read(shown_path(path), std::string(std::istreambuf_iterator<char>(file), {}), today());
}

void find_mutes_of(reader::Storage& storage, const std::string& path, Mutes& mutes) {
  const fs::path directory = directory_of(path);
  const std::string name = read_mutes_in(storage, directory.empty() ? "." : directory.string(), mutes);
  const fs::path of_project = file_of_project();
  std::error_code none;
  const bool same = !name.empty() && fs::equivalent(directory / name, of_project, none);
  if (!of_project.empty() && !same) read_mutes_file(of_project.string(), mutes);
}

std::string mutes_file_for(const std::string& path) {
  std::error_code none;
  fs::path directory = directory_of(path);
  if (directory.empty()) directory = ".";
  return fs::is_directory(directory, none) ? (directory / mutes_name).string() : std::string();
}

bool append_mute(const std::string& file, const std::string& line) {
  if (line.find_first_of("\r\n") != std::string::npos || !is_or_may_become_file_of_mutes(file)) return false;
  std::fstream out(file, std::ios::binary | std::ios::in | std::ios::out | std::ios::app);
  if (!out) return false;
  // A last line without an end must not swallow this one.
  out.seekg(0, std::ios::end);
  if (out.tellg() > 0) {
    out.seekg(-1, std::ios::end);
    if (out.get() != '\n') out << '\n';
  }
  out << line << '\n';
  return static_cast<bool>(out.flush());
}

}  // namespace nanlens::report
