/// @file
/// What a recording has left in memory (logdir/live_format.hpp), as it is found in its file. Nothing in it is believed:
/// what does not fit is left out.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nanlens/logdir/limits.hpp>
#include <nanlens/logdir/live_format.hpp>
#include <nanlens/reader/byte_source.hpp>

namespace nanlens::reader {

namespace live = logdir::live;

/// An event with its content: the parts of its record.
struct LeftEvent {
  live::LiveEvent event;
  std::uint64_t thread_id = 0;
  bool in_ring = false;
  std::string content;
};
struct LeftDefinition {
  double wall_time = 0;
  logdir::EventKind kind = logdir::EventKind::none;
  std::uint32_t stack = live::no_stack;
  std::string before;
  std::string after;
};
/// What is known of a stack: its field code_location, or only the line that names the op.
struct LeftStack {
  std::string location;
  std::string file;
  std::string function;
  std::int32_t line = 0;
};

/// All that is in the file and not in the six.
class LiveRegions {
 public:
  /// Reads the file's header. False if it is none, or not finished yet.
  bool begin(ByteSource& file) {
    live::RegionHeader region{};
    return fetch(file, 0, region) && region.magic == live::magic && region.kind == live::RegionKind::header &&
           fetch(file, live::region_content, header) && header.version == live::version;
  }
  /// Reads all regions.
  void read(ByteSource& file) {
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
  [[nodiscard]] const live::Commit& commit() const noexcept { return header.commits[header.parity & 1U]; }
  /// True if everything is kept, and not only the last events.
  [[nodiscard]] bool keeps_all() const noexcept { return header.ring <= 0; }

  live::LiveHeader header{};
  std::vector<LeftEvent> events;
  std::map<std::uint64_t, LeftDefinition> definitions;  ///< by number
  std::map<std::uint64_t, LeftStack> stacks;            ///< by number
  bool truncated = false;                               ///< there is more than is read
  bool steady = true;  ///< the process, if it lives, has not written of this into the six files meanwhile

 private:
  template <class T>
  static bool fetch(ByteSource& file, std::uint64_t at, T& to) {
    unsigned char bytes[sizeof(T)];
    if (file.read(at, bytes, sizeof bytes) != sizeof bytes) return false;
    std::memcpy(&to, bytes, sizeof bytes);
    return true;
  }

  void read_region(ByteSource& file, std::uint64_t at, const live::RegionHeader& region) {
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

  void read_entries(const std::string& content, const live::RegionHeader& region, std::uint64_t from, bool ring) {
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

  void read_journal(const std::string& content, std::uint64_t head) {
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

  void note(const live::JournalEntry& entry, std::string_view first, std::string_view second) {
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
};

}  // namespace nanlens::reader
