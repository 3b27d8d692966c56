/// @file
/// Programs beside which no thread may run: those with a malloc of their own that is made for one thread. GNU Common
/// Lisp is one, with Maxima in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <dlfcn.h>
#include <link.h>

#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI::traps::detail {

/// What an executable has of its dynamic symbols in memory.
struct DynamicSymbols {
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  std::size_t num_imports = 0;  ///< no symbol from here on is imported

  explicit DynamicSymbols(const dl_phdr_info& info) noexcept {
    const ElfW(Dyn)* entry = nullptr;
    for (int i = 0; i < info.dlpi_phnum; ++i)
      if (info.dlpi_phdr[i].p_type == PT_DYNAMIC)
        entry = reinterpret_cast<const ElfW(Dyn)*>(info.dlpi_addr + info.dlpi_phdr[i].p_vaddr);
    for (; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
      const auto* const at = reinterpret_cast<const std::uint32_t*>(entry->d_un.d_ptr);  // relocated by the loader
      if (entry->d_tag == DT_SYMTAB) symbols = reinterpret_cast<const ElfW(Sym)*>(at);
      if (entry->d_tag == DT_STRTAB) names = reinterpret_cast<const char*>(at);
      if (entry->d_tag == DT_GNU_HASH || (entry->d_tag == DT_HASH && num_imports == 0)) num_imports = at[1];
    }
    if (symbols == nullptr || names == nullptr) num_imports = 0;
  }
  /// Does it import a symbol whose name begins so?
  [[nodiscard]] bool imports(const char* prefix) const noexcept {
    const std::size_t length = std::strlen(prefix);
    for (std::size_t i = 1; i < num_imports; ++i)
      if (symbols[i].st_shndx == SHN_UNDEF && std::strncmp(names + symbols[i].st_name, prefix, length) == 0)
        return true;
    return false;
  }
};

/// Does the executable define malloc, and use nothing of threads?
inline bool brings_malloc_for_one_thread() noexcept {
  struct Search {
    bool found;
    std::uintptr_t malloc;
  } search{false, reinterpret_cast<std::uintptr_t>(::dlsym(RTLD_DEFAULT, "malloc"))};
  const auto look = [](dl_phdr_info* info, std::size_t, void* data) {
    auto& wanted = *static_cast<Search*>(data);
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      const std::uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
      if (info->dlpi_phdr[i].p_type == PT_LOAD && wanted.malloc - begin < info->dlpi_phdr[i].p_memsz)
        wanted.found = !DynamicSymbols(*info).imports("pthread_");
    }
    return 1;  // the first is the executable
  };
  ::dl_iterate_phdr(look, &search);
  return search.found;
}

}  // namespace nanlens::inline NANLENS_ABI::traps::detail
