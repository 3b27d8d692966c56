/// @file
/// A place with named files: a directory, a set of files in memory, an archive, what was dropped on a page.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nanlens/reader/byte_source.hpp>
#include <nanlens/reader/fault.hpp>

namespace nanlens::reader {

/// Asked now and then while files are read, with the bytes done and the bytes there are; false stops reading, which the
/// next update takes up where it stopped.
using Progress = std::function<bool(std::uint64_t done, std::uint64_t total)>;

/// Names are relative, with '/' between directories.
class Storage {
 public:
  Storage() = default;
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;
  virtual ~Storage() = default;
  /// Does what takes time before files can be listed. False: it was stopped by `progress`, and is to be called again.
  virtual bool prepare(const Progress& progress) {
    (void)progress;
    return true;
  }
  /// Names of all files there are now whose name begins with `prefix` (directories do not count for that),
  /// sub-directories included, sorted.
  virtual std::vector<std::string> list(std::string_view prefix = {}) = 0;
  /// What `prepare` and `list` could not do; empty if there is nothing.
  [[nodiscard]] virtual Fault fault() const { return {}; }
  /// True if a process that writes this file holds a lock on it; nothing where that can't be told.
  virtual std::optional<bool> in_use(const std::string& name) {
    (void)name;
    return std::nullopt;
  }
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
  std::vector<std::string> list(std::string_view prefix = {}) override {
    std::vector<std::string> names;
    for (const auto& [name, bytes] : files_)
      if (std::string_view(name).substr(name.rfind('/') + 1).starts_with(prefix)) names.push_back(name);
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

}  // namespace nanlens::reader
