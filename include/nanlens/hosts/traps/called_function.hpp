/// @file
/// Which function of another library was called, by the name that its caller has for it. The library's own name says
/// less: what it picks for a processor has none, some have several ("powf64"), and the one that fails is often what the
/// called one ended with, by a jump.
#pragma once

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI::traps::detail {

/// The object that an address is in; nothing if there is none. Not for signal handlers.
inline std::optional<Dl_info> object_of(const void* address, const link_map** map = nullptr) noexcept {
  Dl_info info{};
  void* found = nullptr;
  if (::dladdr1(address, &info, &found, RTLD_DL_LINKMAP) == 0 || info.dli_fname == nullptr) return {};
  if (map != nullptr) *map = static_cast<const link_map*>(found);
  return info;
}

/// Is this address in the C library, its mathematics included?
inline bool in_c_library(const Dl_info& object) noexcept {
  const std::string_view path = object.dli_fname;
  const std::string_view file = path.substr(path.rfind('/') + 1);
  return file.starts_with("libm.so") || file.starts_with("libm-") || file.starts_with("libmvec.so") ||
         file.starts_with("libc.so");
}

/// What lies so far behind `next` as the four bytes at `at` say.
inline const std::uint8_t* relative(const std::uint8_t* next, const std::uint8_t* at) noexcept {
  std::int32_t displacement = 0;
  std::memcpy(&displacement, at, sizeof displacement);
  return next + displacement;
}

/// The entry of the global offset table through which the call went that returns to `next`: at once, or by a stub of
/// the linker's. Null for other calls. Source: the x86-64 psABI, "Procedure Linkage Table".
inline const std::uint8_t* table_entry_of_call(const std::uint8_t* next, const Dl_info& caller) noexcept {
  if (next[-6] == 0xFF && next[-5] == 0x15) return relative(next, next - 4);
  if (next[-5] != 0xE8) return nullptr;
  const std::uint8_t* stub = relative(next, next - 4);
  const auto where = object_of(stub);
  if (!where || where->dli_fbase != caller.dli_fbase) return nullptr;  // bytes of no call: there may be nothing to read
  constexpr unsigned char end_branch[] = {0xF3, 0x0F, 0x1E, 0xFA};
  if (std::memcmp(stub, end_branch, sizeof end_branch) == 0) stub += sizeof end_branch;
  if (*stub == 0xF2) ++stub;  // bnd
  return stub[0] == 0xFF && stub[1] == 0x25 ? relative(stub + 6, stub + 2) : nullptr;
}

/// What the dynamic linker was asked to put there; null if nothing.
inline const char* symbol_of_entry(const link_map& object, const std::uint8_t* entry) noexcept {
  const ElfW(Sym)* symbols = nullptr;
  const char* names = nullptr;
  struct Table {
    const ElfW(Rela) * begin = nullptr;
    std::size_t bytes = 0;
  } tables[2];
  for (const ElfW(Dyn)* d = object.l_ld; d->d_tag != DT_NULL; ++d) {
    switch (d->d_tag) {
      case DT_SYMTAB: symbols = reinterpret_cast<const ElfW(Sym)*>(d->d_un.d_ptr); break;
      case DT_STRTAB: names = reinterpret_cast<const char*>(d->d_un.d_ptr); break;
      case DT_JMPREL: tables[0].begin = reinterpret_cast<const ElfW(Rela)*>(d->d_un.d_ptr); break;
      case DT_PLTRELSZ: tables[0].bytes = d->d_un.d_val; break;
      case DT_RELA: tables[1].begin = reinterpret_cast<const ElfW(Rela)*>(d->d_un.d_ptr); break;
      case DT_RELASZ: tables[1].bytes = d->d_un.d_val; break;
      default: break;
    }
  }
  if (symbols == nullptr || names == nullptr) return nullptr;
  const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(entry) - object.l_addr;
  for (const Table& table : tables)
    for (std::size_t i = 0; table.begin != nullptr && i < table.bytes / sizeof(ElfW(Rela)); ++i)
      if (const auto type = ELF64_R_TYPE(table.begin[i].r_info);
          table.begin[i].r_offset == offset && (type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT))
        return names + symbols[ELF64_R_SYM(table.begin[i].r_info)].st_name;
  return nullptr;
}

/// A function's usual name: "pow" of "powf64" and "_ZGVdN4vv_pow", "powf" of "powf32". Sources: ISO/IEC TS
/// 18661-3 for the types, the x86-64 vector function ABI for the prefix.
inline std::string plain_name(std::string_view name) {
  if (name.starts_with("_ZGV")) name.remove_prefix(std::min(name.size(), name.find('_', 4) + 1));
  for (const std::string_view type : {"f64", "f32x"})
    if (name.size() > type.size() && name.ends_with(type)) name.remove_suffix(type.size());
  const bool is_of_float = name.size() > 3 && name.ends_with("f32");
  return std::string(is_of_float ? name.substr(0, name.size() - 2) : name);
}

/// A function of C++ or Rust without the type that it returns, its template's arguments and its own.
inline std::string bare_name(std::string_view function) {
  std::string name;
  int depth = 0;
  for (std::size_t i = 0; i < function.size(); ++i) {
    const char c = function[i];
    if (c == '(' && depth == 0) break;
    if (c == '<' || c == '{' || c == '(') ++depth;
    if (depth == 0 && c == ' ') name.clear();
    if (depth == 0 && c != ' ') name.push_back(c);
    const bool is_arrow = c == '>' && i > 0 && function[i - 1] == '-';
    if ((c == '>' && !is_arrow) || c == '}' || c == ')') depth = std::max(depth - 1, 0);
  }
  return name.starts_with("::") ? name.substr(2) : name;
}

/// The function of the C library that was called at the call which returns to `return_address`; empty if it can't be
/// told.
inline std::string called_function(std::uintptr_t return_address) {
  const link_map* caller = nullptr;
  const auto* const next = reinterpret_cast<const std::uint8_t*>(return_address);
  constexpr std::size_t longest_call = 6;
  const auto object = object_of(next - longest_call, &caller);
  const std::uint8_t* const entry = object && caller != nullptr ? table_entry_of_call(next, *object) : nullptr;
  if (entry == nullptr) return {};
  const char* const name = symbol_of_entry(*caller, entry);
  if (name == nullptr || *name == '\0') return {};
  const void* called = nullptr;
  std::memcpy(&called, entry, sizeof called);
  const auto in = object_of(called);
  return in && in_c_library(*in) ? plain_name(name) : std::string();
}

}  // namespace nanlens::inline NANLENS_ABI::traps::detail
