#pragma once

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <nanlens/capture/clients.hpp>
#include <nanlens/capture/sampler.hpp>
#include <nanlens/capture/session.hpp>
#include <nanlens/capture/tensor_registry.hpp>
#include <nanlens/capture/uneven_fence.hpp>
#include <nanlens/config.hpp>
#include <nanlens/logdir/rank.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN detail {

inline std::atomic<Session*> current_session{nullptr};

/// Set while the process is copied by fork: recording calls wait.
inline std::atomic<bool> forking{false};

/// Sessions of this process, one per logdir; never destroyed, since threads may be inside one.
struct Sessions {
  std::mutex lock;
  std::vector<std::unique_ptr<Session>> list;
  std::vector<std::unique_ptr<Session>> of_parents;  // in a forked child: not used any more
  std::string run_id;                                // the same for every logdir of a process
  bool forked = false;                               // what a rank forks is none of its job's ranks
  bool hooks_installed = false;
  bool from_environment = false;  // the current one
  std::atomic<bool> chosen_by_program{false};
  DumpOptions inherited;  // of the process that this one was forked from

  static Sessions& get() {
    static Sessions* const sessions = new Sessions;
    return *sessions;
  }
};

inline std::string validate(const DumpOptions& options) {
  if (options.logdir.empty()) return "enable_dump_debug_info needs a logdir: a directory to write to";
  if (!is_recordable(options.tensor_debug_mode))
    return "tensor_debug_mode " + std::to_string(static_cast<int>(options.tensor_debug_mode)) +
           " can't be recorded; use no_tensor, curt_health, concise_health, full_health, shape or full_tensor";
  if (const std::string why = OpFilter(options).error(); !why.empty())
    return "op_regex \"" + options.op_regex + "\" is not a POSIX extended regular expression: " + why;
  if (options.every < 1) return "of `every` steps one is recorded: " + std::to_string(options.every) + " can't be";
  if (options.last_step >= 0 && options.last_step < options.first_step)
    return "steps " + std::to_string(options.first_step) + " to " + std::to_string(options.last_step) + " are none";
  return {};
}

/// Waits until no other thread is inside a recording call that has not seen what was stored before: microseconds.
inline void wait_for_recording_threads() {
  const ThreadState* const self = this_thread();
  UnevenFence::get().wait();
  for (const ThreadState* state : ThreadStates::get().list())
    while (state != self && state->recording.load()) {
    }
}

/// What a recording switches on.
inline constexpr unsigned dump_bits = dumping_bit | fp_flags_bit | health_bit | values_bit;
inline unsigned bits_of(const DumpOptions& options) noexcept {
  const bool takes_values = options.statistics || options.tensor_debug_mode == TensorDebugMode::full_tensor;
  const bool tells_health = tells(options.tensor_debug_mode, Told::health) || takes_values;
  return dumping_bit | (options.fp_flags ? fp_flags_bit : 0) | (tells_health ? health_bit : 0) |
         (takes_values ? values_bit : 0);
}

/// Not from a signal's handler that has interrupted a recording call, which may hold locks: there all stays in the file
/// of what is in memory, as when the program dies.
inline void stop_current_session() {
  const ThreadState* const self = this_thread();
  if (ThreadStates::get().cut_off() || (self != nullptr && self->recording.load())) return;
  Clients::get().switch_off(forked_bit | dump_bits);
  Session* const session = current_session.exchange(nullptr);
  if (session == nullptr) return;
  wait_for_recording_threads();
  session->stop();
  Sampler::get().end();
}

void install_hooks(Sessions& sessions);

inline std::string new_run_id(bool forked) {
  const char* const joined = std::getenv("NANLENS_RUN_ID");
  if (joined != nullptr && *joined != '\0') return joined;
  if (!forked && !logdir::Rank::get().job.empty()) return base36(hash_text(logdir::Rank::get().job));
  return random_text(8, "0123456789abcdef");
}

inline bool start_session(const DumpOptions& options, bool from_environment, std::string& why) {
  Sessions& sessions = Sessions::get();
  const std::lock_guard guard(sessions.lock);
  // What the environment has begun, at an op before this, gives way to what the program asks for.
  if (sessions.from_environment && !from_environment) stop_current_session();
  if (const Session* const current = current_session.load()) {
    if (current->options() == options) return true;
    why = "recording into '" + current->options().logdir +
          "' is on with other settings; call disable_dump_debug_info() before enabling it with new ones";
    return false;
  }
  if (why = validate(options); !why.empty()) return false;
  if (sessions.run_id.empty()) sessions.run_id = new_run_id(sessions.forked);
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
  registry().clear();
  UnevenFence::get().prepare();
  install_hooks(sessions);
  sessions.from_environment = from_environment;
  current_session.store(session);
  Sampler::get().begin(options);
  Clients::get().replace(forked_bit, bits_of(options));
  return true;
}

}  // namespace NANLENS_HIDDEN detail
}  // namespace nanlens::inline NANLENS_ABI
