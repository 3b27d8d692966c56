/// @file
/// Turning recording on and off.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <nanlens/capture/client.hpp>
#include <nanlens/capture/options.hpp>
#include <nanlens/capture/rule_engine.hpp>
#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI {

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

inline RuleHit hit_of(const RuleHitRef& ref) {
  RuleHit hit;
  hit.rule = ref.rule.view();
  hit.level = ref.level.view();
  hit.expression = ref.expression.view();
  hit.reason = ref.reason.view();
  hit.op_type = ref.op_type.view();
  hit.op_name = ref.op_name.view();
  hit.graph_name = ref.graph_name.view();
  hit.numbers = ref.numbers.view();
  hit.message = ref.message.view();
  hit.output_slot = ref.output_slot;
  for (std::size_t i = 0; i < ref.num_frames; ++i)
    hit.stack.push_back(
        {std::string(ref.stack[i].file.view()), ref.stack[i].line, std::string(ref.stack[i].function.view())});
  return hit;
}

/// What a handler is on the recorder's side, which ends it.
inline RuleHandlerRef handler_ref(const RuleHandler& handler) {
  if (!handler) return {};
  return {[](void* context, const RuleHitRef& hit) { (*static_cast<const RuleHandler*>(context))(hit_of(hit)); },
          std::make_unique<RuleHandler>(handler).release(),
          [](void* context) noexcept { delete static_cast<RuleHandler*>(context); }, handler.identity()};
}

/// False, with the reason, if it can't be.
inline bool start_dump(const DumpOptions& options, std::string& why) {
  DumpOptionsRef ref;
  ref.logdir = std::string_view(options.logdir);
  ref.op_regex = std::string_view(options.op_regex);
  ref.tensor_dtypes = options.tensor_dtypes.data();
  ref.num_dtypes = options.tensor_dtypes.size();
  ref.tensor_debug_mode = static_cast<std::int32_t>(options.tensor_debug_mode);
  ref.stack = static_cast<std::int32_t>(options.stack);
  ref.circular_buffer_size = options.circular_buffer_size;
  ref.value_budget = options.value_budget;
  ref.pinned_sites = options.pinned_sites;
  ref.pinned_events = options.pinned_events;
  ref.every = options.every;
  ref.first_step = options.first_step;
  ref.last_step = options.last_step;
  ref.extension = options.extension;
  ref.statistics = options.statistics;
  ref.fp_flags = options.fp_flags;
  ref.record_children = options.record_children;
  const std::vector<TextRef> rules(options.rules.begin(), options.rules.end());
  ref.rules = rules.data();
  ref.num_rules = rules.size();
  ref.on_rule = handler_ref(options.on_rule);
  ref.stop = options.stop;
  ref.rule_engine = own_rule_engine;
  const auto say = [](void* to, TextRef text) { *static_cast<std::string*>(to) = text.view(); };
  return recorder().enable_dump(ref, say, &why);
}

}  // namespace detail

/// Starts recording every op into a logdir, which TensorFlow, TensorBoard and nanlens read.
///
/// Again with the same options: nothing happens. With others while recording is on, or with options that can't be used:
/// std::invalid_argument (without exceptions: one line on stderr and false). After disable_dump_debug_info it may be
/// enabled again, for the same logdir (its file set is continued) or another. Call it early: what was made before is
/// not on record.
inline bool enable_dump_debug_info(const DumpOptions& options) {
  std::string why;
  return detail::start_dump(options, why) || detail::configuration_error(why);
}

/// Stops recording and completes the logdir. Does nothing if recording is off. Also done at exit.
inline void disable_dump_debug_info() { detail::recorder().disable_dump(); }

/// Hands everything recorded so far to the operating system; in ring mode the rings are written out and emptied.
inline void flush_debug_info() { detail::recorder().flush(); }

/// Ends a step of the program, a training's say, and begins the next: what DumpOptions::every, first_step and last_step
/// count. From any thread; steps are the process's.
inline void step() {
  if (detail::client.active.load(std::memory_order_relaxed) != 0) detail::recorder().step();
}

/// Recording for the lifetime of an object.
class DumpDebugInfo {
 public:
  explicit DumpDebugInfo(const DumpOptions& options) { enable_dump_debug_info(options); }
  DumpDebugInfo(const DumpDebugInfo&) = delete;
  DumpDebugInfo& operator=(const DumpDebugInfo&) = delete;
  ~DumpDebugInfo() { disable_dump_debug_info(); }
};

}  // namespace nanlens::inline NANLENS_ABI
