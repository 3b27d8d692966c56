/// @file
/// What is switched on: all that a recording call looks at while nothing is.
#pragma once

#include <atomic>

#include <nanlens/config.hpp>

namespace nanlens::detail {

/// @name What a recording call has to look at first; 0 is the fast way out
///@{
inline constexpr unsigned dumping_bit = 1;
inline constexpr unsigned checking_bit = 2;
inline constexpr unsigned environment_unread_bit = 4;
inline constexpr unsigned forked_bit = 8;  // the process is a recording one's child, and has recorded nothing yet
///@}

inline std::atomic<unsigned> active{environment_unread_bit};

/// Turns on what environment variables ask for, or what a process records whose parent was recorded; once.
void begin_at_first_event() noexcept;

/// What is switched on; looks at the environment at the first event.
inline unsigned active_bits() noexcept {
  const unsigned bits = active.load(std::memory_order_relaxed);
  if ((bits & (environment_unread_bit | forked_bit)) == 0) return bits;
  begin_at_first_event();
  return active.load(std::memory_order_relaxed);
}

}  // namespace nanlens::detail
