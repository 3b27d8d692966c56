/// @file
/// A place with named files: a directory, a set of files in memory, an archive, what was dropped on a page.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <dirent.h>

#include <nanlens/reader/byte_source.hpp>

namespace nanlens::reader {

/// Names are relative, with '/' between directories.
class Storage {
 public:
  Storage() = default;
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;
  virtual ~Storage() = default;
  /// Names of all files there are now, sub-directories included, sorted.
  virtual std::vector<std::string> list() = 0;
  /// Opens a file; null if it can't be opened, and then `why` says why.
  virtual std::unique_ptr<ByteSource> open(const std::string& name, std::string& why) = 0;
};

/// Files in memory: for tests, and for small archives that are unpacked whole.
class MemoryStorage final : public Storage {
 public:
  void put(const std::string& name, std::string bytes) {
    files_[name] = std::make_shared<std::string>(std::move(bytes));
  }
  /// Adds bytes to a file in place: sources that are open see them, as with a file that another process writes.
  void append(const std::string& name, const std::string& bytes) {
    auto& file = files_[name];
    if (file == nullptr) file = std::make_shared<std::string>();
    file->append(bytes);
  }
  std::vector<std::string> list() override {
    std::vector<std::string> names;
    for (const auto& [name, bytes] : files_) names.push_back(name);
    return names;
  }
  std::unique_ptr<ByteSource> open(const std::string& name, std::string& why) override {
    const auto found = files_.find(name);
    if (found != files_.end()) return std::make_unique<MemorySource>(found->second);
    why = "there is no such file";
    return nullptr;
  }

 private:
  std::map<std::string, std::shared_ptr<std::string>> files_;
};

/// A directory on disk. Sub-directories are followed four levels deep; links to directories are not.
class DirectoryStorage final : public Storage {
 public:
  explicit DirectoryStorage(std::string path) : path_(std::move(path)) {
    while (path_.size() > 1 && path_.back() == '/') path_.pop_back();
  }
  std::vector<std::string> list() override {
    std::vector<std::string> names;
    constexpr int levels = 4;
    collect("", levels, names);
    std::sort(names.begin(), names.end());
    return names;
  }
  std::unique_ptr<ByteSource> open(const std::string& name, std::string& why) override {
    auto file = std::make_unique<FileSource>(path_ + "/" + name);
    why = file->error();
    if (!why.empty()) return nullptr;
    return file;
  }

 private:
  void collect(const std::string& below, int levels, std::vector<std::string>& names) {
    DIR* const dir = ::opendir((path_ + "/" + below).c_str());
    if (dir == nullptr) return;
    while (const dirent* const entry = ::readdir(dir)) {
      const std::string name = entry->d_name;
      if (name == "." || name == "..") continue;
      unsigned char type = entry->d_type;
      if (type == DT_UNKNOWN || type == DT_LNK) type = type_of(below + name, type == DT_LNK);
      if (type == DT_REG) names.push_back(below + name);
      if (type == DT_DIR && levels > 0) collect(below + name + "/", levels - 1, names);
    }
    ::closedir(dir);
  }
  [[nodiscard]] unsigned char type_of(const std::string& name, bool is_link) const {
    struct stat info{};
    if (::stat((path_ + "/" + name).c_str(), &info) != 0) return DT_UNKNOWN;
    if (S_ISREG(info.st_mode)) return DT_REG;
    return S_ISDIR(info.st_mode) && !is_link ? DT_DIR : DT_UNKNOWN;
  }

  std::string path_;
};

}  // namespace nanlens::reader
