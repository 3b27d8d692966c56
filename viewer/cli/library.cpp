// What a shared library's file tells of it.
#include "library.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string_view>
#include <vector>

#include <elf.h>

#include "open.hpp"

namespace nanlens::cli {

namespace {

template <class T>
bool read_at(std::ifstream& file, std::uint64_t at, T* to, std::size_t count) {
  file.clear();
  file.seekg(static_cast<std::streamoff>(at));
  file.read(reinterpret_cast<char*>(to), static_cast<std::streamsize>(count * sizeof(T)));
  return static_cast<bool>(file);
}

// The build id among the notes of a segment.
std::string id_of_notes(std::string_view notes) {
  Elf64_Nhdr note;
  while (notes.size() >= sizeof note) {
    std::memcpy(&note, notes.data(), sizeof note);
    const auto padded = [](std::size_t size) { return (size + 3) / 4 * 4; };
    const std::size_t begin = sizeof note + padded(note.n_namesz);
    const std::size_t end = begin + padded(note.n_descsz);
    if (begin + note.n_descsz > notes.size()) return {};
    if (note.n_type == NT_GNU_BUILD_ID && notes.substr(sizeof note).starts_with("GNU")) {
      std::string digits;
      for (const char c : notes.substr(begin, note.n_descsz))
        for (const unsigned nibble : {static_cast<unsigned char>(c) / 16U, static_cast<unsigned char>(c) % 16U})
          digits += "0123456789abcdef"[nibble];
      return digits;
    }
    if (end > notes.size()) return {};
    notes.remove_prefix(end);
  }
  return {};
}

}  // namespace

std::string build_id(const std::string& library) {
  std::ifstream file(library, std::ios::binary);
  if (!file) throw Failure("there is no library '" + library + "'");
  Elf64_Ehdr header;
  if (!read_at(file, 0, &header, 1) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(Elf64_Phdr))
    throw Failure("'" + library + "' is no 64-bit shared library");
  std::vector<Elf64_Phdr> segments(header.e_phnum);
  if (!read_at(file, header.e_phoff, segments.data(), segments.size())) throw Failure("'" + library + "' is cut short");
  constexpr std::uint64_t largest = 65536;
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type != PT_NOTE || segment.p_filesz > largest) continue;
    std::string notes(segment.p_filesz, '\0');
    if (!read_at(file, segment.p_offset, notes.data(), notes.size())) continue;
    if (std::string id = id_of_notes(notes); !id.empty()) return id;
  }
  return {};
}

}  // namespace nanlens::cli
