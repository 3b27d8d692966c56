/// @file
/// Bytes as text, a part at a time (RFC 4648, section 4).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace nanlens::share {

/// Base64 of what is added, in any parts; `finish` pads the end.
class Base64 {
 public:
  /// The text that these bytes complete.
  std::string add(std::string_view bytes) {
    std::string out;
    out.reserve((bytes.size() + 2) / 3 * 4);
    for (const char c : bytes) {
      pending_ = pending_ << 8 | static_cast<unsigned char>(c);
      if (++num_pending_ == 3) put(out, 4);
    }
    return out;
  }
  std::string finish() {
    std::string out;
    if (num_pending_ == 0) return out;
    const int characters = num_pending_ + 1;
    pending_ <<= 8 * (3 - num_pending_);
    put(out, characters);
    return out.append(static_cast<std::size_t>(4 - characters), '=');
  }

 private:
  void put(std::string& out, int characters) {
    constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (int i = 0; i < characters; ++i) out += digits[pending_ >> (18 - 6 * i) & 63];
    pending_ = 0;
    num_pending_ = 0;
  }

  std::uint32_t pending_ = 0;
  int num_pending_ = 0;
};

}  // namespace nanlens::share
