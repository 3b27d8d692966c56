#include "trap_list.hpp"

#include <algorithm>

namespace nanlens::cli {

namespace {

#if defined(__x86_64__) && defined(__linux__)
constexpr bool can_trap = true;
#else
constexpr bool can_trap = false;
#endif

}  // namespace

std::string why_no_traps(std::string_view list) {
  if (list.empty()) return {};
  if (!can_trap)
    return "--traps needs Linux on x86-64, which this is not: without it PyTorch's ops are recorded here, too";
  while (!list.empty()) {
    const std::string_view name = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), name.size() + 1));
    if (name != "all" && name != "invalid" && name != "divbyzero" && name != "overflow")
      return "unknown trap '" + std::string(name) + "': use invalid, divbyzero, overflow, with commas, or all";
  }
  return {};
}

}  // namespace nanlens::cli
