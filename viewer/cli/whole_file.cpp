#include "whole_file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "open.hpp"

namespace nanlens::cli {

WholeFile::WholeFile(std::string path)
    : path_(std::move(path)), unfinished_(path_ + ".part"), file_(unfinished_, std::ios::binary | std::ios::trunc) {
  if (!file_) throw Failure("can't write '" + unfinished_ + "': " + std::strerror(errno));
}

WholeFile::~WholeFile() {
  if (finished_) return;
  file_.close();
  std::remove(unfinished_.c_str());
}

bool WholeFile::write(std::string_view bytes) {
  return static_cast<bool>(file_.write(bytes.data(), static_cast<std::streamsize>(bytes.size())));
}

void WholeFile::finish() {
  file_.close();
  if (!file_ || std::rename(unfinished_.c_str(), path_.c_str()) != 0)
    throw Failure("can't write '" + path_ + "': " + std::strerror(errno));
  finished_ = true;
}

}  // namespace nanlens::cli
