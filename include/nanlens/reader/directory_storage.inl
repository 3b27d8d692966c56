// Part of directory_storage.hpp.
#pragma once

#include <algorithm>
#include <utility>

#include <dirent.h>

namespace nanlens::reader {

NANLENS_API DirectoryStorage::DirectoryStorage(std::string path) : path_(std::move(path)) {
  while (path_.size() > 1 && path_.back() == '/') path_.pop_back();
}

NANLENS_API std::vector<std::string> DirectoryStorage::list(std::string_view prefix) {
  const std::uint64_t pause = visited_ <= limits::entries_looked_at_freely ? 0 : visited_ * limits::pause_ns_per_entry;
  if (prefix_ == prefix && pause != 0 && Clock::now() - looked_at_ < std::chrono::nanoseconds(pause)) return names_;
  prefix_ = prefix;
  names_.clear();
  visited_ = 0;
  std::string below;
  constexpr int levels = 4;
  collect(below, levels);
  std::sort(names_.begin(), names_.end());
  looked_at_ = Clock::now();
  ++looks_;
  return names_;
}

NANLENS_API std::unique_ptr<ByteSource> DirectoryStorage::open(const std::string& name, std::string& why) {
  auto file = std::make_unique<FileSource>(path_ + "/" + name);
  why = file->error();
  if (!why.empty()) return nullptr;
  return file;
}

NANLENS_API std::optional<bool> DirectoryStorage::in_use(const std::string& name) {
#if defined(F_OFD_GETLK)
  const int fd = ::open((path_ + "/" + name).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return std::nullopt;
  struct flock lock{};
  lock.l_type = F_RDLCK;
  lock.l_whence = SEEK_SET;
  const bool told = ::fcntl(fd, F_OFD_GETLK, &lock) == 0;
  ::close(fd);
  if (told) return lock.l_type != F_UNLCK;
#else
  (void)name;
#endif
  return std::nullopt;
}

NANLENS_API Fault DirectoryStorage::fault() const {
  if (visited_ < limits::directory_entries) return {};
  return {FaultId::many_entries, {{"n", limits::directory_entries}}};
}

NANLENS_API void DirectoryStorage::collect(std::string& below, int levels) {
  DIR* const dir = ::opendir((path_ + "/" + below).c_str());
  if (dir == nullptr) return;
  while (const dirent* const entry = visited_ < limits::directory_entries ? ::readdir(dir) : nullptr) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    ++visited_;
    const bool wanted = name.starts_with(prefix_);
    unsigned char type = entry->d_type;
    if (type == DT_UNKNOWN || (type == DT_LNK && wanted)) type = type_of(below + std::string(name), type == DT_LNK);
    if (type == DT_REG && wanted) names_.push_back(below + std::string(name));
    if (type != DT_DIR || levels == 0) continue;
    const std::size_t length = below.size();
    below.append(name).append("/");
    collect(below, levels - 1);
    below.resize(length);
  }
  ::closedir(dir);
}

NANLENS_API unsigned char DirectoryStorage::type_of(const std::string& name, bool is_link) const {
  struct stat info{};
  if (::stat((path_ + "/" + name).c_str(), &info) != 0) return DT_UNKNOWN;
  if (S_ISREG(info.st_mode)) return DT_REG;
  return S_ISDIR(info.st_mode) && !is_link ? DT_DIR : DT_UNKNOWN;
}

}  // namespace nanlens::reader
