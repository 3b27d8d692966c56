// Part of record_scanner.hpp.
#pragma once

namespace nanlens::reader {

NANLENS_API ScanFault RecordScanner::oversized(std::uint64_t length) const {
  return {position_, {FaultId::record_too_large, {{"n", length}, {"most", limits::record_bytes}}}};
}

NANLENS_API void RecordScanner::unreadable(RecordFile& file) {
  const std::string why = file.error();
  tail_fault_ = fault_because(FaultId::cant_read_on, why.empty() ? Fault(FaultId::it_shrank) : told_fault(why));
}

NANLENS_API std::uint64_t RecordScanner::next_header(RecordFile& file, std::uint64_t at, std::uint64_t end) {
  const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(RecordFile::scan_window / 2, end - at));
  const Bytes bytes = file.bytes(at, wanted, RecordFile::scan_window);
  if (bytes.size() < logdir::record_header_bytes) return end;  // it has shrunk
  const std::size_t count = bytes.size() - logdir::record_header_bytes + 1;
  for (std::size_t i = 0; i < count; ++i) {
    const unsigned char* const p = bytes.data() + i;
    if ((p[5] | p[6] | p[7]) != 0) continue;
    std::uint64_t length = logdir::detail::load_le<std::uint64_t>(p);
    if (length == 0 && logdir::detail::load_le<std::uint32_t>(p + 8) == 0) continue;
    if (logdir::read_record_header(p, length)) return at + i;
  }
  return at + count;
}

NANLENS_API RecordScanner::Candidate RecordScanner::candidate(RecordFile& file, std::uint64_t at, std::uint64_t end) {
  const Bytes header = file.bytes(at, logdir::record_header_bytes, RecordFile::scan_window);
  std::uint64_t length = 0;
  if (header.size() < logdir::record_header_bytes || !logdir::read_record_header(header.data(), length))
    return Candidate::none;
  if (length > limits::record_bytes) return Candidate::none;
  if (end - at < logdir::record_overhead || length > end - at - logdir::record_overhead) return Candidate::incomplete;
  if (checked_ + length > limits::checked_bytes_per_byte * at + limits::checked_bytes_of_any_file)
    return Candidate::record;
  checked_ += length;
  return length == 0 || !file.payload(at).empty() ? Candidate::record : Candidate::none;
}

}  // namespace nanlens::reader
