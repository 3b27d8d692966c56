#include "open.hpp"

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include <nanlens/archive/archive.hpp>

#include "report/mutes_files.hpp"
#include "texts/fault_words.hpp"

namespace nanlens::cli {

namespace {

// A line on the terminal while much is read; nothing elsewhere.
class Progress {
 public:
  Progress() = default;
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() {
    if (shown_) std::fputs("\r\033[K", stderr);
  }
  bool show(std::uint64_t done, std::uint64_t total) const {
    constexpr std::uint64_t much = std::uint64_t{64} << 20;
    if (!terminal_ || total < much) return true;
    shown_ = true;
    std::fprintf(stderr, "\rreading: %3.0f %%", 100.0 * static_cast<double>(done) / static_cast<double>(total));
    return true;
  }

 private:
  bool terminal_ = ::isatty(STDERR_FILENO) == 1;
  mutable bool shown_ = false;
};

}  // namespace

std::unique_ptr<reader::Logdir> open_logdir(const std::string& path) {
  std::string why;
  auto storage = archive::open_path(path, why);
  if (storage == nullptr) throw Failure(why);
  auto logdir = std::make_unique<reader::Logdir>(std::move(storage));
  const Progress progress;
  logdir->update([&](std::uint64_t done, std::uint64_t total) { return progress.show(done, total); });
  if (logdir->runs().empty() && !logdir->fault().empty())
    throw Failure("can't read '" + path + "': " + viewer::fault_words(logdir->fault()));
  if (logdir->runs().empty())
    throw Failure(
        "there is no tfdbg2 logdir in '" + path +
        "': no file named tfdbg_events.*. Was the program run with recording enabled, and is this its logdir?");
  return logdir;
}

std::optional<std::uint64_t> recorded_bytes(const std::string& path) {
  std::error_code error;
  std::string why;
  const bool archive = !std::filesystem::is_directory(path, error) &&
                       !std::filesystem::path(path).filename().string().starts_with(logdir::file_prefix);
  if (archive) {
    const std::uintmax_t size = std::filesystem::file_size(path, error);
    return error ? std::nullopt : std::optional<std::uint64_t>(size);
  }
  const auto storage = archive::open_path(path, why);
  if (storage == nullptr) return std::nullopt;
  std::uint64_t sum = 0;
  for (const std::string& name : storage->list(logdir::file_prefix))
    if (const auto file = storage->open(name, why)) sum += file->size();
  return sum;
}

report::Mutes find_mutes(const reader::Logdir& logdir, const std::string& path, const std::string& named) {
  report::Mutes mutes;
  if (named.empty())
    report::find_mutes_of(logdir.storage(), path, mutes);
  else
    report::read_mutes_file(named, mutes);
  return mutes;
}

reader::Run& select_run(const reader::Logdir& logdir, const std::string& run_id) {
  std::string ids;
  for (const auto& run : logdir.runs()) ids += (ids.empty() ? "" : ", ") + (run->id().empty() ? "(no id)" : run->id());
  if (run_id.empty()) {
    if (logdir.runs().size() == 1) return *logdir.runs().front();
    throw Failure("the logdir holds " + std::to_string(logdir.runs().size()) + " runs: name one with --run (" + ids +
                  ")");
  }
  if (reader::Run* const run = logdir.find_run(run_id)) return *run;
  throw Failure("there is no run '" + run_id + "' (" + ids + ")");
}

}  // namespace nanlens::cli
