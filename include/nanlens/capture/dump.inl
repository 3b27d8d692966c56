#pragma once

#include <cstdlib>
#include <exception>
#include <mutex>
#include <string>

#include <nanlens/capture/fork.inl>
#include <nanlens/capture/sessions.inl>
#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI {

namespace NANLENS_HIDDEN detail {

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

inline DumpOptions options_of(const DumpOptionsRef& ref) {
  DumpOptions options;
  options.logdir = ref.logdir.view();
  options.op_regex = ref.op_regex.view();
  options.tensor_dtypes.assign(ref.tensor_dtypes, ref.tensor_dtypes + ref.num_dtypes);
  options.tensor_debug_mode = static_cast<TensorDebugMode>(ref.tensor_debug_mode);
  options.stack = static_cast<StackMode>(ref.stack);
  options.circular_buffer_size = ref.circular_buffer_size;
  options.value_budget = ref.value_budget;
  options.extension = ref.extension;
  options.statistics = ref.statistics;
  options.fp_flags = ref.fp_flags;
  options.record_children = ref.record_children;
  options.pinned_sites = ref.pinned_sites;
  options.pinned_events = ref.pinned_events;
  options.every = ref.every;
  options.first_step = ref.first_step;
  options.last_step = ref.last_step;
  return options;
}

inline bool enable_dump(const DumpOptionsRef& options, std::string& why) {
  Sessions::get().chosen_by_program = true;  // then NANLENS_LOGDIR is not looked at
  return start_session(options_of(options), false, why);
}

inline void disable_dump() {
  const std::lock_guard guard(Sessions::get().lock);
  stop_current_session();
}

inline void flush_all() {
  if (Session* const session = current_session.load()) session->flush(Session::Rings::newest);
}

}  // namespace NANLENS_HIDDEN detail

}  // namespace nanlens::inline NANLENS_ABI
