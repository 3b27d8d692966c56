// Archives: tar, zstd, the seek table; and what is then read of them as a logdir.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <zstd.h>

#include <nanlens/archive/archive.hpp>
#include <nanlens/archive/seekable.hpp>
#include <nanlens/archive/tar.hpp>
#include <nanlens/reader/reader.hpp>

#include "edited_logdir.hpp"

namespace {

using namespace nanlens;

std::string tar_of(reader::Storage& files) {
  std::string tar;
  for (const std::string& name : files.list()) {
    const std::string bytes = fuzz::bytes_of_file(files, name);
    tar += archive::tar_header(name, bytes.size(), 0) + bytes;
    tar.resize(static_cast<std::size_t>(archive::tar_padded(tar.size())));
  }
  return tar + std::string(2 * archive::tar_block, '\0');
}

std::string compressed(const std::string& bytes) {
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 1));
  return out;
}

// Tar headers whose checksums an edit has made wrong are right again.
void mend_checksums(std::string& tar) {
  for (std::size_t at = 0; at + archive::tar_block <= tar.size(); at += archive::tar_block) {
    char* const h = tar.data() + at;
    if (std::memcmp(h + 257, "ustar", 5) != 0) continue;
    std::uint32_t sum = 8 * ' ';
    for (std::size_t i = 0; i < archive::tar_block; ++i)
      if (i < 148 || i >= 156) sum += static_cast<unsigned char>(h[i]);
    std::snprintf(h + 148, 8, "%06o", sum);
  }
}

// The archive that the input describes: its own bytes, or a packed logdir with edits before and after compression.
std::string archive_of(fuzz::Bytes& input, const std::uint8_t* data, std::size_t size) {
  const std::uint8_t how = input.byte();
  if (how % 8 == 0) return size == 0 ? std::string() : std::string(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto files = fuzz::edited_logdir(input);
  std::string bytes;
  if (how % 8 < 4) {
    std::string why;
    archive::pack(
        *files, files->list(), 0, [&](const char* p, std::size_t n) { return bytes.append(p, n), true; }, why);
  } else {
    bytes = tar_of(*files);
    for (std::size_t n = input.number(4); n > 0; --n) {
      const std::size_t block = input.number(bytes.size() / archive::tar_block) * archive::tar_block;
      const std::string with = input.text();
      const std::size_t at = block + input.number(archive::tar_block - 24);
      if (at + with.size() <= bytes.size()) bytes.replace(at, with.size(), with);
    }
    mend_checksums(bytes);
    if (how % 8 < 6) bytes = compressed(bytes);
  }
  for (std::size_t n = input.number(4); n > 0; --n) fuzz::detail::edit_payload(bytes, input);
  // Of a seek table, often its entries and its footer.
  if ((how & 64) != 0 && bytes.size() > 64)
    bytes[bytes.size() - 1 - input.number(64)] = static_cast<char>(input.byte());
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Bytes input(data, size);
  std::string why;
  constexpr std::uint64_t limit = std::uint64_t{4} << 20;
  auto storage = archive::open(std::make_unique<reader::MemorySource>(archive_of(input, data, size)), why, limit);
  if (storage == nullptr) {
    if (why.empty()) std::abort();
    return 0;
  }
  int stops = input.byte() % 4;
  storage->prepare([&](std::uint64_t, std::uint64_t) { return stops-- > 0; });
  for (const std::string& name : storage->list())
    if (!archive::is_safe_name(name)) std::abort();
  reader::Logdir logdir(std::move(storage));
  logdir.update();
  for (const auto& run : logdir.runs()) {
    (void)run->diagnostics();
    for (const auto& alert : run->alerts()) (void)run->alert(alert);
  }
  return 0;
}
