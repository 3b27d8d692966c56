/// @file
/// A record of any kind: what readers deal with. Writers know the kind and need no variant (see encode.hpp).
#pragma once

#include <variant>

#include <nanlens/config.hpp>
#include <nanlens/logdir/encode.hpp>

namespace nanlens::inline NANLENS_ABI::logdir {

/// The envelope of every record. `wall_time` is in seconds since the epoch.
struct DebugEvent {
  double wall_time = 0;
  std::int64_t step = 0;
  std::variant<std::monostate, DebugMetadata, SourceFile, StackFrameWithId, GraphOpCreation, DebuggedGraph, Execution,
               GraphExecutionTrace, GraphId, DebuggedDevice>
      what;
  std::optional<NanlensExtension> extension;
};

/// Writes one DebugEvent, not framed. `encoded` finds it by its argument.
inline void encode(WireWriter& w, const DebugEvent& event) {
  std::visit(
      [&](const auto& what) {
        encode_event(w, event.wall_time, event.step, what, event.extension ? &*event.extension : nullptr);
      },
      event.what);
}

/// Appends one DebugEvent as a framed TFRecord to `out`.
inline void append_event(std::string& out, const DebugEvent& event) {
  append_record_of(out, [&](WireWriter& w) { encode(w, event); });
}

}  // namespace nanlens::inline NANLENS_ABI::logdir
