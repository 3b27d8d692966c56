#pragma once

#include <cstdio>
#include <exception>
#include <string>
#include <string_view>

#include <nanlens/capture/environment.inl>
#include <nanlens/capture/function.inl>
#include <nanlens/capture/graph_builder.inl>
#include <nanlens/capture/host_state.hpp>
#include <nanlens/capture/meeting_point.hpp>
#include <nanlens/capture/op.inl>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN detail {

/// Runs what a host asks for. False, with a line on stderr, if memory runs out on the way.
template <class Body>
bool serve([[maybe_unused]] const char* what, Body&& body) noexcept {
  const HostState host;
#if NANLENS_HAS_EXCEPTIONS
  try {
#endif
    body();
    return true;
#if NANLENS_HAS_EXCEPTIONS
  } catch (const std::exception& error) {
    std::fprintf(stderr, "nanlens: %s failed: %s\n", what, error.what());
    return false;
  }
#endif
}

/// One that can't join, for want of memory, asks at every event what is on.
inline void join(Client* client) noexcept {
  serve("joining the recorder", [&] { Clients::get().join(*client); });
}
/// It may be what reads devices: others who do say so again.
inline void leave(Client* client) noexcept {
  Clients::get().leave(*client);
  read_far.store(nullptr, std::memory_order_release);
}

inline bool serve_enable_dump(const DumpOptionsRef& options, void (*say)(void* to, TextRef why), void* to) noexcept {
  bool on = false;
  return serve("enable_dump_debug_info",
               [&] {
                 std::string why;
                 on = enable_dump(options, why);
                 if (!on) say(to, std::string_view(why));
               }) &&
         on;
}
inline bool serve_enable_check(const CheckOptionsRef& options) noexcept {
  bool first = false;
  return serve("enable_check_numerics", [&] { first = enable_check(options); }) && first;
}
inline void serve_disable_check() noexcept {
  serve("disable_check_numerics", [] { disable_check(); });
}
inline void serve_disable_dump() noexcept {
  serve("disable_dump_debug_info", [] { disable_dump(); });
}
inline void serve_flush() noexcept {
  serve("flush_debug_info", [] {
    ThreadState* const state = this_thread();
    // A signal's handler that has interrupted a recording call must not wait for what that holds.
    if (state == nullptr || state->recording.load(std::memory_order_relaxed)) return;
    const RecordingScope scope(*state);
    if (scope.session != nullptr) scope.session->flush(Session::Rings::newest);
  });
}

/// The recorder of this program or library, as far as it was compiled with the same flags.
inline constexpr RecorderTable own_recorder{
    recorder_version,
    sizeof(RecorderTable),
    &join,
    &leave,
    &begin,
    &serve_enable_dump,
    &serve_disable_dump,
    &serve_flush,
    &serve_enable_check,
    &serve_disable_check,
    &record_op,
    &identify_before,
    &look_before,
    &kept,
    &declare_variable,
    &forget_memory,
    &enter_function,
    &leave_function,
    &adopt_function,
    &give_back_function,
    &hand_over_function,
    &capture_argument,
    &add_result,
    &declare_graph,
    &declare_op,
    &trace_output,
    &add_host_stack,
    &join_host_stacks,
    &claim_host,
    &release_host,
    &share_work_with,
    &read_far_by,
    &end_step,
    &leave_out,
};

inline const RecorderTable& recorder_of_process() noexcept { return meet(own_recorder); }

}  // namespace NANLENS_HIDDEN detail
}  // namespace nanlens::inline NANLENS_ABI
