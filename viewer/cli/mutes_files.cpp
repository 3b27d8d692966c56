#include "mutes_files.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include <nanlens/logdir/file_set.hpp>

#include "open.hpp"

namespace nanlens::cli {

namespace {

namespace fs = std::filesystem;

constexpr const char* mutes_name = "nanlens.mutes";

// Named from the working directory on, as a person there would.
std::string shown(const fs::path& path) {
  std::error_code none;
  const fs::path relative = fs::proximate(path, none);
  return none || relative.empty() || *relative.begin() == ".." ? path.string() : relative.string();
}

void read_file(const fs::path& path, report::Mutes& mutes) {
  constexpr std::uintmax_t most = std::uintmax_t{16} << 20;
  std::error_code error;
  if (fs::file_size(path, error) > most && !error)
    throw Failure("'" + path.string() + "' is larger than 16 MB: it is no file of mutes");
  std::ifstream file(path, std::ios::binary);
  if (!file || error) throw Failure("can't read the mutes in '" + path.string() + "': " + std::strerror(errno));
  mutes.read(shown(path), std::string(std::istreambuf_iterator<char>(file), {}), report::today());
}

// The nearest one, from the working directory up to the root of its repository; empty if there is none.
fs::path file_of_project() {
  std::error_code none;
  for (fs::path directory = fs::current_path(none); !directory.empty(); directory = directory.parent_path()) {
    if (fs::is_regular_file(directory / mutes_name, none)) return directory / mutes_name;
    if (fs::exists(directory / ".git", none) || directory == directory.parent_path()) break;
  }
  return {};
}

}  // namespace

report::Mutes find_mutes(const std::string& path, const std::string& named) {
  report::Mutes mutes;
  if (!named.empty()) {
    read_file(named, mutes);
    return mutes;
  }
  std::error_code none;
  const bool one_file = fs::path(path).filename().string().starts_with(logdir::file_prefix);
  const fs::path of_logdir = (one_file ? fs::path(path).parent_path() : fs::path(path)) / mutes_name;
  const fs::path of_project = file_of_project();
  const bool in_logdir = fs::is_regular_file(of_logdir, none);
  if (in_logdir) read_file(of_logdir, mutes);
  if (!of_project.empty() && !(in_logdir && fs::equivalent(of_logdir, of_project, none))) read_file(of_project, mutes);
  return mutes;
}

}  // namespace nanlens::cli
