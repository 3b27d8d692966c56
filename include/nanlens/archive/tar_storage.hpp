/// @file
/// The files of a tar that can be read at any place.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nanlens/archive/tar.hpp>
#include <nanlens/reader/sort_stably.hpp>
#include <nanlens/reader/storage.hpp>

namespace nanlens::archive {

/// A part of another source.
class PartSource final : public reader::ByteSource {
 public:
  PartSource(std::shared_ptr<reader::ByteSource> whole, std::uint64_t offset, std::uint64_t size)
      : whole_(std::move(whole)), offset_(offset), size_(size) {}
  std::uint64_t size() override { return size_; }
  std::size_t read(std::uint64_t offset, unsigned char* to, std::size_t count) override {
    if (offset >= size_) return 0;
    return whole_->read(offset_ + offset, to, static_cast<std::size_t>(std::min<std::uint64_t>(count, size_ - offset)));
  }
  std::string error() override { return whole_->error(); }

 private:
  std::shared_ptr<reader::ByteSource> whole_;
  std::uint64_t offset_;
  std::uint64_t size_;
};

/// Of entries with the same name the last one counts, as when a tar is unpacked.
class TarStorage final : public reader::Storage {
 public:
  TarStorage(std::shared_ptr<reader::ByteSource> tar, std::vector<TarEntry> entries)
      : tar_(std::move(tar)), entries_(std::move(entries)) {
    const auto by_name = [](const TarEntry& a, const TarEntry& b) { return a.name < b.name; };
    reader::sort_stably(entries_, by_name);
    const auto same = [](const TarEntry& a, const TarEntry& b) { return a.name == b.name; };
    entries_.erase(entries_.begin(), std::unique(entries_.rbegin(), entries_.rend(), same).base());
  }
  std::vector<std::string> list(std::string_view prefix = {}) override {
    std::vector<std::string> names;
    for (const TarEntry& e : entries_)
      if (std::string_view(e.name).substr(e.name.rfind('/') + 1).starts_with(prefix)) names.push_back(e.name);
    return names;
  }
  std::unique_ptr<reader::ByteSource> open(const std::string& name, std::string& why) override {
    const auto found = std::lower_bound(entries_.begin(), entries_.end(), name,
                                        [](const TarEntry& e, const std::string& wanted) { return e.name < wanted; });
    if (found != entries_.end() && found->name == name)
      return std::make_unique<PartSource>(tar_, found->offset, found->size);
    why = "the archive has no such file";
    return nullptr;
  }

 private:
  std::shared_ptr<reader::ByteSource> tar_;
  std::vector<TarEntry> entries_;
};

}  // namespace nanlens::archive
