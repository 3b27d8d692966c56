/// @file
/// What a recording holds in memory before its six files have it, as it lies in "<stem>.live" beside them: a shared
/// mapping, which the operating system keeps however the program ends. Numbers are in the byte order of the machine.
///
/// The file is a row of regions, each with a RegionHeader and a multiple of 4,096 bytes. The first holds a LiveHeader.
/// Queues and rings hold entries (see entry_bytes), journals what events refer to. What is up to `taken` of the current
/// commit is in the six files; of these, what is behind the commit's `file_bytes` is not to be read: it was being
/// written when the program ended, and its events are still here. A clean end leaves no such file.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include <nanlens/config.hpp>
#include <nanlens/logdir/file_set.hpp>
#include <nanlens/logdir/wire.hpp>

namespace nanlens::inline NANLENS_ABI::logdir::live {

inline constexpr std::string_view suffix = ".live";
inline constexpr std::uint32_t magic = 0x6c766e6e;
inline constexpr std::uint32_t version = 1;
inline constexpr std::size_t page_bytes = 4096;

enum class RegionKind : std::uint32_t {
  none,        ///< not finished yet
  header,      ///< a LiveHeader
  queue,       ///< events of a thread, in order: all are kept, whatever LiveHeader::ring says
  executions,  ///< the last Execution events of a thread; of those of all threads, the last LiveHeader::ring count
  traces,      ///< the last GraphExecutionTrace events of a thread, likewise
  journal,     ///< definitions and stacks
  retired,     ///< its content is in another region
};

/// Begins each region. Positions count bytes from the region's first; in queues and rings they go on when the memory
/// begins anew, so that a byte lies at its position modulo the capacity.
struct RegionHeader {
  std::uint32_t magic;
  RegionKind kind;          ///< written last
  std::uint64_t bytes;      ///< of the region, this header included
  std::uint64_t thread_id;  ///< of queues and rings
  std::uint64_t head;       ///< end of what is written
  std::uint64_t first;      ///< of rings: where the oldest kept event begins
  std::uint64_t taken[2];   ///< end of what is in files, by the parity of the commit
};

/// Room between the beginning of a region and its content.
inline constexpr std::size_t region_content = 128;
static_assert(sizeof(RegionHeader) <= region_content);

/// What is in the six files.
struct Commit {
  std::array<std::uint64_t, num_file_kinds> file_bytes;
  std::uint64_t definitions;   ///< how many of the journal's definitions, counted from the process's first
  std::uint64_t source_files;  ///< records of the file source_files
};

/// The content of the first region.
struct LiveHeader {
  std::uint32_t version;
  std::uint32_t parity;  ///< which commit holds; changed last
  std::uint64_t process_id;
  std::int64_t ring;  ///< circular_buffer_size; 0 or less: everything is kept, in queues
  double alive;       ///< wall time at which the recording was last seen alive, in seconds
  Commit commits[2];
  std::uint32_t switched_off;  ///< written by others, 0 or 1: nothing is to be recorded for now
  std::uint32_t obeyed;        ///< what of it the recording has followed
};

/// An event as a thread leaves it, without checksum and without its code location, whose frames are resolved later. The
/// bytes behind it: the message's fields before the code location, those after it, the extension field.
struct LiveEvent {
  double wall_time;
  std::uint32_t before_bytes;
  std::uint32_t after_bytes;
  std::uint32_t extension_bytes;
  std::uint32_t stack;
  std::uint32_t is_execution;
  std::uint32_t sequence;  ///< counts a thread's events

  /// Where the parts of the content end.
  void set_parts(std::size_t before, std::size_t message, std::size_t all) noexcept {
    before_bytes = static_cast<std::uint32_t>(before);
    after_bytes = static_cast<std::uint32_t>(message - before);
    extension_bytes = static_cast<std::uint32_t>(all - message);
  }
  [[nodiscard]] std::size_t content_bytes() const noexcept {
    return std::size_t{before_bytes} + after_bytes + extension_bytes;
  }
};

/// The number of no stack.
inline constexpr std::uint32_t no_stack = 0xffffffffu;

/// Length of an entry of a queue or ring: its own length in 8 bytes (0: the rest of the region is not used), a
/// LiveEvent, the content, and zeros up to a multiple of 8.
constexpr std::size_t entry_bytes(std::size_t content_bytes) noexcept {
  return (sizeof(std::uint64_t) + sizeof(LiveEvent) + content_bytes + 7) / 8 * 8;
}

/// Entries of a journal: JournalEntry, then its texts one after another.
enum class JournalKind : std::uint32_t {
  definition = 1,  ///< texts: the message before and behind its code location
  stack = 2,       ///< texts: file and function of the line that names the op
  location = 3,    ///< texts: the field code_location, encoded, whose frames are in the files
};
struct JournalEntry {
  std::uint32_t bytes;  ///< of the entry, a multiple of 8
  JournalKind kind;
  std::uint64_t number;      ///< of a definition, from the process's first; of a stack
  double wall_time;          ///< of a definition
  std::uint32_t event_kind;  ///< of a definition
  std::uint32_t stack;       ///< of a definition; no_stack: none
  std::int32_t line;         ///< of a stack
  std::uint32_t text_bytes[2];
};

/// The framed record of a definition: its message is `before`, `location` and `after`.
inline void append_record(std::string& to, double wall_time, EventKind kind, std::string_view before,
                          std::string_view location, std::string_view after) {
  append_record_of(to, [&](WireWriter& w) {
    w.field(tags::DebugEvent::wall_time, wall_time);
    w.tag(kind, WireType::length_delimited);
    w.varint(before.size() + location.size() + after.size());
    w.raw(before);
    w.raw(location);
    w.raw(after);
  });
}

/// The framed record of an event as queues and rings keep it, with its code location, encoded, if it has one.
inline void append_record(std::string& to, const LiveEvent& event, std::string_view content,
                          std::string_view location) {
  constexpr std::size_t around = 32;  // bytes of the fields before the message
  const auto write = [&](WireWriter& w) {
    const std::size_t message = std::size_t{event.before_bytes} + event.after_bytes + location.size();
    w.field(tags::DebugEvent::wall_time, event.wall_time);
    w.tag(event.is_execution != 0 ? EventKind::execution : EventKind::graph_execution_trace,
          WireType::length_delimited);
    w.varint(message);
    const std::size_t first = location.empty() ? content.size() : event.before_bytes;
    w.raw(content.substr(0, first));
    w.raw(location);
    w.raw(content.substr(first));
  };
  append_record_of(to, write, around + content.size() + location.size());
}

}  // namespace nanlens::inline NANLENS_ABI::logdir::live
