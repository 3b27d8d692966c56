/// @file
/// A real logdir, edited as a fuzzer's bytes say: whatever they are, they are a list of edits, so that almost every
/// input is a logdir that is read deep into.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include <nanlens/logdir/file_set.hpp>
#include <nanlens/reader/storage.hpp>

#include "../support/logdir_generator.hpp"
#include "records.hpp"

namespace nanlens::fuzz {

/// Payloads of the six files of a set.
using FileSet = std::array<std::vector<std::string>, logdir::num_file_kinds>;

/// The beginnings of golden logdirs of TensorFlow, and one with the structure of nanlens' own.
inline const std::vector<FileSet>& base_sets() {
  static const std::vector<FileSet> sets = [] {
    constexpr std::size_t most_records = 48;
    std::vector<FileSet> found(1);
    std::array<std::string, logdir::num_file_kinds> generated;
    test::LogdirGenerator({.calls = 4, .ops_per_graph = 6, .bad_every = 5}, [&](logdir::FileKind kind,
                                                                                const std::string& bytes) {
      generated[static_cast<std::size_t>(kind)] += bytes;
    }).run();
    std::string rest;
    for (std::size_t i = 0; i < logdir::num_file_kinds; ++i) found[0][i] = split_records(generated[i], rest);
    std::vector<std::filesystem::path> directories;
    for (const auto& entry : std::filesystem::directory_iterator(NANLENS_GOLDEN_DIR))
      if (entry.is_directory()) directories.push_back(entry.path());
    std::sort(directories.begin(), directories.end());
    for (const auto& directory : directories) {
      FileSet& set = found.emplace_back();
      for (const auto& entry : std::filesystem::directory_iterator(directory)) {
        std::string stem;
        logdir::FileKind kind{};
        if (!logdir::parse_file_name(entry.path().filename().string(), stem, kind)) continue;
        std::ifstream file(entry.path(), std::ios::binary);
        const std::string bytes{std::istreambuf_iterator<char>(file), {}};
        auto& payloads = set[static_cast<std::size_t>(kind)] = split_records(bytes, rest);
        if (payloads.size() > most_records) payloads.resize(most_records);
      }
    }
    return found;
  }();
  return sets;
}

/// Takes numbers from a fuzzer's bytes; zeros when they end.
class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : data_(data), left_(size) {}
  [[nodiscard]] bool empty() const noexcept { return left_ == 0; }
  std::uint8_t byte() {
    if (left_ == 0) return 0;
    --left_;
    return *data_++;
  }
  std::size_t number(std::size_t below) {
    const std::size_t value = std::size_t{byte()} << 8 | byte();
    return below == 0 ? 0 : value % below;
  }
  std::string text() {
    std::string out;
    for (std::size_t n = number(24); n > 0 && left_ > 0; --n) out += static_cast<char>(byte());
    return out;
  }

 private:
  const std::uint8_t* data_;
  std::size_t left_;
};

namespace detail {

inline void edit_payload(std::string& payload, Bytes& input) {
  const std::size_t at = input.number(payload.size() + 1);
  switch (input.byte() % 5) {
    case 0: payload.insert(at, input.text()); break;
    case 1: payload.erase(at, input.number(32)); break;
    case 2: payload.replace(at, std::min<std::size_t>(8, payload.size() - at), input.text()); break;
    case 3: payload.resize(at); break;
    default:
      if (at < payload.size()) payload[at] = static_cast<char>(input.byte());
  }
}

inline void edit_records(FileSet& set, Bytes& input) {
  auto& records = set[input.byte() % set.size()];
  const std::size_t one = input.number(records.size());
  const auto at = records.begin() + static_cast<std::ptrdiff_t>(one);
  switch (input.byte() % 8) {
    case 0:
      if (!records.empty()) records.erase(at);
      break;
    case 1:
      if (!records.empty()) std::swap(records[one], records[input.number(records.size())]);
      break;
    case 2:
      if (!records.empty() && records.size() < 200) records.insert(at, 1 + input.number(8), std::string(records[one]));
      break;
    case 3: {
      const FileSet& other = base_sets()[input.byte() % base_sets().size()];
      const auto& from = other[input.byte() % other.size()];
      if (!from.empty() && records.size() < 200) records.insert(at, from[input.number(from.size())]);
      break;
    }
    default:
      if (!records.empty()) edit_payload(records[one], input);
  }
}

inline void put_set(reader::MemoryStorage& storage, const FileSet& set, const std::string& host,
                    const std::function<void(std::string&)>& edit_file) {
  const std::string stem = logdir::file_set_stem(1, host);
  for (std::size_t i = 0; i < set.size(); ++i) {
    std::string bytes;
    for (const std::string& payload : set[i]) append_record(bytes, payload);
    edit_file(bytes);
    storage.put(logdir::file_name(stem, static_cast<logdir::FileKind>(i)), std::move(bytes));
  }
}

}  // namespace detail

/// What a file holds.
inline std::string bytes_of_file(reader::Storage& files, const std::string& name) {
  std::string why;
  const auto file = files.open(name, why);
  std::string bytes(static_cast<std::size_t>(file->size()), '\0');
  file->read(0, reinterpret_cast<unsigned char*>(bytes.data()), bytes.size());
  return bytes;
}

/// A logdir of one host, as its set is.
inline std::unique_ptr<reader::MemoryStorage> storage_of(const FileSet& set) {
  auto storage = std::make_unique<reader::MemoryStorage>();
  detail::put_set(*storage, set, "host0", [](std::string&) {});
  return storage;
}

/// The logdir: one or two hosts, with checksums that are right but where an edit is to the file's bytes.
inline std::unique_ptr<reader::MemoryStorage> edited_logdir(Bytes& input) {
  auto storage = std::make_unique<reader::MemoryStorage>();
  const std::uint8_t how = input.byte();
  const std::size_t hosts = (how & 1) != 0 ? 2 : 1;
  for (std::size_t host = 0; host < hosts; ++host) {
    FileSet set = base_sets()[input.byte() % base_sets().size()];
    for (std::size_t edits = input.number(12); edits > 0 && !input.empty(); --edits) detail::edit_records(set, input);
    detail::put_set(*storage, set, "host" + std::to_string(host), [&](std::string& bytes) {
      if ((how & 2) != 0 && input.byte() % 4 == 0) detail::edit_payload(bytes, input);
    });
  }
  return storage;
}

}  // namespace nanlens::fuzz
