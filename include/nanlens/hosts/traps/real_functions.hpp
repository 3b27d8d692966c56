/// @file
/// The C library's own functions, where a program's calls of them go through nanlens first.
#pragma once

#include <csignal>

#include <dlfcn.h>

#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI::traps::detail {

/// The next function of this name after that of the library or program that this is part of.
template <class Function>
Function* real(const char* name) noexcept {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

inline int real_sigaction(int signal, const struct sigaction* action, struct sigaction* before) noexcept {
  static auto* const next = real<int(int, const struct sigaction*, struct sigaction*)>("sigaction");
  return next(signal, action, before);
}

inline int real_sigmask(int how, const sigset_t* set, sigset_t* before) noexcept {
  static auto* const next = real<int(int, const sigset_t*, sigset_t*)>("pthread_sigmask");
  return next(how, set, before);
}

}  // namespace nanlens::inline NANLENS_ABI::traps::detail
