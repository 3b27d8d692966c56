/// @file
/// Turning recording on and off.
#pragma once

#include <nanlens/capture/options.hpp>
#include <nanlens/config.hpp>

namespace nanlens {

/// Starts recording every op into a logdir, which TensorFlow, TensorBoard and nanlens read.
///
/// Again with the same options: nothing happens. With others while recording is on, or with options that can't be used:
/// std::invalid_argument (without exceptions: one line on stderr and false). After disable_dump_debug_info it may be
/// enabled again, for the same logdir (its file set is continued) or another. Call it early: what was made before is
/// not on record.
bool enable_dump_debug_info(const DumpOptions& options);

/// Stops recording and completes the logdir. Does nothing if recording is off. Also done at exit.
void disable_dump_debug_info();

/// Hands everything recorded so far to the operating system; in ring mode the rings are written out and emptied.
void flush_debug_info();

/// Recording for the lifetime of an object.
class DumpDebugInfo {
 public:
  explicit DumpDebugInfo(const DumpOptions& options) { enable_dump_debug_info(options); }
  DumpDebugInfo(const DumpDebugInfo&) = delete;
  DumpDebugInfo& operator=(const DumpDebugInfo&) = delete;
  ~DumpDebugInfo() { disable_dump_debug_info(); }
};

}  // namespace nanlens
