// `nanlens off` and `nanlens on`: a word in the file that a recording program maps.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <thread>
#include <vector>

#include <nanlens/logdir/live_format.hpp>
#include <nanlens/reader/live_storage.hpp>

#include "commands.hpp"
#include "open.hpp"

namespace nanlens::cli {

namespace {

namespace live = logdir::live;

constexpr int nobody = 2;

// The file of a program that records.
class Switch {
 public:
  explicit Switch(const std::string& path) : fd_(::open(path.c_str(), O_RDWR | O_CLOEXEC)) {
    if (fd_ < 0) throw Failure("can't write to '" + path + "': " + std::strerror(errno));
  }
  Switch(const Switch&) = delete;
  Switch& operator=(const Switch&) = delete;
  ~Switch() { ::close(fd_); }

  [[nodiscard]] bool set(bool off) const {
    const std::uint32_t word = off ? 1 : 0;
    const auto at = static_cast<off_t>(live::region_content + offsetof(live::LiveHeader, switched_off));
    return ::pwrite(fd_, &word, sizeof word, at) == sizeof word;
  }
  [[nodiscard]] bool is_obeyed(bool off) const {
    std::uint32_t word = 2;
    const auto at = static_cast<off_t>(live::region_content + offsetof(live::LiveHeader, obeyed));
    return ::pread(fd_, &word, sizeof word, at) == sizeof word && word == (off ? 1U : 0U);
  }

 private:
  int fd_;
};

// The recording's writer looks 20 times a second.
bool wait_until_obeyed(const Switch& file, bool off) {
  constexpr int most_looks = 200;
  for (int i = 0; i < most_looks && !file.is_obeyed(off); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  return file.is_obeyed(off);
}

}  // namespace

int turn(const std::string& path, bool on) {
  if (!std::filesystem::is_directory(path)) throw Failure("'" + path + "' is no directory: a program records into one");
  reader::DirectoryStorage storage(path);
  std::size_t running = 0;
  std::size_t obeyed = 0;
  for (const std::string& name : storage.list(logdir::file_prefix)) {
    if (!name.ends_with(live::suffix) || !storage.in_use(name).value_or(true)) continue;
    ++running;
    const Switch file(path + "/" + name);
    if (file.set(!on) && wait_until_obeyed(file, !on)) {
      ++obeyed;
      continue;
    }
    std::fprintf(stderr, "nanlens: the program of '%s' does not answer: it records with an older nanlens, or hangs\n",
                 name.c_str());
  }
  if (running == 0) throw Failure("no program records into '" + path + "' right now");
  std::printf("%s: %zu of %zu %s %s\n", path.c_str(), obeyed, running, running == 1 ? "program" : "programs",
              on ? "recording" : "resting");
  return obeyed == running ? 0 : nobody;
}

}  // namespace nanlens::cli
