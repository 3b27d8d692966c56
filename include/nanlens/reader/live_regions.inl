// Part of live_regions.hpp.
#pragma once

#include <algorithm>
#include <utility>

namespace nanlens::reader {

NANLENS_API bool LiveRegions::begin(ByteSource& file) {
  live::RegionHeader region{};
  return fetch(file, 0, region) && region.magic == live::magic && region.kind == live::RegionKind::header &&
         fetch(file, live::region_content, header) && header.version == live::version;
}

NANLENS_API void LiveRegions::read(ByteSource& file) {
  const std::uint64_t size = std::min(file.size(), limits::live_bytes);
  truncated = file.size() > size;
  live::RegionHeader region{};
  for (std::uint64_t at = 0; fetch(file, at, region) && region.magic == live::magic; at += region.bytes) {
    if (region.bytes < live::page_bytes || region.bytes % live::page_bytes != 0 || region.bytes > size - at) break;
    read_region(file, at, region);
  }
  live::LiveHeader now{};
  const bool same =
      fetch(file, live::region_content, now) && now.commits[now.parity & 1U].file_bytes == commit().file_bytes;
  steady = steady && same;
}

NANLENS_API void LiveRegions::read_region(ByteSource& file, std::uint64_t at, const live::RegionHeader& region) {
  using live::RegionKind;
  const bool ring = region.kind == RegionKind::executions || region.kind == RegionKind::traces;
  if (!ring && region.kind != RegionKind::queue && region.kind != RegionKind::journal) return;
  std::string content(static_cast<std::size_t>(region.bytes) - live::region_content, '\0');
  if (file.read(at + live::region_content, reinterpret_cast<unsigned char*>(content.data()), content.size()) !=
      content.size())
    return;
  if (region.kind == RegionKind::journal) return read_journal(content, region.head);
  live::RegionHeader now{};  // what a living process has written over meanwhile is no longer there
  if (!fetch(file, at, now)) return;
  const auto taken = [](const live::RegionHeader& r) { return std::max(r.taken[0], r.taken[1]); };
  if (!ring && taken(now) != taken(region)) steady = false;
  read_entries(content, region, std::max({region.taken[header.parity & 1U], region.first, now.first}), ring);
}

NANLENS_API void LiveRegions::read_entries(const std::string& content, const live::RegionHeader& region,
                                           std::uint64_t from, bool ring) {
  constexpr std::size_t head_bytes = sizeof(std::uint64_t) + sizeof(live::LiveEvent);
  if (region.head < from || region.head - from > content.size()) return;
  for (std::uint64_t at = from; at < region.head;) {
    const auto place = static_cast<std::size_t>(at % content.size());
    const std::size_t room = content.size() - place;
    std::uint64_t length = 0;
    std::memcpy(&length, content.data() + place, sizeof length);
    if (length == 0) {
      at += room;
      continue;
    }
    LeftEvent left;
    if (length < head_bytes || length > room || length % 8 != 0) return;
    std::memcpy(&left.event, content.data() + place + sizeof length, sizeof left.event);
    if (left.event.content_bytes() > length - head_bytes || left.event.is_execution > 1) return;
    left.thread_id = region.thread_id;
    left.in_ring = ring;
    left.content = content.substr(place + head_bytes, left.event.content_bytes());
    events.push_back(std::move(left));
    at += length;
  }
}

NANLENS_API void LiveRegions::read_journal(const std::string& content, std::uint64_t head) {
  if (head > content.size()) return;
  for (std::size_t at = 0; at + sizeof(live::JournalEntry) <= head;) {
    live::JournalEntry entry{};
    std::memcpy(&entry, content.data() + at, sizeof entry);
    const std::uint64_t texts = std::uint64_t{entry.text_bytes[0]} + entry.text_bytes[1];
    if (entry.bytes < sizeof entry + texts || entry.bytes > head - at || entry.bytes % 8 != 0) return;
    const std::string_view text = std::string_view(content).substr(at + sizeof entry);
    note(entry, text.substr(0, entry.text_bytes[0]), text.substr(entry.text_bytes[0], entry.text_bytes[1]));
    at += entry.bytes;
  }
}

NANLENS_API void LiveRegions::note(const live::JournalEntry& entry, std::string_view first, std::string_view second) {
  switch (entry.kind) {
    case live::JournalKind::definition:
      definitions[entry.number] = {entry.wall_time, static_cast<logdir::EventKind>(entry.event_kind), entry.stack,
                                   std::string(first), std::string(second)};
      return;
    case live::JournalKind::stack: {
      LeftStack& stack = stacks[entry.number];
      stack.file = first;
      stack.function = second;
      stack.line = entry.line;
      return;
    }
    case live::JournalKind::location: stacks[entry.number].location = first; return;
  }
}

}  // namespace nanlens::reader
