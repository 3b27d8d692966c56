#include "report/found_files.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <system_error>

#include <nanlens/logdir/file_set.hpp>

namespace nanlens::report {

namespace fs = std::filesystem;

std::string shown_path(const fs::path& path) {
  std::error_code none;
  const fs::path relative = fs::proximate(path, none);
  return none || relative.empty() || *relative.begin() == ".." ? path.string() : relative.string();
}

fs::path directory_of(const std::string& path) {
  const bool one_file = fs::path(path).filename().string().starts_with(logdir::file_prefix);
  return one_file ? fs::path(path).parent_path() : fs::path(path);
}

// Among all names: a storage of growing logdirs takes what is not listed for gone.
std::string outermost(reader::Storage& storage, std::string_view name) {
  std::string found;
  const auto depth = [](const std::string& path) { return std::count(path.begin(), path.end(), '/'); };
  for (const std::string& path : storage.list())
    if (std::string_view(path).substr(path.rfind('/') + 1) == name && (found.empty() || depth(path) < depth(found)))
      found = path;
  return found;
}

fs::path file_of_project(std::string_view name) {
  std::error_code none;
  for (fs::path directory = fs::current_path(none); !directory.empty(); directory = directory.parent_path()) {
    if (fs::is_regular_file(directory / name, none)) return directory / name;
    if (fs::exists(directory / ".git", none) || directory == directory.parent_path()) break;
  }
  return {};
}

std::optional<std::string> text_in(reader::Storage& storage, const std::string& name, std::uint64_t most) {
  std::string why;
  const auto file = storage.open(name, why);
  if (file == nullptr) throw std::runtime_error("can't read '" + name + "': " + why);
  if (file->size() > most) return std::nullopt;
  std::string text(static_cast<std::size_t>(file->size()), '\0');
  text.resize(file->read(0, reinterpret_cast<unsigned char*>(text.data()), text.size()));
  return text;
}

bool may_be_written(const fs::path& file) {
  std::error_code error;
  const fs::file_status itself = fs::symlink_status(file, error);
  if (itself.type() == fs::file_type::not_found) return true;
  const fs::path target = fs::canonical(file, error);
  return !error && target.filename() == file.filename() && fs::is_regular_file(target, error);
}

}  // namespace nanlens::report
