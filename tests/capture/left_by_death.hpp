/// @file
/// What a recording leaves when its process dies, without killing the test.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nanlens/logdir/live_format.hpp>
#include <nanlens/reader/reader.hpp>

namespace nanlens::test {

inline std::string bytes_of(const std::filesystem::path& path) {
  std::string bytes(std::filesystem::file_size(path), '\0');
  std::ifstream(path, std::ios::binary).read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return bytes;
}

/// A recording as its process would leave it by dying now. The writer goes on meanwhile: the memory's file is read
/// first.
inline std::unique_ptr<reader::MemoryStorage> left_by_death(const std::string& logdir) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(logdir)) paths.push_back(entry.path());
  const auto is_memory = [](const auto& path) { return path.string().ends_with(logdir::live::suffix); };
  std::partition(paths.begin(), paths.end(), is_memory);
  auto storage = std::make_unique<reader::MemoryStorage>();
  for (const auto& path : paths) {
    std::string bytes = bytes_of(path);
    // A process that lives may write while it is copied: until a look after it sees the commits that it began with.
    for (std::string after; is_memory(path); bytes = std::move(after)) {
      after = bytes_of(path);
      if (bytes.compare(0, logdir::live::page_bytes, after, 0, logdir::live::page_bytes) == 0) break;
    }
    const double long_ago = 1;
    constexpr std::size_t alive = logdir::live::region_content + offsetof(logdir::live::LiveHeader, alive);
    if (is_memory(path)) std::memcpy(bytes.data() + alive, &long_ago, sizeof long_ago);
    storage->put(path.filename(), std::move(bytes));
  }
  return storage;
}

}  // namespace nanlens::test
