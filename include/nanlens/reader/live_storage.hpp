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
  std::uint64_t size() override { return file_bytes() + set_->tail_of(kind_).size(); }
  std::size_t read(std::uint64_t offset, unsigned char* to, std::size_t count) override {
    const std::string& tail = set_->tail_of(kind_);
    if (tail.empty() && offset + count <= set_->bytes_of(kind_)) return file_->read(offset, to, count);
    const std::uint64_t bytes = file_bytes();
    std::size_t done = 0;
    if (offset < bytes) {
      const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(count, bytes - offset));
      done = file_->read(offset, to, wanted);
      if (done < wanted) return done;
    }
    if (done == count || offset + done < bytes || offset + done - bytes >= tail.size()) return done;
    const auto from = static_cast<std::size_t>(offset + done - bytes);
    const std::size_t n = std::min(count - done, tail.size() - from);
    std::memcpy(to + done, tail.data() + from, n);
    return done + n;
  }
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

  bool prepare(const Progress& progress) override { return files_->prepare(progress); }
  std::vector<std::string> list(std::string_view prefix = {}) override {
    std::vector<std::string> names = files_->list(prefix);
    for (const std::string& name : names)
      if (name.ends_with(live::suffix)) look(name.substr(0, name.size() - live::suffix.size()));
    for (auto& [stem, set] : sets_)
      if (set.seen && !std::binary_search(names.begin(), names.end(), stem + std::string(live::suffix)))
        leave(stem, set);
    return names;
  }
  [[nodiscard]] Fault fault() const override {
    for (const auto& [stem, set] : sets_)
      if (set.set->truncated())
        return {FaultId::much_in_memory, {{"name", stem + std::string(live::suffix)}, {"n", limits::live_bytes >> 20}}};
    return files_->fault();
  }
  std::optional<bool> in_use(const std::string& name) override { return files_->in_use(name); }
  std::unique_ptr<ByteSource> open(const std::string& name, std::string& why) override {
    auto file = files_->open(name, why);
    const std::size_t directory = name.rfind('/') + 1;  // 0 if there is none
    std::string stem;
    FileKind kind{};
    if (file == nullptr || !logdir::parse_file_name(std::string_view(name).substr(directory), stem, kind)) return file;
    return std::make_unique<LiveSource>(std::move(file), set_of(name.substr(0, directory) + stem).set, kind);
  }
  /// The set of a common path; null if none of its files was opened and nothing was left of it.
  [[nodiscard]] const LiveSet* find(const std::string& stem) const {
    const auto found = sets_.find(stem);
    return found == sets_.end() ? nullptr : found->second.set.get();
  }

 private:
  struct Set {
    std::shared_ptr<LiveSet> set;
    bool seen = false;  // its memory has a file
  };
  Set& set_of(const std::string& stem) {
    Set& set = sets_[stem];
    if (set.set == nullptr) {
      const std::size_t dot = stem.find('.', stem.rfind('/') + 1 + logdir::file_prefix.size());
      set.set = std::make_shared<LiveSet>(dot == std::string::npos ? std::string{} : stem.substr(dot + 1));
    }
    return set;
  }
  auto opener(const std::string& stem) {
    return [this, stem](FileKind kind) {
      std::string why;
      return files_->open(logdir::file_name(stem, kind), why);
    };
  }
  void look(const std::string& stem) {
    Set& set = set_of(stem);
    if (set.set->died()) return;  // it does not change any more
    const std::string name = stem + std::string(live::suffix);
    std::string why;
    if (const auto file = files_->open(name, why)) {
      set.seen = true;
      set.set->look(*file, files_->in_use(name), opener(stem));
    }
  }
  void leave(const std::string& stem, Set& set) {
    set.seen = false;
    set.set->gone(opener(stem));
  }

  std::unique_ptr<Storage> files_;
  std::map<std::string, Set> sets_;
};

}  // namespace nanlens::reader
