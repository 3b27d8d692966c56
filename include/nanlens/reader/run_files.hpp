/// @file
/// The open files of one file set, with the place up to which each has been read.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <nanlens/logdir/decode.hpp>
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
  logdir::LeftOut left_out;
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
  [[nodiscard]] std::string host() const {
    const std::size_t dot = stem_.find('.', logdir::file_prefix.size());
    return dot == std::string::npos ? std::string{} : stem_.substr(dot + 1);
  }
  /// The rank in a job that recorded it, as the host part ends with it (".rank2"); −1: none is told.
  [[nodiscard]] std::int32_t rank() const {
    const std::string name = host();
    const std::size_t at = name.rfind(".rank");
    std::int32_t number = -1;
    if (at == std::string::npos) return number;
    const char* const end = name.data() + name.size();
    const auto [stop, error] = std::from_chars(name.data() + at + 5, end, number);
    return error == std::errc() && stop == end ? number : -1;
  }
  SetFile& operator[](logdir::FileKind kind) noexcept { return files_[static_cast<std::size_t>(kind)]; }

  /// True if any of the set's files holds a byte.
  [[nodiscard]] bool any_bytes() {
    return std::any_of(files_.begin(), files_.end(), [](SetFile& f) { return f.file && f.file->size() > 0; });
  }

  /// Opens the files that are not open yet; those that can't be opened become diagnostics, once.
  void open_missing(Storage& storage, Diagnostics& diagnostics) {
    for (std::size_t i = 0; i < logdir::num_file_kinds; ++i) {
      SetFile& f = files_[i];
      if (f.file) continue;
      const std::string name = this->name(static_cast<logdir::FileKind>(i));
      std::string why;
      if (auto source = storage.open(name, why)) {
        f.file.emplace(name, std::move(source));
      } else if (!f.missing_reported) {
        f.missing_reported = true;
        diagnostics.add(name, 0, fault_because(FaultId::cant_open, told_fault(why)));
      }
    }
  }

  /// Reads what is new in the metadata file. True if the set now has readable metadata.
  bool read_metadata(Diagnostics& diagnostics) {
    SetFile& f = (*this)[logdir::FileKind::metadata];
    if (!f.file) return metadata.readable;
    f.scanner.scan(
        *f.file, std::min(f.file->size(), limits::metadata_bytes),
        [&](std::uint64_t offset, Bytes payload) {
          logdir::DebugEvent event;
          const bool valid = logdir::decode(payload, event);
          const auto* m = std::get_if<logdir::DebugMetadata>(&event.what);
          if (!valid || m == nullptr) {
            diagnostics.add(f.file->name(), offset, FaultId::not_metadata);
            return;
          }
          ++metadata.num_records;
          if (event.extension) {
            metadata.dropped_executions = event.extension->dropped_executions;
            metadata.dropped_traces = event.extension->dropped_traces;
            metadata.left_out = event.extension->left_out;
            metadata.rules = event.extension->rule_hits;
          }
          if (metadata.readable) return;  // only the first record describes the set
          metadata.readable = true;
          metadata.wall_time = event.wall_time;
          metadata.tensorflow_version = m->tensorflow_version;
          metadata.file_version = m->file_version;
          metadata.run_id = m->tfdbg_run_id;
          if (m->file_version != logdir::file_version)
            diagnostics.add(
                f.file->name(), offset,
                {FaultId::other_version, {{"version", m->file_version}, {"expected", logdir::file_version}}});
        },
        [&](const ScanFault& fault) { diagnostics.add(f.file->name(), fault.offset, fault.what); },
        [](std::uint64_t) { return true; });
    if (f.file->size() > limits::metadata_bytes && !std::exchange(too_large_reported_, true))
      diagnostics.add(f.file->name(), limits::metadata_bytes, FaultId::metadata_too_large);
    return metadata.readable;
  }

  SetMetadata metadata;

 private:
  std::string directory_;
  std::string stem_;
  std::array<SetFile, logdir::num_file_kinds> files_;
  bool too_large_reported_ = false;
};

}  // namespace nanlens::reader
