#pragma once

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <pthread.h>

#include <nanlens/capture/active.hpp>
#include <nanlens/capture/dump.hpp>
#include <nanlens/capture/session.hpp>

namespace nanlens {

namespace detail {

inline std::atomic<Session*> current_session{nullptr};

/// Sessions of this process, one per logdir; never destroyed, since threads may be inside one.
struct Sessions {
  std::mutex lock;
  std::vector<std::unique_ptr<Session>> list;
  std::string run_id;  // the same for every logdir of a process
  bool hooks_installed = false;
  std::atomic<bool> chosen_by_program{false};

  static Sessions& get() {
    static Sessions* const sessions = new Sessions;
    return *sessions;
  }
};

/// Reports a configuration error: an exception, or without exceptions a line on stderr. Always false.
inline bool configuration_error(const std::string& message) {
#if NANLENS_HAS_EXCEPTIONS
  throw std::invalid_argument("nanlens: " + message);
#else
  std::fprintf(stderr, "nanlens: %s\n", message.c_str());
  return false;
#endif
}

inline std::string validate(const DumpOptions& options) {
  if (options.logdir.empty()) return "enable_dump_debug_info needs a logdir: a directory to write to";
  if (!is_recordable(options.tensor_debug_mode))
    return "tensor_debug_mode " + std::to_string(static_cast<int>(options.tensor_debug_mode)) +
           " can't be recorded; use no_tensor, curt_health, concise_health, full_health, shape or full_tensor";
  if (const std::string why = OpFilter(options).error(); !why.empty())
    return "op_regex \"" + options.op_regex + "\" is not a POSIX extended regular expression: " + why;
  return {};
}

inline void stop_current_session() {
  active.fetch_and(~dumping_bit);
  Session* const session = current_session.exchange(nullptr);
  if (session == nullptr) return;
  const ThreadState* const self = this_thread();
  for (const ThreadState* state : ThreadStates::get().list())
    while (state != self && state->recording.load()) {  // a few microseconds: it is inside one recording call
    }
  session->stop();
}

inline std::terminate_handler previous_terminate = nullptr;

// Flush at exit and on an uncaught exception; in a forked child nothing is recorded, since the files are the parent's.
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
#if NANLENS_HAS_THREADS
  ::pthread_atfork(nullptr, nullptr, [] {
    active.store(0);
    if (Session* const session = current_session.exchange(nullptr)) session->abandon();
  });
#endif
}

inline std::string new_run_id() {
  const char* const joined = std::getenv("NANLENS_RUN_ID");
  return joined != nullptr && *joined != '\0' ? joined : random_text(8, "0123456789abcdef");
}

inline bool start_session(const DumpOptions& options, std::string& why) {
  Sessions& sessions = Sessions::get();
  const std::lock_guard guard(sessions.lock);
  if (const Session* const current = current_session.load()) {
    if (current->options() == options) return true;
    why = "recording into '" + current->options().logdir +
          "' is on with other settings; call disable_dump_debug_info() before enabling it with new ones";
    return false;
  }
  if (why = validate(options); !why.empty()) return false;
  if (sessions.run_id.empty()) sessions.run_id = new_run_id();
  Session* session = nullptr;
  for (const auto& s : sessions.list)
    if (s->options().logdir == options.logdir) session = s.get();
  if (session == nullptr) {
    sessions.list.push_back(std::make_unique<Session>(options));
    session = sessions.list.back().get();
  } else {
    session->set_options(options);
  }
  if (!session->start(sessions.run_id, why)) return false;
  install_hooks(sessions);
  current_session.store(session);
  active.fetch_or(dumping_bit);
  return true;
}

}  // namespace detail

NANLENS_API bool enable_dump_debug_info(const DumpOptions& options) {
  detail::Sessions::get().chosen_by_program = true;  // then NANLENS_LOGDIR is not looked at
  std::string why;
  return detail::start_session(options, why) || detail::configuration_error(why);
}

NANLENS_API void disable_dump_debug_info() {
  const std::lock_guard guard(detail::Sessions::get().lock);
  detail::stop_current_session();
}

NANLENS_API void flush_debug_info() {
  if (detail::Session* const session = detail::current_session.load()) session->flush(true);
}

}  // namespace nanlens
