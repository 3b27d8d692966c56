/// @file
/// What events refer to, noted where it outlives the process: until the writer has put it into the files, and for
/// stacks until it has resolved their frames.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <nanlens/capture/live_file.hpp>
#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN detail {

/// Entries in regions of a LiveFile, one region after another. Used under the catalog's lock.
class LiveJournal {
 public:
  /// Begins empty, in memory of `file`; null: notes nothing.
  void attach(LiveFile* file) noexcept {
    file_ = file;
    region_ = nullptr;
  }

  void add_definition(std::uint64_t number, double wall_time, logdir::EventKind kind, std::uint32_t stack,
                      std::string_view before, std::string_view after) noexcept {
    live::JournalEntry entry{};
    entry.kind = live::JournalKind::definition;
    entry.number = number;
    entry.wall_time = wall_time;
    entry.event_kind = static_cast<std::uint32_t>(kind);
    entry.stack = stack;
    add(entry, {before, after});
  }
  /// A stack before its frames are known: the line that names the op.
  void add_stack(std::uint32_t number, std::string_view file, std::int32_t line, std::string_view function) noexcept {
    live::JournalEntry entry{};
    entry.kind = live::JournalKind::stack;
    entry.number = number;
    entry.line = line;
    add(entry, {file, function});
  }
  /// The code location of a stack, whose frames are in the files.
  void add_location(std::uint32_t number, std::string_view location) noexcept {
    live::JournalEntry entry{};
    entry.kind = live::JournalKind::location;
    entry.number = number;
    add(entry, {location, {}});
  }

 private:
  static constexpr std::size_t region_bytes = (std::size_t{128} << 10) - live::region_content;

  void add(live::JournalEntry entry, std::array<std::string_view, 2> texts) noexcept {
    if (file_ == nullptr) return;
    const std::size_t size = (sizeof entry + texts[0].size() + texts[1].size() + 7) / 8 * 8;
    if (region_ == nullptr || region_->head + size > capacity_of(region_))
      region_ = file_->allocate(RegionKind::journal, std::max(region_bytes, size), 0);
    if (region_ == nullptr) return;
    entry.bytes = static_cast<std::uint32_t>(size);
    for (std::size_t i = 0; i < texts.size(); ++i) entry.text_bytes[i] = static_cast<std::uint32_t>(texts[i].size());
    unsigned char* p = content_of(region_) + region_->head;
    std::memcpy(p, &entry, sizeof entry);
    p += sizeof entry;
    for (const std::string_view text : texts) p = std::copy(text.begin(), text.end(), p);
    shared(region_->head).store(region_->head + size, std::memory_order_release);
  }

  LiveFile* file_ = nullptr;
  RegionHeader* region_ = nullptr;
};

}  // namespace NANLENS_HIDDEN detail
}  // namespace nanlens::inline NANLENS_ABI
