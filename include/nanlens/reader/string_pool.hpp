/// @file
/// Strings kept once, and referred to by number.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace nanlens::reader {

class StringPool {
 public:
  /// The number of a string; it is added if it is new. 0 is the empty string.
  std::uint32_t add(std::string_view text) {
    const auto found = numbers_.find(text);
    if (found != numbers_.end()) return found->second;
    strings_.emplace_back(text);
    const auto number = static_cast<std::uint32_t>(strings_.size());
    numbers_.emplace(strings_.back(), number);
    return number;
  }
  /// The number of a string; `none_such` if it was never added.
  [[nodiscard]] std::uint32_t find(std::string_view text) const {
    const auto found = numbers_.find(text);
    return found == numbers_.end() ? none_such : found->second;
  }
  static constexpr std::uint32_t none_such = 0xffffffffu;
  [[nodiscard]] std::string_view operator[](std::uint32_t number) const noexcept {
    return number == 0 ? std::string_view{} : std::string_view(strings_[number - 1]);
  }
  /// How many there are, without the empty one.
  [[nodiscard]] std::size_t size() const noexcept { return strings_.size(); }
  StringPool() { numbers_.emplace(std::string_view{}, 0); }

 private:
  std::deque<std::string> strings_;  // never moves its elements, so the keys below stay valid
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
};

}  // namespace nanlens::reader
