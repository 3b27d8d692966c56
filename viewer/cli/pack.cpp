#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>

#include <nanlens/archive/archive.hpp>

#include "commands.hpp"
#include "open.hpp"
#include "report/whole_file.hpp"
#include "share/logdir_files.hpp"

namespace nanlens::cli {

int pack(const std::string& path, std::string output) {
  std::string from = path;
  while (from.size() > 1 && from.back() == '/') from.pop_back();
  if (output.empty()) output = from + ".nanlens";
  const share::LogdirFiles files = share::open_logdir_files(from);
  report::WholeFile file(output);
  std::string why;
  if (!archive::pack(
          *files.storage, files.names, std::time(nullptr),
          [&](const char* bytes, std::size_t n) { return file.write({bytes, n}); }, why))
    throw Failure("can't pack '" + path + "' into '" + output + "': " + why);
  file.finish();
  std::printf("%s\n", output.c_str());
  return 0;
}

int unpack(const std::string& path, const std::string& directory) {
  std::string why;
  const auto storage = archive::open(std::make_unique<reader::FileSource>(path), why);
  if (storage == nullptr) throw Failure("can't open '" + path + "' as an archive: " + why);
  storage->prepare({});
  if (!storage->fault().empty()) throw Failure("can't unpack '" + path + "': " + words(storage->fault()));
  std::vector<char> buffer(std::size_t{1} << 20);
  for (const auto& name : storage->list()) {
    const auto source = storage->open(name, why);
    const std::filesystem::path to = std::filesystem::path(directory) / name;
    std::error_code error;
    std::filesystem::create_directories(to.parent_path(), error);
    const int fd = ::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0) throw Failure("can't write '" + to.string() + "': " + std::strerror(errno));
    bool ok = true;
    for (std::uint64_t at = 0; ok && at < source->size();) {
      const std::size_t n = source->read(at, reinterpret_cast<unsigned char*>(buffer.data()), buffer.size());
      ok = n > 0 && ::write(fd, buffer.data(), n) == static_cast<ssize_t>(n);
      at += n;
    }
    ::close(fd);
    if (!ok)
      throw Failure("can't unpack '" + name +
                    "': " + (source->error().empty() ? std::strerror(errno) : source->error()));
  }
  return 0;
}

}  // namespace nanlens::cli
