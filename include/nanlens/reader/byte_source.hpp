/// @file
/// Where bytes come from: one interface for files, memory, archives and the browser's File objects.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nanlens/logdir/tfrecord.hpp>

namespace nanlens::reader {

using logdir::Bytes;

/// A file, or anything that gives byte ranges and may grow. Not thread-safe.
class ByteSource {
 public:
  ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  virtual ~ByteSource() = default;
  /// Bytes there are now.
  virtual std::uint64_t size() = 0;
  /// Copies up to `count` bytes from `offset` to `to`; returns how many there were: fewer at the end of the file or
  /// after an I/O error, which `error()` then tells.
  virtual std::size_t read(std::uint64_t offset, unsigned char* to, std::size_t count) = 0;
  /// What went wrong with the last read; empty if nothing did.
  virtual std::string error() { return {}; }
};

/// Bytes held in memory; `append` lets tests grow them.
class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::string bytes) : bytes_(std::make_shared<std::string>(std::move(bytes))) {}
  explicit MemorySource(std::shared_ptr<const std::string> bytes) : bytes_(std::move(bytes)) {}
  std::uint64_t size() override { return bytes_->size(); }
  std::size_t read(std::uint64_t offset, unsigned char* to, std::size_t count) override {
    if (offset >= bytes_->size() || count == 0) return 0;
    const std::size_t n = std::min<std::size_t>(count, bytes_->size() - static_cast<std::size_t>(offset));
    std::memcpy(to, bytes_->data() + offset, n);
    return n;
  }

 private:
  std::shared_ptr<const std::string> bytes_;
};

/// A file on disk, read with pread: never mapped, because a mapped file that shrinks kills the process. Only regular
/// files: a pipe with the name of a file would be waited for.
class FileSource final : public ByteSource {
 public:
  explicit FileSource(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    struct stat info{};
    if (fd_ < 0)
      error_ = std::strerror(errno);
    else if (::fstat(fd_, &info) != 0 || !S_ISREG(info.st_mode))
      error_ = "it is no regular file";
  }
  ~FileSource() override {
    if (fd_ >= 0) ::close(fd_);
  }
  std::uint64_t size() override {
    struct stat info{};
    if (fd_ < 0 || ::fstat(fd_, &info) != 0) return 0;
    return static_cast<std::uint64_t>(info.st_size);
  }
  std::size_t read(std::uint64_t offset, unsigned char* to, std::size_t count) override {
    std::size_t done = 0;
    while (fd_ >= 0 && done < count) {
      const ssize_t n = ::pread(fd_, to + done, count - done, static_cast<off_t>(offset + done));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) error_ = std::strerror(errno);
      if (n <= 0) break;
      done += static_cast<std::size_t>(n);
    }
    return done;
  }
  std::string error() override { return error_; }

 private:
  int fd_;
  std::string error_;
};

}  // namespace nanlens::reader
