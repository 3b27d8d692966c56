#pragma once

#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <nanlens/capture/fork.inl>
#include <nanlens/capture/rule_engine.hpp>
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

/// Ends the host's handler when the last copy of what calls it goes.
class HeldHandler {
 public:
  explicit HeldHandler(const RuleHandlerRef& ref)
      : ref_(ref), end_(ref.context, [end = ref.end](void* context) { end(context); }) {}
  void operator()(const RuleHit& hit) const {
    RuleHitRef told;
    std::vector<RuleHitRef::Frame> frames;
    told.rule = std::string_view(hit.rule);
    told.level = std::string_view(hit.level);
    told.expression = std::string_view(hit.expression);
    told.reason = std::string_view(hit.reason);
    told.op_type = std::string_view(hit.op_type);
    told.op_name = std::string_view(hit.op_name);
    told.graph_name = std::string_view(hit.graph_name);
    told.numbers = std::string_view(hit.numbers);
    told.message = std::string_view(hit.message);
    told.output_slot = hit.output_slot;
    for (const ResolvedFrame& f : hit.stack)
      frames.push_back({std::string_view(f.file), std::string_view(f.function), f.line});
    told.stack = frames.data();
    told.num_frames = frames.size();
    ref_.tell(ref_.context, told);
  }

 private:
  RuleHandlerRef ref_;
  std::shared_ptr<void> end_;
};

inline RuleHandler handler_of(const RuleHandlerRef& ref) {
  if (ref.tell == nullptr) return {};
  RuleHandler handler{HeldHandler(ref)};
  handler.stand_for(ref.identity);
  return handler;
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
  for (std::size_t i = 0; i < ref.num_rules; ++i) options.rules.emplace_back(ref.rules[i].view());
  options.on_rule = handler_of(ref.on_rule);
  options.stop = ref.stop;
  return options;
}

inline bool enable_dump(const DumpOptionsRef& options, std::string& why) {
  Sessions::get().chosen_by_program = true;  // then NANLENS_LOGDIR is not looked at
  if (options.rule_engine != nullptr && own_rule_engine == nullptr) own_rule_engine = options.rule_engine;
  return start_session(options_of(options), false, why);
}

inline void disable_dump() {
  const std::lock_guard guard(Sessions::get().lock);
  stop_current_session();
}

}  // namespace NANLENS_HIDDEN detail

}  // namespace nanlens::inline NANLENS_ABI
