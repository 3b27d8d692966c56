/// @file
/// The order of many keys, in a time that grows as their number does, whatever order they come in.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace nanlens::reader {

/// Places of the keys from the least to the greatest; of equal ones, the first place first. A radix sort from the
/// lowest byte on; bytes that all keys share cost nothing.
[[nodiscard]] inline std::vector<std::size_t> places_in_order(const std::vector<std::uint64_t>& keys) {
  struct Item {
    std::uint64_t key;
    std::size_t place;
  };
  constexpr std::size_t bytes = sizeof(std::uint64_t);
  const auto byte_of = [](std::uint64_t key, std::size_t byte) {
    return static_cast<std::size_t>((key >> (8 * byte)) & 0xff);
  };
  std::array<std::array<std::size_t, 256>, bytes> counts{};
  std::vector<Item> items(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    items[i] = {keys[i], i};
    for (std::size_t byte = 0; byte < bytes; ++byte) ++counts[byte][byte_of(keys[i], byte)];
  }
  std::vector<Item> moved(items.size());
  for (std::size_t byte = 0; byte < bytes; ++byte) {
    auto& next = counts[byte];  // where the next key with this value of the byte goes
    if (keys.empty() || next[byte_of(keys[0], byte)] == keys.size()) continue;
    std::size_t before = 0;
    for (std::size_t& value : next) before += std::exchange(value, before);
    for (const Item& item : items) moved[next[byte_of(item.key, byte)]++] = item;
    items.swap(moved);
  }
  std::vector<std::size_t> places(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) places[i] = items[i].place;
  return places;
}

}  // namespace nanlens::reader
