/// @file
/// Reading a TFRecord file from front to back, past whatever is damaged, and going on where it ended when it has grown.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <nanlens/logdir/limits.hpp>
#include <nanlens/logdir/tfrecord.hpp>
#include <nanlens/reader/fault.hpp>
#include <nanlens/reader/record_file.hpp>

namespace nanlens::reader {

/// What a scan saw besides intact records.
struct ScanFault {
  std::uint64_t offset;
  Fault what;
};

/// Walks over the records of a file. Keeps its place between calls, so that a growing file is read on from where it
/// ended. Takes time in proportion to the bytes of the file, whatever they are.
class RecordScanner {
 public:
  /// Visits every record that starts before `end` and is complete: `record(offset, payload)` for intact ones,
  /// `gap(fault)` for each damaged one that was passed over. An incomplete record at the end is left for the next call.
  /// `go_on(position)` is asked now and then; false stops the scan, which can be taken up again.
  template <class OnRecord, class OnGap, class GoOn>
  void scan(RecordFile& file, std::uint64_t end, OnRecord&& record, OnGap&& gap, GoOn&& go_on) {
    asked_ = position_;
    tail_fault_ = {};
    const bool too_large = end > limits::file_bytes;
    end = std::min(end, limits::file_bytes);
    while (position_ < end) {
      if (!still_wanted(go_on)) return;
      const std::uint64_t left = end - position_;
      if (left < logdir::record_header_bytes) return torn(left);
      const Bytes header = file.bytes(position_, logdir::record_header_bytes, RecordFile::scan_window);
      if (header.size() < logdir::record_header_bytes) return unreadable(file);
      std::uint64_t length = 0;
      if (!logdir::read_record_header(header.data(), length)) {
        if (!resynchronise(file, end, gap, go_on)) return;
        continue;
      }
      if (length > left || left - length < logdir::record_overhead) return torn(left);
      if (length > limits::record_bytes) {
        gap(oversized(length));
        position_ += length + logdir::record_overhead;
        continue;
      }
      const auto n = static_cast<std::size_t>(length);
      const Bytes bytes = file.bytes(position_, n + logdir::record_overhead, RecordFile::scan_window);
      if (bytes.size() < n + logdir::record_overhead) return unreadable(file);
      const Bytes payload = bytes.subspan(logdir::record_header_bytes, n);
      if (logdir::payload_intact(payload, payload.data() + n))
        record(position_, payload);
      else
        gap(ScanFault{position_, FaultId::bad_checksum});
      position_ += n + logdir::record_overhead;
    }
    if (too_large) tail_fault_ = FaultId::file_too_large;
  }

  [[nodiscard]] std::uint64_t position() const noexcept { return position_; }
  /// What is wrong at the end of the file as it is now; empty if it ends with a complete record. May mend when the file
  /// grows.
  [[nodiscard]] const Fault& tail_fault() const noexcept { return tail_fault_; }

 private:
  static constexpr std::uint64_t ask_every = std::uint64_t{1} << 20;
  enum class Candidate : std::uint8_t { none, incomplete, record };

  template <class GoOn>
  bool still_wanted(GoOn&& go_on) {
    if (position_ - asked_ < ask_every) return true;
    asked_ = position_;
    return go_on(position_);
  }
  [[nodiscard]] ScanFault oversized(std::uint64_t length) const;
  void torn(std::uint64_t left) { tail_fault_ = {FaultId::cut_off, {{"n", left}}}; }
  void unreadable(RecordFile& file);

  // Looks for the next offset at which an intact record starts. One record is taken as lost. False: there is none so
  // far, or the search was stopped.
  template <class OnGap, class GoOn>
  bool resynchronise(RecordFile& file, std::uint64_t end, OnGap&& gap, GoOn&& go_on) {
    const auto found = [&](std::uint64_t at) {
      gap(ScanFault{position_, {FaultId::damaged_header, {{"n", at - position_}}}});
      position_ = at;
      searched_ = 0;
      incomplete_.clear();
      return true;
    };
    for (std::size_t i = 0; i < incomplete_.size();) {
      const Candidate what = candidate(file, incomplete_[i], end);
      if (what == Candidate::record) return found(incomplete_[i]);
      if (what == Candidate::none)
        incomplete_.erase(incomplete_.begin() + static_cast<std::ptrdiff_t>(i));
      else
        ++i;
    }
    const std::uint64_t last = std::min(end, position_ + limits::resynchronise_bytes);
    std::uint64_t at = std::max(position_ + 1, searched_);
    std::uint64_t asked = at + checked_;
    for (; at + logdir::record_overhead <= last; ++at) {
      at = next_header(file, at, end);
      searched_ = std::min(at, last);
      if (at + checked_ - asked >= ask_every) {
        asked = at + checked_;
        if (!go_on(position_)) return false;
      }
      if (at + logdir::record_overhead > last) break;
      const Candidate what = candidate(file, at, end);
      if (what == Candidate::record) return found(at);
      if (what == Candidate::incomplete && incomplete_.size() < limits::incomplete_headers) incomplete_.push_back(at);
    }
    searched_ = std::max(position_ + 1, std::min(at, last));
    tail_fault_ = {last < end ? FaultId::damaged_next : FaultId::damaged_rest, {{"n", last - position_}}};
    return false;
  }

  // The first offset from `at` on where a header with a right checksum lies, or where the bytes in memory end. Lengths
  // of 2^40 and more are none, and a run of zeros holds no header: both are passed over fast.
  static std::uint64_t next_header(RecordFile& file, std::uint64_t at, std::uint64_t end);

  // Is there a record at `at`? Where too much has been checked already, a header with a right checksum is believed:
  // what follows is then read as a record of that length, so that the work stays in proportion.
  Candidate candidate(RecordFile& file, std::uint64_t at, std::uint64_t end);

  std::uint64_t position_ = 0;
  std::uint64_t searched_ = 0;             // no record starts between position_ and here, but perhaps
  std::vector<std::uint64_t> incomplete_;  // here, where headers lie whose records the file does not hold yet
  std::uint64_t checked_ = 0;              // bytes of payloads read while searching
  std::uint64_t asked_ = 0;
  Fault tail_fault_;
};

}  // namespace nanlens::reader

#if !defined(NANLENS_SPLIT)
#include <nanlens/reader/record_scanner.inl>
#endif
