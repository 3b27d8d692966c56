/// @file
/// The open files of one file set, with the place up to which each has been read.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <nanlens/logdir/events.hpp>
#include <nanlens/logdir/file_set.hpp>
#include <nanlens/reader/diagnostics.hpp>
#include <nanlens/reader/event_limits.hpp>
#include <nanlens/reader/record_scanner.hpp>
#include <nanlens/reader/storage.hpp>

namespace nanlens::reader {

/// What the metadata file of a set tells.
struct SetMetadata {
  bool readable = false;
  double wall_time = 0;
  std::string tensorflow_version;
  std::string file_version;
  std::string run_id;
  /// Records of the file. nanlens appends one at every end and one at every resumption: an even number is a clean end.
  std::size_t num_records = 0;
  std::uint64_t dropped_executions = 0;
  std::uint64_t dropped_traces = 0;
  std::uint64_t unread_tensors = 0;
  logdir::LeftOut left_out;
  std::uint64_t circular_buffer_size = 0;
  std::vector<logdir::RuleHit> rules;  ///< of the program, with how often they held
};

/// One file of a set.
struct SetFile {
  std::optional<RecordFile> file;
  RecordScanner scanner;
  bool missing_reported = false;
};

/// Six files that were written together.
class SetFiles {
 public:
  SetFiles(std::string directory, std::string stem) : directory_(std::move(directory)), stem_(std::move(stem)) {}

  /// "dir/tfdbg_events.123.host": what the names of the set's files begin with.
  [[nodiscard]] std::string path() const { return directory_ + stem_; }
  [[nodiscard]] std::string name(logdir::FileKind kind) const { return directory_ + logdir::file_name(stem_, kind); }
  /// Host part of the file names.
  [[nodiscard]] std::string host() const;
  /// The rank in a job that recorded it, as the host part ends with it (".rank2"); −1: none is told.
  [[nodiscard]] std::int32_t rank() const;
  SetFile& operator[](logdir::FileKind kind) noexcept { return files_[static_cast<std::size_t>(kind)]; }

  /// True if any of the set's files holds a byte.
  [[nodiscard]] bool any_bytes();

  /// Opens the files that are not open yet; those that can't be opened become diagnostics, once.
  void open_missing(Storage& storage, Diagnostics& diagnostics);

  /// Reads what is new in the metadata file. True if the set now has readable metadata.
  bool read_metadata(Diagnostics& diagnostics);

  SetMetadata metadata;

 private:
  std::string directory_;
  std::string stem_;
  std::array<SetFile, logdir::num_file_kinds> files_;
  bool too_large_reported_ = false;
};

}  // namespace nanlens::reader

#if !defined(NANLENS_SPLIT)
#include <nanlens/reader/run_files.inl>
#endif
