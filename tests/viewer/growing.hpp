/// @file
/// A logdir that is there in parts.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include <nanlens/reader/reader.hpp>

#include "engine/engine.hpp"

namespace nanlens::test {

/// Holds its files in memory: of the events a tenth or more.
class Growing {
 public:
  using Files = std::map<std::string, std::string>;

  explicit Growing(Files files) : files_(std::move(files)) {}
  viewer::OpenStorage open() {
    return [this](const std::string&, std::string&) {
      auto storage = std::make_unique<reader::MemoryStorage>();
      memory_ = storage.get();
      for (const auto& [name, bytes] : files_) memory_->put(name, bytes.substr(0, cut(name, 2)));
      return storage;
    };
  }
  /// Up to `tenths` of the events.
  void grow(std::size_t from, std::size_t to) {
    for (const auto& [name, bytes] : files_)
      memory_->append(name, bytes.substr(cut(name, from), cut(name, to) - cut(name, from)));
  }

 private:
  // Of the definitions, most are there from the beginning, but some come late.
  [[nodiscard]] std::size_t cut(const std::string& name, std::size_t tenths) const {
    const std::size_t size = files_.at(name).size();
    if (name.ends_with("execution") || name.ends_with("traces")) return size * tenths / 10;
    return name.ends_with("graphs") ? size * (tenths + 30) / 40 : size;
  }

  Files files_;
  reader::MemoryStorage* memory_ = nullptr;
};

}  // namespace nanlens::test
