/// @file
/// What a recording has left in memory (logdir/live_format.hpp), as it is found in its file. Nothing in it is believed:
/// what does not fit is left out.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
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
  bool begin(ByteSource& file);
  /// Reads all regions.
  void read(ByteSource& file);
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

  void read_region(ByteSource& file, std::uint64_t at, const live::RegionHeader& region);

  void read_entries(const std::string& content, const live::RegionHeader& region, std::uint64_t from, bool ring);

  void read_journal(const std::string& content, std::uint64_t head);

  void note(const live::JournalEntry& entry, std::string_view first, std::string_view second);
};

}  // namespace nanlens::reader

#if !defined(NANLENS_SPLIT)
#include <nanlens/reader/live_regions.inl>
#endif
