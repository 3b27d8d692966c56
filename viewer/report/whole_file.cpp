#include "whole_file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/failure.hpp"

namespace nanlens::report {

namespace {

namespace fs = std::filesystem;

std::string behind_links(std::string path) {
  std::error_code none;
  const fs::path real = fs::is_symlink(path, none) ? fs::canonical(path, none) : fs::path();
  return real.empty() ? std::move(path) : real.string();
}

// As the file that it takes the place of has them.
void keep_permissions(const std::string& path, int file) {
  struct stat info{};
  if (::stat(path.c_str(), &info) == 0) (void)::fchmod(file, info.st_mode & 0777);
}

// Empty, and made by this call: PATH.part, or where something has that name PATH.2.part, PATH.3.part …
std::string new_file_beside(const std::string& path) {
  constexpr int most = 100;
  for (int n = 1;; ++n) {
    std::string name = path + (n == 1 ? "" : "." + std::to_string(n)) + ".part";
    const int file = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file >= 0) {
      keep_permissions(path, file);
      ::close(file);
      return name;
    }
    if (errno != EEXIST || n == most) throw Failure("can't write '" + path + "': " + std::strerror(errno));
  }
}

}  // namespace

WholeFile::WholeFile(std::string path) : path_(behind_links(std::move(path))) {
  std::error_code none;
  const fs::file_status status = fs::status(path_, none);
  const bool in_place = fs::exists(status) && !fs::is_regular_file(status);
  unfinished_ = in_place ? path_ : new_file_beside(path_);
  file_.open(unfinished_, std::ios::binary | std::ios::trunc);
  if (!file_) throw Failure("can't write '" + path_ + "': " + std::strerror(errno));
}

WholeFile::~WholeFile() {
  if (finished_ || unfinished_ == path_) return;
  file_.close();
  std::remove(unfinished_.c_str());
}

bool WholeFile::write(std::string_view bytes) {
  return static_cast<bool>(file_.write(bytes.data(), static_cast<std::streamsize>(bytes.size())));
}

void WholeFile::finish() {
  file_.close();
  if (!file_ || (unfinished_ != path_ && std::rename(unfinished_.c_str(), path_.c_str()) != 0))
    throw Failure("can't write '" + path_ + "': " + std::strerror(errno));
  finished_ = true;
}

}  // namespace nanlens::report
