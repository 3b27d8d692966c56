#pragma once

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <string>

#include <nanlens/capture/dump.hpp>
#include <nanlens/capture/fork.inl>
#include <nanlens/capture/sessions.inl>

namespace nanlens {

namespace detail {

/// Reports a configuration error: an exception, or without exceptions a line on stderr. Always false.
inline bool configuration_error(const std::string& message) {
#if NANLENS_HAS_EXCEPTIONS
  throw std::invalid_argument("nanlens: " + message);
#else
  std::fprintf(stderr, "nanlens: %s\n", message.c_str());
  return false;
#endif
}

inline std::terminate_handler previous_terminate = nullptr;

/// Completes the logdir at exit and on an uncaught exception.
inline void install_hooks(Sessions& sessions) {
  if (sessions.hooks_installed) return;
  sessions.hooks_installed = true;
  std::atexit([] {
    const std::lock_guard guard(Sessions::get().lock);
    stop_current_session();
  });
  previous_terminate = std::set_terminate([] {
    stop_current_session();
    if (previous_terminate != nullptr) previous_terminate();
    std::abort();
  });
  watch_forks();
}

}  // namespace detail

NANLENS_API bool enable_dump_debug_info(const DumpOptions& options) {
  detail::Sessions::get().chosen_by_program = true;  // then NANLENS_LOGDIR is not looked at
  std::string why;
  return detail::start_session(options, false, why) || detail::configuration_error(why);
}

NANLENS_API void disable_dump_debug_info() {
  const std::lock_guard guard(detail::Sessions::get().lock);
  detail::stop_current_session();
}

NANLENS_API void flush_debug_info() {
  if (detail::Session* const session = detail::current_session.load()) session->flush(true);
}

}  // namespace nanlens
