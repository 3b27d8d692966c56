#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include <nanlens/reader/live_storage.hpp>

#include "commands.hpp"
#include "open.hpp"

namespace nanlens::cli {

namespace {

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

// Begins with cutting off what was cut short, and what the program had reserved behind it: done again after it was
// interrupted itself, it does the same.
void complete(const std::string& path, const reader::LiveSet& set, logdir::FileKind kind) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) throw Failure("can't open '" + path + "' to write to it: " + std::strerror(errno));
  const off_t size = ::lseek(fd, 0, SEEK_END);
  const off_t whole = std::min(size, static_cast<off_t>(set.bytes_of(kind)));
  bool done = size >= 0 && ::ftruncate(fd, whole) == 0 && ::lseek(fd, whole, SEEK_SET) == whole;
  done = done && write_all(fd, set.tail_of(kind)) && ::fsync(fd) == 0;
  const int error = errno;
  ::close(fd);
  if (!done)
    throw Failure("can't write '" + path + "': " + std::strerror(error) +
                  "; nothing is lost: run it again once that is mended");
}

}  // namespace

int recover(const std::string& path) {
  if (!std::filesystem::is_directory(path)) throw Failure("'" + path + "' is no directory: recover works on a logdir");
  reader::LiveStorage storage(std::make_unique<reader::DirectoryStorage>(path));
  std::size_t sets = 0;
  for (const std::string& name : storage.list(logdir::file_prefix)) {
    if (!name.ends_with(reader::live::suffix)) continue;
    const std::string stem = name.substr(0, name.size() - reader::live::suffix.size());
    if (storage.in_use(name).value_or(false))
      throw Failure("'" + name + "' belongs to a program that is still running; recover it when it has ended");
    const reader::LiveSet* const set = storage.find(stem);
    if (set == nullptr || !set->died()) throw Failure("'" + name + "' can't be read: it is left as it is");
    for (std::size_t i = 1; i < logdir::num_file_kinds; ++i) {
      const auto kind = static_cast<logdir::FileKind>(i);
      complete(path + "/" + logdir::file_name(stem, kind), *set, kind);
    }
    if (::unlink((path + "/" + name).c_str()) != 0)
      throw Failure("can't remove '" + name + "': " + std::strerror(errno));
    std::printf("%s: %llu events and definitions moved into its files\n", stem.c_str(),
                static_cast<unsigned long long>(set->num_left()));
    ++sets;
  }
  if (sets == 0) std::printf("nothing to recover: every recording in '%s' is in its files\n", path.c_str());
  return 0;
}

}  // namespace nanlens::cli
