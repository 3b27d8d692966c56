/// @file
/// A place with files, with what recordings have left in their memory behind the ends of their files.
#pragma once

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nanlens/reader/live_set.hpp>
#include <nanlens/reader/storage.hpp>

namespace nanlens::reader {

/// One file of a set: what its process has finished of it, and what it has left.
class LiveSource final : public ByteSource {
 public:
  LiveSource(std::unique_ptr<ByteSource> file, std::shared_ptr<const LiveSet> set, FileKind kind)
      : file_(std::move(file)), set_(std::move(set)), kind_(kind) {}
  std::uint64_t size() override;
  std::size_t read(std::uint64_t offset, unsigned char* to, std::size_t count) override;
  std::string error() override { return file_->error(); }

 private:
  std::uint64_t file_bytes() { return std::min(file_->size(), set_->bytes_of(kind_)); }

  std::unique_ptr<ByteSource> file_;
  std::shared_ptr<const LiveSet> set_;
  FileKind kind_;
};

/// Shows recordings whole: those whose process died before it had written everything, and rings while they live.
class LiveStorage final : public Storage {
 public:
  explicit LiveStorage(std::unique_ptr<Storage> files) : files_(std::move(files)) {}

  bool prepare(const Progress& progress) override;
  std::vector<std::string> list(std::string_view prefix = {}) override;
  [[nodiscard]] Fault fault() const override;
  std::optional<bool> in_use(const std::string& name) override;
  std::unique_ptr<ByteSource> open(const std::string& name, std::string& why) override;
  /// The set of a common path; null if none of its files was opened and nothing was left of it.
  [[nodiscard]] const LiveSet* find(const std::string& stem) const;

 private:
  struct Set {
    std::shared_ptr<LiveSet> set;
    bool seen = false;  // its memory has a file
  };
  Set& set_of(const std::string& stem);
  OpenFile opener(const std::string& stem);
  void look(const std::string& stem);
  void leave(const std::string& stem, Set& set);

  std::unique_ptr<Storage> files_;
  std::map<std::string, Set> sets_;
};

}  // namespace nanlens::reader

#if !defined(NANLENS_SPLIT)
#include <nanlens/reader/live_storage.inl>
#endif
