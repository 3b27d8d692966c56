/// @file
/// This program's or library's way to the recorder of the process.
#pragma once

#include <atomic>

#include <nanlens/capture/recorder_table.hpp>
#include <nanlens/config.hpp>

#if defined(NANLENS_SPLIT)
/// The recorder of the process, as <nanlens/capture/implementation.hpp> finds it in one translation unit.
extern "C" const void* nanlens_recorder_6() noexcept;
#endif

namespace nanlens::inline NANLENS_ABI::detail {

/// @name What is switched on; 0 is a recording call's fast way out
///@{
inline constexpr unsigned dumping_bit = 1;
inline constexpr unsigned checking_bit = 2;
inline constexpr unsigned environment_unread_bit = 4;
inline constexpr unsigned forked_bit = 8;  // the process is a recording one's child, and has recorded nothing yet
inline constexpr unsigned fp_flags_bit = 16;
inline constexpr unsigned health_bit = 32;  // somebody wants to know whether tensors are bad
inline constexpr unsigned values_bit = 64;  // what is recorded takes all values of a tensor, not its counts alone
inline constexpr unsigned resting_bit = 1U << 31;  // recording leaves out what comes now, and nothing else looks at it
///@}

NANLENS_HIDDEN inline constinit Client client{environment_unread_bit, nullptr};

/// Ends what the recorder knows of a library that is unloaded.
struct ClientEnd {
  NANLENS_HIDDEN ~ClientEnd() {
    if (const RecorderTable* const recorder = client.recorder.load()) recorder->leave(&client);
  }
};
NANLENS_HIDDEN inline ClientEnd client_end;

#if !defined(NANLENS_SPLIT)
NANLENS_HIDDEN const RecorderTable& recorder_of_process() noexcept;
#endif

NANLENS_HIDDEN inline const RecorderTable& find_recorder() noexcept {
#if defined(NANLENS_SPLIT)
  const auto& found = *static_cast<const RecorderTable*>(::nanlens_recorder_6());
#else
  const RecorderTable& found = recorder_of_process();
#endif
  found.join(&client);
  client.recorder.store(&found, std::memory_order_release);
  return found;
}

/// The recorder of the process.
NANLENS_HIDDEN inline const RecorderTable& recorder() noexcept {
  const RecorderTable* const known = client.recorder.load(std::memory_order_acquire);
  return known != nullptr ? *known : find_recorder();
}

/// True if something may be on that looks at ops.
NANLENS_HIDDEN inline bool is_active() noexcept {
  const unsigned bits = client.active.load(std::memory_order_relaxed);
  return bits != 0 && (bits & resting_bit) == 0;
}

/// The same of one op: the question before all others. Where recording rests, the op is counted.
NANLENS_HIDDEN inline bool takes_op() noexcept {
  const unsigned bits = client.active.load(std::memory_order_relaxed);
  if (bits == 0) return false;
  if ((bits & resting_bit) == 0) [[likely]]
    return true;
  recorder().leave_out();
  return false;
}

/// What is switched on; looks at the environment at the first event.
NANLENS_HIDDEN inline unsigned active_bits() noexcept {
  const unsigned bits = client.active.load(std::memory_order_relaxed);
  if ((bits & (environment_unread_bit | forked_bit)) == 0) return bits;
  return recorder().begin();
}

}  // namespace nanlens::inline NANLENS_ABI::detail
