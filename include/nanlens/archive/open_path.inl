// Part of archive.hpp: what a user names, on disk or on a page.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <sys/stat.h>

#include <nanlens/logdir/file_set.hpp>
#include <nanlens/reader/directory_storage.hpp>

namespace nanlens::archive {

NANLENS_API bool is_archive_name(std::string_view name) {
  std::string end(name.substr(name.size() - std::min<std::size_t>(name.size(), 8)));
  for (char& c : end)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return end.ends_with(".nanlens") || end.ends_with(".tar") || end.ends_with(".zst");
}

NANLENS_API std::unique_ptr<reader::Storage> open_path(const std::string& path, std::string& why) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) {
    why = "can't open '" + path + "': " + std::strerror(errno);
    return nullptr;
  }
  if (S_ISDIR(info.st_mode)) return std::make_unique<reader::DirectoryStorage>(path);
  const std::size_t slash = path.rfind('/');
  if (path.substr(slash + 1).starts_with(logdir::file_prefix))
    return std::make_unique<reader::DirectoryStorage>(slash == std::string::npos ? "." : path.substr(0, slash + 1));
  std::string reason;
  auto storage = open(std::make_unique<reader::FileSource>(path), reason);
  if (storage == nullptr) why = "'" + path + "' is neither a logdir nor an archive of one: " + reason;
  return storage;
}

namespace detail {

// Files that another storage holds.
class SharedStorage final : public reader::Storage {
 public:
  explicit SharedStorage(std::shared_ptr<reader::Storage> files) : files_(std::move(files)) {}
  std::vector<std::string> list(std::string_view prefix = {}) override { return files_->list(prefix); }
  std::unique_ptr<reader::ByteSource> open(const std::string& name, std::string& why) override {
    return files_->open(name, why);
  }
  [[nodiscard]] reader::Fault fault() const override { return files_->fault(); }
  std::optional<bool> in_use(const std::string& name) override { return files_->in_use(name); }

 private:
  std::shared_ptr<reader::Storage> files_;
};

// Several archives, each as a directory of its name.
class ArchivesStorage final : public reader::Storage {
 public:
  void add(std::string name, std::unique_ptr<reader::Storage> archive) {
    archives_.emplace_back(std::move(name), std::move(archive));
  }
  bool prepare(const reader::Progress& progress) override {
    for (auto& [name, archive] : archives_)
      if (!archive->prepare(progress)) return false;
    return true;
  }
  std::vector<std::string> list(std::string_view prefix = {}) override {
    std::vector<std::string> names;
    for (auto& [name, archive] : archives_)
      for (const std::string& file : archive->list(prefix)) names.push_back(name + "/" + file);
    std::sort(names.begin(), names.end());
    return names;
  }
  std::unique_ptr<reader::ByteSource> open(const std::string& path, std::string& why) override {
    for (auto& [name, archive] : archives_)
      if (path.size() > name.size() && path.starts_with(name) && path[name.size()] == '/')
        return archive->open(path.substr(name.size() + 1), why);
    why = "there is no such file";
    return nullptr;
  }
  [[nodiscard]] reader::Fault fault() const override {
    for (const auto& [name, archive] : archives_) {
      if (archive->fault().empty()) continue;
      reader::Fault fault = reader::fault_because(reader::FaultId::of_archive, archive->fault());
      fault.told = name;
      return fault;
    }
    return {};
  }

 private:
  std::vector<std::pair<std::string, std::unique_ptr<reader::Storage>>> archives_;
};

}  // namespace detail

NANLENS_API std::unique_ptr<reader::Storage> open_files(std::shared_ptr<reader::Storage> files, std::string& why) {
  if (!files->list(logdir::file_prefix).empty()) return std::make_unique<detail::SharedStorage>(std::move(files));
  std::vector<std::pair<std::string, std::unique_ptr<reader::Storage>>> found;
  const std::vector<std::string> names = files->list();
  for (const std::string& name : names) {
    if (!is_archive_name(name)) continue;
    std::string reason;
    auto source = files->open(name, reason);
    auto archive = source == nullptr ? nullptr : open(std::move(source), reason);
    if (archive != nullptr)
      found.emplace_back(name, std::move(archive));
    else
      why += (why.empty() ? "" : "\n") + name + " is no archive of a logdir: " + reason + ".";
  }
  if (found.size() == 1) return std::move(found.front().second);
  if (found.empty()) {
    std::string some;
    for (std::size_t i = 0; i < names.size() && i < 5; ++i) some += (i == 0 ? "" : ", ") + names[i];
    if (why.empty())
      why = "No tfdbg2 files here. A logdir holds tfdbg_events.*.metadata and five companions. Found: " + some + ".";
    return nullptr;
  }
  auto all = std::make_unique<detail::ArchivesStorage>();
  for (auto& [name, archive] : found) all->add(name, std::move(archive));
  return all;
}

}  // namespace nanlens::archive
