/// @file
/// What goes on in a recording call that has to write, or to take memory: neither meets the other's affairs.
#pragma once

#include <nanlens/capture/host_state.hpp>
#include <nanlens/capture/signal_block.hpp>
#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN detail {

/// While it lives, the host's floating-point settings, its errno and its signals wait.
struct Undisturbed {
  HostState host;
  NoSignals signals;
};

}  // namespace NANLENS_HIDDEN detail
}  // namespace nanlens::inline NANLENS_ABI
