// The record scanner, at once and in two parts, and the decoding of every event.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

#include <nanlens/logdir/debug_event.hpp>
#include <nanlens/logdir/decode.hpp>
#include <nanlens/reader/event_digest.hpp>
#include <nanlens/reader/record_scanner.hpp>

#include "records.hpp"

namespace {

using namespace nanlens;

void require(bool holds) {
  if (!holds) std::abort();
}

// Whatever is decoded can be encoded, and then means the same.
void decode_event(logdir::Bytes payload) {
  logdir::DebugEvent event;
  if (logdir::decode(payload, event)) {
    const std::string once = logdir::encoded(event);
    logdir::DebugEvent again;
    require(logdir::decode({fuzz::bytes_of(once), once.size()}, again));
    require(logdir::encoded(again) == once);
  }
  (void)reader::trace_digest(payload);
  (void)reader::execution_digest(payload);
  reader::ExecutionLinks links;
  (void)reader::execution_links(payload, links);
}

struct Span {
  std::uint64_t begin;
  std::uint64_t end;
};

struct Seen {
  std::vector<Span> records;
  std::uint64_t gaps = 0;
};

void scan_to(reader::RecordScanner& scanner, reader::RecordFile& file, std::uint64_t end, Seen& seen) {
  scanner.scan(
      file, end,
      [&](std::uint64_t offset, reader::Bytes payload) {
        require(seen.records.empty() || offset >= seen.records.back().end);
        seen.records.push_back({offset, offset + payload.size() + logdir::record_overhead});
        decode_event(payload);
      },
      [&](const reader::ScanFault&) { ++seen.gaps; }, [](std::uint64_t) { return true; });
}

// What a cut damages is searched for records, as anything damaged is: those that lie inside of the record that the cut
// goes through may be found, and what follows is then read differently until both come to the same record. All else is
// the same.
void require_same(const Seen& whole, const Seen& parts, std::uint64_t cut) {
  const auto same = [](const Span& a, const Span& b) { return a.begin == b.begin && a.end == b.end; };
  const auto through = std::find_if(whole.records.begin(), whole.records.end(),
                                    [&](const Span& r) { return r.begin < cut && r.end > cut; });
  const auto [w, p] =
      std::mismatch(whole.records.begin(), whole.records.end(), parts.records.begin(), parts.records.end(), same);
  if (through == whole.records.end()) return require(w == whole.records.end() && p == parts.records.end());
  require(w >= through);
  const auto meet = std::find_first_of(std::max(w, through), whole.records.end(), p, parts.records.end(), same);
  if (meet == whole.records.end()) return;
  const auto from = std::find_if(p, parts.records.end(), [&](const Span& r) { return same(r, *meet); });
  require(std::equal(meet, whole.records.end(), from, parts.records.end(), same));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  Seen whole;
  reader::RecordFile file("records", std::make_unique<reader::MemorySource>(bytes));
  reader::RecordScanner at_once;
  scan_to(at_once, file, size, whole);
  for (const Span& record : whole.records) (void)file.payload(record.begin);

  Seen parts;
  reader::RecordFile grown("records", std::make_unique<reader::MemorySource>(bytes));
  reader::RecordScanner twice;
  scan_to(twice, grown, size / 2, parts);
  scan_to(twice, grown, size, parts);
  require_same(whole, parts, size / 2);
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned int seed) {
  std::mt19937 random(seed);
  const std::string out = fuzz::mutate_records({reinterpret_cast<const char*>(data), size}, max_size, random);
  std::memcpy(data, out.data(), out.size());
  return out.size();
}
