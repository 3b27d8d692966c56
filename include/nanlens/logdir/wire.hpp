/// @file
/// The protobuf wire format, as much of it as the logdir needs: a writer that appends to a string, and a reader that is
/// bounded against hostile input. Neither throws. Source: the protobuf encoding documentation.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include <nanlens/config.hpp>
#include <nanlens/logdir/limits.hpp>
#include <nanlens/logdir/tfrecord.hpp>

namespace nanlens::inline NANLENS_ABI::logdir {

enum class WireType : std::uint8_t { varint = 0, fixed64 = 1, length_delimited = 2, fixed32 = 5 };

/// The number of a field. It is made of a tag (see tags.hpp), never of a bare integer.
class FieldNumber {
 public:
  template <class Tag>
    requires std::is_same_v<std::underlying_type_t<Tag>, std::uint32_t>
  constexpr FieldNumber(Tag tag) noexcept : number_(static_cast<std::uint32_t>(tag)) {}
  [[nodiscard]] constexpr std::uint32_t value() const noexcept { return number_; }

 private:
  std::uint32_t number_;
};

/// What stands before a field's value, not yet as a varint.
constexpr std::uint32_t tag_of(FieldNumber number, WireType type) noexcept {
  return number.value() << 3 | static_cast<std::uint32_t>(type);
}

/// Bytes that a number takes as a varint.
constexpr std::size_t varint_size(std::uint64_t value) noexcept {
  return (static_cast<std::size_t>(std::bit_width(value | 1)) + 6) / 7;
}

/// Writes a varint; returns the position behind it. Needs up to 10 bytes of room.
inline unsigned char* write_varint(unsigned char* p, std::uint64_t value) noexcept {
  while (value >= 0x80) {
    *p++ = static_cast<unsigned char>(value | 0x80);
    value >>= 7;
  }
  *p++ = static_cast<unsigned char>(value);
  return p;
}

/// Bytes that a number takes at most as a field, or what stands before a text, where the field's number is below 2^11.
inline constexpr std::size_t most_field_bytes = 12;

/// Writes a number as a field, or nothing for 0; returns the position behind it.
NANLENS_INLINE unsigned char* write_field(unsigned char* p, FieldNumber number, std::uint64_t value) noexcept {
  return value == 0 ? p : write_varint(write_varint(p, tag_of(number, WireType::varint)), value);
}
/// Writes what stands before a text or message of this length; returns the position behind it.
NANLENS_INLINE unsigned char* write_length(unsigned char* p, FieldNumber number, std::size_t length) noexcept {
  return write_varint(write_varint(p, tag_of(number, WireType::length_delimited)), length);
}

/// Memory for one message after another: it is never made smaller, so that the next one costs nothing.
class WireScratch {
 public:
  /// What was written last.
  [[nodiscard]] std::string_view view() const noexcept { return {bytes_.data(), size_}; }

 private:
  friend class WireWriter;
  std::string bytes_;
  std::size_t size_ = 0;
};

/// Appends protobuf fields to a string. The `field` functions leave out default values, as proto3 does.
///
/// While a writer lives, the string is longer than what has been written: each field then costs a comparison and a few
/// stores. The string has its right size again when the writer is destroyed; until then nothing else may touch it.
class WireWriter {
 public:
  explicit WireWriter(std::string& out) noexcept : out_(out), size_(out.size()), start_(out.size()) {}
  /// Writes over what the scratch holds.
  explicit WireWriter(WireScratch& scratch) noexcept : out_(scratch.bytes_), scratch_(&scratch), size_(0), start_(0) {}
  WireWriter(const WireWriter&) = delete;
  WireWriter& operator=(const WireWriter&) = delete;
  ~WireWriter() {
    if (scratch_ != nullptr)
      scratch_->size_ = size_;
    else
      out_.resize(size_);
  }

  /// Makes room for so many bytes at once.
  void expect(std::size_t bytes) { room(bytes); }
  /// Bytes written by this writer so far.
  [[nodiscard]] std::size_t size() const noexcept { return size_ - start_; }
  /// The bytes written by this writer, from `offset` on; valid until the next write.
  [[nodiscard]] unsigned char* at(std::size_t offset) noexcept {
    return reinterpret_cast<unsigned char*>(out_.data()) + start_ + offset;
  }

  NANLENS_INLINE void varint(std::uint64_t value) {
    unsigned char* const p = room(longest_varint);
    size_ += static_cast<std::size_t>(put_varint(p, value) - p);
  }
  NANLENS_INLINE void tag(FieldNumber number, WireType type) { varint(tag_of(number, type)); }
  /// Bytes as they are: fields encoded before.
  NANLENS_INLINE void raw(std::string_view bytes) {
    if (bytes.empty()) return;  // memcpy takes no null pointer
    std::memcpy(room(bytes.size()), bytes.data(), bytes.size());
    size_ += bytes.size();
  }
  /// What `put(unsigned char*)` writes, which returns the position behind it: up to `most` bytes.
  template <class Put>
  NANLENS_INLINE void put(std::size_t most, Put&& put) {
    unsigned char* const p = room(most);
    size_ += static_cast<std::size_t>(put(p) - p);
  }
  /// A number of 4 or 8 bytes, without a tag.
  template <class Word>
  NANLENS_INLINE void fixed(Word value) {
    detail::store_le(room(sizeof value), value);
    size_ += sizeof value;
  }

  /// int32, int64, uint64, bool and enum fields (negative numbers take ten bytes, as in protobuf).
  NANLENS_INLINE void field(FieldNumber number, std::int64_t value) {
    if (value == 0) return;
    unsigned char* const p = room(2 * longest_varint);
    unsigned char* const after =
        put_varint(put_varint(p, tag_of(number, WireType::varint)), static_cast<std::uint64_t>(value));
    size_ += static_cast<std::size_t>(after - p);
  }
  NANLENS_INLINE void field(FieldNumber number, double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);  // −0.0 is not the default
    if (bits == 0) return;
    tag(number, WireType::fixed64);
    fixed(bits);
  }
  NANLENS_INLINE void field(FieldNumber number, std::string_view value) {
    if (!value.empty()) element(number, value);
  }
  void fixed64_field(FieldNumber number, std::uint64_t value) {
    if (value == 0) return;
    tag(number, WireType::fixed64);
    fixed(value);
  }
  /// An element of a repeated string, bytes or message field: written even when empty.
  NANLENS_INLINE void element(FieldNumber number, std::string_view value) {
    unsigned char* const p = room(2 * longest_varint + value.size());
    unsigned char* const at = put_varint(put_varint(p, tag_of(number, WireType::length_delimited)), value.size());
    if (!value.empty()) std::memcpy(at, value.data(), value.size());  // memcpy takes no null pointer
    size_ += static_cast<std::size_t>(at - p) + value.size();
  }
  /// A packed repeated field of varints, framed like a message; nothing if the list is empty.
  template <class T>
  void packed(FieldNumber number, std::span<const T> values) {
    if (values.empty()) return;
    message(number, [&](WireWriter& w) {
      for (const T v : values) w.varint(as_varint(v));
    });
  }
  /// A packed repeated field of float or double.
  template <class T>
  void packed_fixed(FieldNumber number, std::span<const T> values) {
    if (values.empty()) return;
    using Word = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    tag(number, WireType::length_delimited);
    varint(values.size() * sizeof(T));
    for (const T v : values) fixed(std::bit_cast<Word>(v));
  }
  /// A message field: `write(WireWriter&)` writes its fields. Written even when empty.
  template <class Write>
  NANLENS_INLINE void message(FieldNumber number, Write&& write) {
    const std::size_t length_at = begin_message(number);
    write(*this);
    end_message(length_at);
  }

 private:
  static constexpr std::size_t longest_varint = 10;
  static constexpr std::size_t spare_bytes = 192;

  template <class T>
  static std::uint64_t as_varint(T value) noexcept {
    if constexpr (std::is_unsigned_v<T>)
      return value;
    else
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  }
  std::size_t begin_message(FieldNumber number) {
    tag(number, WireType::length_delimited);
    const std::size_t length_at = size();
    varint(0);
    return length_at;
  }
  // The length goes before the content, whose size is known only now. Most messages need the one byte kept for it.
  void end_message(std::size_t length_at) {
    const std::size_t length = size() - length_at - 1;
    if (const std::size_t more = varint_size(length) - 1; more != 0) {
      room(more);
      std::memmove(at(length_at + 1 + more), at(length_at + 1), length);
      size_ += more;
    }
    write_varint(at(length_at), length);
  }
  // Most take one byte; of a tag the compiler knows it.
  NANLENS_INLINE static unsigned char* put_varint(unsigned char* p, std::uint64_t value) noexcept {
    if (value >= 0x80) return write_varint(p, value);
    *p = static_cast<unsigned char>(value);
    return p + 1;
  }
  // Where the next bytes go; there is room for `bytes` of them.
  NANLENS_INLINE unsigned char* room(std::size_t bytes) {
    if (out_.size() - size_ < bytes) [[unlikely]]
      out_.resize(size_ + bytes + spare_bytes);
    return reinterpret_cast<unsigned char*>(out_.data()) + size_;
  }

  std::string& out_;
  WireScratch* scratch_ = nullptr;
  std::size_t size_;   // of the string, what is written
  std::size_t start_;  // where this writer began
};

/// Appends one framed record to `out`, whose payload `write(WireWriter&)` writes: of some `expected` bytes, if known.
template <class Write>
void append_record_of(std::string& out, Write&& write, std::size_t expected = 0) {
  WireWriter w(out);
  w.expect(record_overhead + expected);
  w.fixed(std::uint64_t{0});
  w.fixed(std::uint32_t{0});
  write(w);
  const std::size_t length = w.size() - record_header_bytes;
  write_record_header(w.at(0), length);
  w.fixed(masked_crc32c(w.at(record_header_bytes), length));
}

/// Reads the fields of one message. `next()` moves to the next field; the value functions then read it. Malformed input
/// ends the loop and sets `failed()`; values are never read past the end. Groups are not part of proto3 and count as
/// malformed.
class WireReader {
 public:
  explicit WireReader(Bytes message) noexcept : p_(message.data()), end_(message.data() + message.size()) {}

  /// Moves to the next field; false at the end of the message or at malformed bytes.
  bool next() noexcept {
    if (failed_ || p_ == end_) return false;
    const std::uint64_t tag = read_varint();
    number_ = static_cast<std::uint32_t>(tag >> 3);
    type_ = static_cast<WireType>(tag & 7);
    value_ = 0;
    bytes_ = {};
    if (failed_ || number_ == 0 || tag >> 32 != 0) return fail();
    switch (type_) {
      case WireType::varint: value_ = read_varint(); return !failed_;
      case WireType::fixed64: return take_fixed(8);
      case WireType::fixed32: return take_fixed(4);
      case WireType::length_delimited: {
        const std::uint64_t size = read_varint();
        if (failed_ || size > static_cast<std::uint64_t>(end_ - p_)) return fail();
        bytes_ = {p_, static_cast<std::size_t>(size)};
        p_ += size;
        return true;
      }
    }
    return fail();
  }

  [[nodiscard]] bool failed() const noexcept { return failed_; }
  /// The field's number as one of its message's; a number that the message doesn't have equals none of its tags.
  template <class Tag>
  [[nodiscard]] Tag tag() const noexcept {
    return static_cast<Tag>(number_);
  }
  [[nodiscard]] WireType type() const noexcept { return type_; }
  [[nodiscard]] bool is(FieldNumber number) const noexcept { return number_ == number.value(); }
  /// Number and type at once. A known number with another type is skipped, as protobuf does.
  [[nodiscard]] bool is(FieldNumber number, WireType type) const noexcept { return is(number) && type_ == type; }

  [[nodiscard]] std::uint64_t u64() const noexcept { return value_; }
  [[nodiscard]] std::int64_t i64() const noexcept { return static_cast<std::int64_t>(value_); }
  [[nodiscard]] std::int32_t i32() const noexcept {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(value_));
  }
  [[nodiscard]] double f64() const noexcept { return std::bit_cast<double>(value_); }
  [[nodiscard]] Bytes bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::string_view text() const noexcept {
    return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()};
  }

  /// Appends a repeated varint field to `out`, packed or one element at a time, until that has `most` elements.
  template <class List>
  void append_to(List& out, std::size_t most = limits::elements) {
    using T = typename List::value_type;
    if (type_ == WireType::varint && out.size() < most) out.push_back(static_cast<T>(value_));
    if (type_ != WireType::length_delimited) return;
    WireReader packed(bytes_);
    while (packed.p_ != packed.end_ && out.size() < most) {
      const std::uint64_t value = packed.read_varint();
      if (packed.failed_) {
        failed_ = true;
        return;
      }
      out.push_back(static_cast<T>(value));
    }
  }
  /// Appends a repeated float or double field to `out`, packed or one element at a time, until that has `most`
  /// elements.
  template <class List>
  void append_fixed_to(List& out, std::size_t most = limits::listed_values) {
    using T = typename List::value_type;
    using Word = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    constexpr WireType single = sizeof(T) == 4 ? WireType::fixed32 : WireType::fixed64;
    if (type_ == single && out.size() < most) out.push_back(std::bit_cast<T>(static_cast<Word>(value_)));
    if (type_ != WireType::length_delimited) return;
    if (bytes_.size() % sizeof(T) != 0) failed_ = true;
    for (std::size_t i = 0; i + sizeof(T) <= bytes_.size() && out.size() < most; i += sizeof(T))
      out.push_back(std::bit_cast<T>(detail::load_le<Word>(bytes_.data() + i)));
  }

 private:
  bool fail() noexcept {
    failed_ = true;
    return false;
  }
  bool take_fixed(std::ptrdiff_t size) noexcept {
    if (end_ - p_ < size) return fail();
    value_ = size == 8 ? detail::load_le<std::uint64_t>(p_) : detail::load_le<std::uint32_t>(p_);
    p_ += size;
    return true;
  }
  std::uint64_t read_varint() noexcept {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (p_ == end_) break;
      const unsigned char byte = *p_++;
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    failed_ = true;
    return 0;
  }

  const unsigned char* p_;
  const unsigned char* end_;
  std::uint64_t value_ = 0;
  Bytes bytes_;
  std::uint32_t number_ = 0;
  WireType type_ = WireType::varint;
  bool failed_ = false;
};

}  // namespace nanlens::inline NANLENS_ABI::logdir
