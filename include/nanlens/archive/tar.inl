// Part of tar.hpp: the bytes of headers.
#pragma once

#include <array>
#include <cstdio>
#include <cstring>

#include <nanlens/logdir/limits.hpp>

namespace nanlens::archive {

NANLENS_API bool is_safe_name(std::string_view name) noexcept {
  if (name.empty() || name.front() == '/' || name.find('\0') != std::string_view::npos) return false;
  while (!name.empty()) {
    const std::size_t slash = name.find('/');
    const std::string_view part = name.substr(0, slash);
    if (part.empty() || part == "." || part == "..") return false;
    name = slash == std::string_view::npos ? std::string_view{} : name.substr(slash + 1);
    if (slash != std::string_view::npos && name.empty()) return false;
  }
  return true;
}

namespace detail {

inline void put_octal(char* field, std::size_t width, std::uint64_t value) noexcept {
  std::snprintf(field, width, "%0*llo", static_cast<int>(width - 1), static_cast<unsigned long long>(value));
}

inline std::uint32_t tar_checksum(const unsigned char* header) noexcept {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < tar_block; ++i) sum += i >= 148 && i < 156 ? ' ' : header[i];
  return sum;
}

// Octal text, or GNU's base-256 for what does not fit.
inline std::uint64_t get_number(const unsigned char* field, std::size_t width) noexcept {
  std::uint64_t value = 0;
  if ((field[0] & 0x80) != 0) {
    for (std::size_t i = 1; i < width; ++i) value = value << 8 | field[i];
    return value;
  }
  for (std::size_t i = 0; i < width && field[i] != 0; ++i)
    if (field[i] >= '0' && field[i] <= '7') value = value << 3 | static_cast<std::uint64_t>(field[i] - '0');
  return value;
}

inline std::string get_text(const unsigned char* field, std::size_t width) {
  const auto* text = reinterpret_cast<const char*>(field);
  return {text, strnlen(text, width)};
}

// The values of "path" and "size" in a pax header: records "<length> <key>=<value>\n".
inline void read_pax(std::string_view pax, std::string& path, std::string& size) {
  while (!pax.empty()) {
    std::size_t length = 0;
    std::size_t i = 0;
    for (; i < pax.size() && pax[i] >= '0' && pax[i] <= '9' && length < pax.size(); ++i)
      length = length * 10 + static_cast<std::size_t>(pax[i] - '0');
    if (length <= i + 1 || length > pax.size()) return;
    const std::string_view record = pax.substr(i + 1, length - i - 2);
    if (record.starts_with("path=")) path = record.substr(5);
    if (record.starts_with("size=")) size = record.substr(5);
    pax.remove_prefix(length);
  }
}

}  // namespace detail

NANLENS_API bool is_tar_header(const unsigned char* block) noexcept {
  return detail::get_number(block + 148, 8) == detail::tar_checksum(block);
}

NANLENS_API std::string tar_header(const std::string& name, std::uint64_t size, std::int64_t mtime) {
  std::string header(tar_block, '\0');
  char* const h = header.data();
  std::size_t split = 0;
  if (name.size() > 100) {
    split = name.find('/', name.size() - 101);
    if (split > 155) return {};  // npos included
    std::memcpy(h + 345, name.data(), split);
    ++split;
  }
  std::memcpy(h, name.data() + split, name.size() - split);
  detail::put_octal(h + 100, 8, 0644);
  detail::put_octal(h + 108, 8, 0);
  detail::put_octal(h + 116, 8, 0);
  if (size < (std::uint64_t{1} << 33)) {
    detail::put_octal(h + 124, 12, size);
  } else {
    h[124] = static_cast<char>(0x80);
    for (std::size_t i = 0; i < 8; ++i) h[128 + i] = static_cast<char>(size >> (8 * (7 - i)));
  }
  detail::put_octal(h + 136, 12, static_cast<std::uint64_t>(mtime));
  h[156] = '0';
  std::memcpy(h + 257, "ustar\00000", 8);
  std::snprintf(h + 148, 8, "%06o", detail::tar_checksum(reinterpret_cast<const unsigned char*>(h)));
  h[155] = ' ';
  return header;
}

namespace detail {

// Name and size as extended headers tell them of the entry that follows.
struct LongHeader {
  std::string name;
  std::string size;
};

inline TarEntry entry_of(const unsigned char* h, std::uint64_t at, const LongHeader& longer) {
  TarEntry entry;
  entry.name = get_text(h, 100);
  if (const std::string prefix = get_text(h + 345, 155); !prefix.empty() && h[257] == 'u' && h[263] == '0')
    entry.name = prefix + "/" + entry.name;
  entry.size = get_number(h + 124, 12);
  if (!longer.size.empty()) entry.size = std::strtoull(longer.size.c_str(), nullptr, 10);
  if (!longer.name.empty()) entry.name = longer.name;
  while (entry.name.starts_with("./")) entry.name.erase(0, 2);
  entry.offset = at + tar_block;
  return entry;
}

// The text of an extended header. False if it is too long, or can't be read.
inline bool read_extended(reader::ByteSource& tar, const TarEntry& entry, std::string& text, std::string& why) {
  constexpr std::uint64_t longest = 1 << 16;
  if (entry.size > longest) {
    why = "a header for a long name is too large";
    return false;
  }
  text.assign(static_cast<std::size_t>(entry.size), '\0');
  if (tar.read(entry.offset, reinterpret_cast<unsigned char*>(text.data()), text.size()) == text.size()) return true;
  why = "it is cut off";
  return false;
}

// A name of a fault's entry, which may be of any length and hold anything.
inline std::string shown(const std::string& name) { return "'" + name.substr(0, limits::quoted_bytes) + "'"; }

}  // namespace detail

NANLENS_API bool read_tar(reader::ByteSource& tar, std::vector<TarEntry>& entries, std::string& why) {
  const auto fail = [&](const std::string& message) {
    why = message;
    return false;
  };
  const std::uint64_t end = tar.size();
  detail::LongHeader longer;
  std::string text;
  for (std::uint64_t at = 0; at + tar_block <= end;) {
    std::array<unsigned char, tar_block> h{};
    if (tar.read(at, h.data(), h.size()) < h.size()) return fail(tar.error().empty() ? "it is cut off" : tar.error());
    if (h[0] == 0) return true;  // the end mark
    if (!is_tar_header(h.data())) return fail("it is not a tar archive, or damaged at byte " + std::to_string(at));
    const char type = static_cast<char>(h[156]);
    const bool is_file = type == '0' || type == '\0';  // links are of no use here
    TarEntry entry = detail::entry_of(h.data(), at, longer);
    if (is_file && !is_safe_name(entry.name))
      return fail("the entry name " + detail::shown(entry.name) + " leads out of the archive's directory");
    if (entry.size > end - entry.offset) {
      why = "the entry " + detail::shown(entry.name) + " is said to have " + std::to_string(entry.size) +
            " bytes, more than there are";
      entry.size = end - entry.offset;
      if (is_file) entries.push_back(std::move(entry));
      return false;
    }
    at = entry.offset + tar_padded(entry.size);
    if (type == 'x' || type == 'g' || type == 'L') {
      if (!detail::read_extended(tar, entry, text, why)) return false;
      if (type == 'L') longer.name = text.substr(0, text.find('\0'));
      if (type == 'x') detail::read_pax(text, longer.name, longer.size);
      continue;
    }
    longer = {};
    if (!is_file) continue;
    if (entries.size() == limits::archive_entries)
      return fail("it holds more than " + std::to_string(limits::archive_entries) + " files");
    entries.push_back(std::move(entry));
  }
  return true;
}

}  // namespace nanlens::archive
