/// @file
/// The six files of a recording as they are written.
#pragma once

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nanlens/capture/platform.hpp>
#include <nanlens/capture/signal_block.hpp>
#include <nanlens/capture/wall_clock.hpp>
#include <nanlens/config.hpp>
#include <nanlens/logdir/encode.hpp>
#include <nanlens/logdir/file_set.hpp>
#include <nanlens/logdir/tfrecord.hpp>
#include <nanlens/version.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN detail {

using logdir::FileKind;

/// How many events the operating system has not taken.
struct Lost {
  std::uint64_t traces = 0;
  std::uint64_t executions = 0;
};

/// Takes a record back that was not completed, because memory ran out: a part of one would hide what follows.
class WholeRecord {
 public:
  explicit WholeRecord(std::string& buffer) noexcept : buffer_(buffer), begin_(buffer.size()) {}
  WholeRecord(const WholeRecord&) = delete;
  WholeRecord& operator=(const WholeRecord&) = delete;
  ~WholeRecord() {
    if (!complete_) buffer_.resize(begin_);
  }
  [[nodiscard]] std::string& buffer() noexcept { return buffer_; }
  void complete() noexcept { complete_ = true; }

 private:
  std::string& buffer_;
  std::size_t begin_;
  bool complete_ = false;
};

/// What is known at the end of a recording: events that could not be recorded, tensors that could not be read, what was
/// not to be recorded, and the rules.
struct Missing {
  std::uint64_t executions = 0;
  std::uint64_t traces = 0;
  std::uint64_t unread_tensors = 0;
  logdir::LeftOut left_out;
  std::vector<logdir::RuleHit> rules;  ///< what became of them
};

/// Opens, appends and closes. Bytes are collected per file and handed to the operating system by `flush`, the files
/// that are referred to before those that refer to them.
class FileSetWriter {
 public:
  /// Makes the directory and the file set. The five data files are made before `metadata`, which is written under
  /// another name and renamed: a set with metadata is complete. False, with `why`, if that fails.
  bool create(const std::string& directory, const std::string& host, const std::string& run_id, std::string& why) {
    directory_ = directory;
    run_id_ = run_id;
    if (!make_directories(directory, why)) return false;
    for (std::int64_t seconds = std::time(nullptr);; ++seconds) {
      stem_ = logdir::file_set_stem(seconds, host);
      if (exists(path(FileKind::metadata))) continue;
      file(first_file) = open_exclusive(path(first_file));
      if (file(first_file) < 0 && errno == EEXIST) continue;  // another process of this second: take the next
      break;
    }
    for (std::size_t i = 1; i < logdir::num_file_kinds; ++i)
      if (files_[i] < 0) files_[i] = open_exclusive(path(static_cast<FileKind>(i)));
    for (std::size_t i = 1; i < logdir::num_file_kinds; ++i) {
      if (files_[i] >= 0) continue;
      why = "can't create '" + path(static_cast<FileKind>(i)) + "': " + std::strerror(errno);
      close();
      return false;
    }
    return create_metadata(why);
  }

  /// Of each kind of event, the last so many are kept; 0: all. Noted in every record of the metadata.
  void set_circular_buffer_size(std::uint64_t size) noexcept { circular_buffer_size_ = size; }

  /// Opens the set again to append to it, and notes in the metadata that recording goes on.
  bool reopen(std::string& why) {
    for (std::size_t i = 0; i < logdir::num_file_kinds; ++i) {
      const std::string name = path(static_cast<FileKind>(i));
      files_[i] = ::open(name.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
      sizes_[i] = files_[i] < 0 ? 0 : static_cast<std::uint64_t>(::lseek(files_[i], 0, SEEK_END));
      if (files_[i] >= 0) continue;
      why = "can't open '" + name + "' again: " + std::strerror(errno);
      close();
      return false;
    }
    append_metadata({});
    return true;
  }

  /// Notes in the metadata that recording has ended, and what is missing. TensorFlow reads the first record only.
  void append_metadata(const Missing& missing) {
    append_metadata_record(missing);
    flush_file(FileKind::metadata);
  }
  /// Notes what is missing so far; recording goes on. An end and a resumption, at once.
  void note_missing(const Missing& missing) {
    append_metadata_record(missing);
    append_metadata(missing);
  }

  [[nodiscard]] std::string& buffer(FileKind kind) noexcept { return buffers_[static_cast<std::size_t>(kind)]; }

  /// Hands collected bytes to the operating system. Of a file that takes a part of them, whole events stay and nothing
  /// else. Definitions are kept for the next time; without them, events are not written either.
  Lost flush() {
    bool defined = true;
    for (const FileKind kind : {FileKind::source_files, FileKind::stack_frames, FileKind::graphs})
      defined = flush_file(kind) && defined;
    return {flush_events(FileKind::graph_execution_traces, defined), flush_events(FileKind::execution, defined)};
  }
  /// Forgets events that are not handed over yet.
  void forget_events() noexcept {
    buffer(FileKind::graph_execution_traces).clear();
    buffer(FileKind::execution).clear();
  }
  /// Bytes of each file that are whole records.
  [[nodiscard]] const std::array<std::uint64_t, logdir::num_file_kinds>& sizes() const noexcept { return sizes_; }
  /// A file beside the six: their common path, and a suffix.
  [[nodiscard]] std::string path(std::string_view suffix) const {
    return directory_ + "/" + stem_ + std::string(suffix);
  }

  void close() {
    for (std::size_t i = 0; i < logdir::num_file_kinds; ++i) {
      if (reserved_[i] != 0) give_back(static_cast<FileKind>(i));
      if (files_[i] >= 0) ::close(files_[i]);
      files_[i] = -1;
      reserved_[i] = 0;
    }
  }

 private:
  static constexpr FileKind first_file = FileKind::source_files;

  [[nodiscard]] int& file(FileKind kind) noexcept { return files_[static_cast<std::size_t>(kind)]; }
  [[nodiscard]] std::string path(FileKind kind) const { return directory_ + "/" + logdir::file_name(stem_, kind); }
  static bool exists(const std::string& name) {
    struct stat info{};
    return ::stat(name.c_str(), &info) == 0;
  }
  static int open_exclusive(const std::string& name) {
    return ::open(name.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  }

  static bool make_directories(const std::string& directory, std::string& why) {
    for (std::size_t slash = directory.find('/', 1);; slash = directory.find('/', slash + 1)) {
      const std::string part = directory.substr(0, slash);
      if (::mkdir(part.c_str(), 0755) != 0 && errno != EEXIST && errno != EISDIR) {
        why = "can't make the directory '" + part + "': " + std::strerror(errno);
        return false;
      }
      if (slash == std::string::npos) return true;
    }
  }

  void append_metadata_record(const Missing& missing) {
    logdir::NanlensExtension extension;
    extension.dropped_executions = missing.executions;
    extension.dropped_traces = missing.traces;
    extension.unread_tensors = missing.unread_tensors;
    extension.left_out = missing.left_out;
    extension.rule_hits = missing.rules;
    extension.circular_buffer_size = circular_buffer_size_;
    const bool some = missing.executions + missing.traces + missing.unread_tensors + circular_buffer_size_ > 0 ||
                      missing.left_out != logdir::LeftOut{} || !missing.rules.empty();
    WholeRecord record(buffer(FileKind::metadata));
    logdir::append_event(
        record.buffer(), wall_time_now(),
        logdir::DebugMetadata{"nanlens-" NANLENS_VERSION_STRING, std::string(logdir::file_version), run_id_},
        some ? &extension : nullptr);
    record.complete();
  }

  bool create_metadata(std::string& why) {
    const std::string name = path(FileKind::metadata);
    const std::string unfinished = directory_ + "/." + logdir::file_name(stem_, FileKind::metadata) + ".part";
    file(FileKind::metadata) = open_exclusive(unfinished);
    append_metadata_record({});
    if (file(FileKind::metadata) >= 0 && flush_file(FileKind::metadata) &&
        ::rename(unfinished.c_str(), name.c_str()) == 0)
      return true;
    why = "can't write '" + name + "': " + std::strerror(errno);
    close();
    return false;
  }

  // All or nothing.
  bool flush_file(FileKind kind) noexcept {
    std::string& bytes = buffer(kind);
    const std::size_t written = write_all(kind);
    const bool whole = written == bytes.size();
    keep(kind, whole ? written : 0, written);
    if (whole) clear(bytes);
    return whole;
  }

  // Returns how many events are lost.
  std::uint64_t flush_events(FileKind kind, bool defined) noexcept {
    std::string& bytes = buffer(kind);
    const std::size_t written = defined ? write_all(kind) : 0;
    std::size_t whole = 0;  // bytes of records
    std::uint64_t lost = 0;
    if (written < bytes.size())
      for (std::size_t end = 0; end < bytes.size();) {
        end += logdir::record_bytes(bytes.data() + end);
        if (end <= written)
          whole = end;
        else
          ++lost;
      }
    keep(kind, lost == 0 ? written : whole, written);
    clear(bytes);
    return lost;
  }

  // Returns how many bytes the operating system has taken.
  std::size_t write_all(FileKind kind) noexcept {
    const std::string& bytes = buffer(kind);
    if (bytes.empty()) return 0;
    const NoSizeSignal blocked;
    reserve(kind, bytes.size());
    std::size_t written = 0;
    while (written < bytes.size()) {
      const ssize_t n = ::write(file(kind), bytes.data() + written, bytes.size() - written);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) break;
      written += static_cast<std::size_t>(n);
    }
    return written;
  }
  // Blocks of a file that grows are reserved some way ahead, which halves what the kernel takes for an append on ext4,
  // and costs next to nothing on XFS, btrfs and tmpfs. The size of the file stays what it is. Where that can't be done,
  // it is only slower.
  void reserve([[maybe_unused]] FileKind kind, [[maybe_unused]] std::uint64_t bytes) noexcept {
#if defined(__linux__) && defined(FALLOC_FL_KEEP_SIZE)
    std::uint64_t& reserved = reserved_[static_cast<std::size_t>(kind)];
    const std::uint64_t size = sizes_[static_cast<std::size_t>(kind)];
    const std::uint64_t end = size + bytes;
    if (end < least_reserving_bytes || end <= reserved) return;
    const std::uint64_t ahead = std::min(end, most_reserved_bytes);
    if (::fallocate(file(kind), FALLOC_FL_KEEP_SIZE, static_cast<off_t>(size), static_cast<off_t>(bytes + ahead)) ==
        0) {
      reserved = end + ahead;
      return;
    }
    const bool interrupted = errno == EINTR;
    give_back(kind);
    reserved = interrupted ? end : ~std::uint64_t{0};
#endif
  }
  // Frees what is reserved behind the end of a file, unless others have written there, such as the parent's process.
  void give_back(FileKind kind) noexcept {
    struct stat info{};
    if (::fstat(file(kind), &info) == 0 &&
        static_cast<std::uint64_t>(info.st_size) == sizes_[static_cast<std::size_t>(kind)])
      (void)!::ftruncate(file(kind), info.st_size);
  }
  // Of what was written last, leaves the first bytes in the file: a part of a record would hide what comes behind it.
  void keep(FileKind kind, std::size_t bytes, std::size_t written) noexcept {
    std::uint64_t& size = sizes_[static_cast<std::size_t>(kind)];
    size += bytes;
    if (bytes < written && ::ftruncate(file(kind), static_cast<off_t>(size)) != 0) size += written - bytes;
  }
  static void clear(std::string& bytes) noexcept {
    bytes.clear();
    if (bytes.capacity() > max_kept_bytes) bytes.shrink_to_fit();
  }

  static constexpr std::size_t max_kept_bytes = std::size_t{16} << 20;
  static constexpr std::uint64_t least_reserving_bytes = std::uint64_t{1} << 20;  // smaller files take what they need
  static constexpr std::uint64_t most_reserved_bytes = std::uint64_t{16} << 20;
  std::string directory_;
  std::string stem_;
  std::uint64_t circular_buffer_size_ = 0;
  std::string run_id_;
  std::array<int, logdir::num_file_kinds> files_{-1, -1, -1, -1, -1, -1};
  std::array<std::uint64_t, logdir::num_file_kinds> sizes_{};
  std::array<std::uint64_t, logdir::num_file_kinds> reserved_{};  // up to where; 0: nothing
  std::array<std::string, logdir::num_file_kinds> buffers_;
};

}  // namespace NANLENS_HIDDEN detail
}  // namespace nanlens::inline NANLENS_ABI
