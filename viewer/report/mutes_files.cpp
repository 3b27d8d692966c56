#include "report/mutes_files.hpp"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>

#include "report/found_files.hpp"

namespace nanlens::report {

namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t most_bytes = std::uintmax_t{16} << 20;

std::runtime_error too_large(const std::string& name) {
  return std::runtime_error("'" + name + "' is larger than 16 MB: it is no file of mutes");
}

}  // namespace

std::string mutes_in(reader::Storage& storage) { return outermost(storage, mutes_name); }

std::string read_mutes_in(reader::Storage& storage, const std::string& directory, Mutes& mutes) {
  const std::string name = mutes_in(storage);
  if (name.empty()) return name;
  const auto text = text_in(storage, name, most_bytes);
  if (!text) throw too_large(name);
  mutes.read(directory.empty() ? name : shown_path(fs::path(directory) / name), *text, today());
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
  const fs::path of_project = file_of_project(mutes_name);
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
  if (line.find_first_of("\r\n") != std::string::npos || !may_be_written(file)) return false;
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
