/// @file
/// A directory on disk as a place with files.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nanlens/logdir/limits.hpp>
#include <nanlens/reader/storage.hpp>

namespace nanlens::reader {

/// A directory on disk. Sub-directories are followed four levels deep; links to directories are not. One with very many
/// entries is not looked at again at once: what it held then is still answered (limits.hpp).
class DirectoryStorage final : public Storage {
 public:
  using Clock = std::chrono::steady_clock;

  explicit DirectoryStorage(std::string path);
  std::vector<std::string> list(std::string_view prefix = {}) override;
  std::unique_ptr<ByteSource> open(const std::string& name, std::string& why) override;
  std::optional<bool> in_use(const std::string& name) override;
  [[nodiscard]] Fault fault() const override;
  /// How often the directory was looked at, and the entries that the last look visited.
  [[nodiscard]] std::size_t looks() const noexcept { return looks_; }
  [[nodiscard]] std::size_t visited() const noexcept { return visited_; }

 private:
  void collect(std::string& below, int levels);
  [[nodiscard]] unsigned char type_of(const std::string& name, bool is_link) const;

  std::string path_;
  std::string prefix_;
  std::vector<std::string> names_;
  std::size_t visited_ = 0;
  std::size_t looks_ = 0;
  Clock::time_point looked_at_;
};

}  // namespace nanlens::reader

#if !defined(NANLENS_SPLIT)
#include <nanlens/reader/directory_storage.inl>
#endif
