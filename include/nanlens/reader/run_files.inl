// Part of run_files.hpp.
#pragma once

#include <algorithm>
#include <charconv>

#include <nanlens/logdir/decode.hpp>

namespace nanlens::reader {

NANLENS_API std::string SetFiles::host() const {
  const std::size_t dot = stem_.find('.', logdir::file_prefix.size());
  return dot == std::string::npos ? std::string{} : stem_.substr(dot + 1);
}

NANLENS_API std::int32_t SetFiles::rank() const {
  const std::string name = host();
  const std::size_t at = name.rfind(".rank");
  std::int32_t number = -1;
  if (at == std::string::npos) return number;
  const char* const end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + at + 5, end, number);
  return error == std::errc() && stop == end ? number : -1;
}

NANLENS_API bool SetFiles::any_bytes() {
  return std::any_of(files_.begin(), files_.end(), [](SetFile& f) { return f.file && f.file->size() > 0; });
}

NANLENS_API void SetFiles::open_missing(Storage& storage, Diagnostics& diagnostics) {
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

NANLENS_API bool SetFiles::read_metadata(Diagnostics& diagnostics) {
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
          metadata.unread_tensors = event.extension->unread_tensors;
          metadata.left_out = event.extension->left_out;
          metadata.circular_buffer_size = event.extension->circular_buffer_size;
          metadata.rules = event.extension->rule_hits;
        }
        if (metadata.readable) return;  // only the first record describes the set
        metadata.readable = true;
        metadata.wall_time = event.wall_time;
        metadata.tensorflow_version = m->tensorflow_version;
        metadata.file_version = m->file_version;
        metadata.run_id = m->tfdbg_run_id;
        if (m->file_version != logdir::file_version)
          diagnostics.add(f.file->name(), offset,
                          {FaultId::other_version, {{"version", m->file_version}, {"expected", logdir::file_version}}});
      },
      [&](const ScanFault& fault) { diagnostics.add(f.file->name(), fault.offset, fault.what); },
      [](std::uint64_t) { return true; });
  if (f.file->size() > limits::metadata_bytes && !std::exchange(too_large_reported_, true))
    diagnostics.add(f.file->name(), limits::metadata_bytes, FaultId::metadata_too_large);
  return metadata.readable;
}

}  // namespace nanlens::reader
