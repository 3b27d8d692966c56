/// @file
/// From an event that is being recorded to the rules that hold of it, and to those who want to know.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nanlens/capture/dump.inl>
#include <nanlens/capture/rule_state.hpp>
#include <nanlens/capture/session.hpp>
#include <nanlens/config.hpp>
#include <nanlens/summary/statistics.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN detail {

/// How a program ends that a rule stops.
inline constexpr int stopped_by_rule = 97;

/// What FULL_TENSOR tells of a tensor's health.
inline logdir::TensorHealth health_of_values(const TensorView& view) {
  logdir::TensorHealth h;
  h.dtype = view.dtype;
  h.rank = static_cast<double>(view.shape.size());
  h.size = static_cast<double>(num_elements(view.shape));
  if (!is_floating(view.dtype)) return h;
  const HealthCounts counts = full_health(view);
  h.num_neg_inf = static_cast<double>(counts.neg_inf);
  h.num_pos_inf = static_cast<double>(counts.pos_inf);
  h.num_nan = static_cast<double>(counts.nan);
  h.num_negative = static_cast<double>(counts.negative);
  h.num_zero = static_cast<double>(counts.zero);
  h.num_positive = static_cast<double>(counts.positive);
  h.flags = logdir::flags_of(h);
  return h;
}

/// Are a tensor's minimum, maximum, mean and norm on record?
inline bool tells_statistics(const Session& session, const TensorView& view, const logdir::TensorHealth& health) {
  if (!is_floating(view.dtype)) return false;
  if (session.options().statistics && session.options().extension) return true;
  return session.options().tensor_debug_mode == TensorDebugMode::full_tensor && health.dtype != DType::invalid;
}

/// This thread's part in judging the event that begins; null: nobody judges.
inline RuleState* begin_judging(ThreadState& state, const Session& session) {
  if (!session.rules().active()) return nullptr;
  if (state.rules == nullptr) state.rules = std::make_unique<RuleState>();
  state.rules->begin_event();
  return state.rules.get();
}

/// Judges one output; what holds is written with the event.
inline void judge_output(RuleState& own, Session& session, const RuleEvent& event, bool own_name, std::uint32_t stack) {
  if (own.telling) return;
  const SessionRules& rules = session.rules();
  const auto dtype = static_cast<std::uint64_t>(static_cast<std::int32_t>(event.health.dtype)) << 1 |
                     (event.health.flags & logdir::has_summary_flag);
  const std::uint64_t key = mix(event.op_key, mix(rules.serial(), dtype));
  RuleState::AboutEntry& entry = own.about[key % own.about.size()];
  if (entry.key != key) entry = {key, rules.about(event)};
  if (entry.rules.rules == 0) return;
  auto take = [&](const RuleHolds& what) {
    const RuleRef rule = rules.rule(what.rule);
    own.hits.push_back({std::string(rule.name.view()), std::string(rule.level.view()),
                        std::string(rule.expression.view()), std::string(rule.reason.view()), event.slot, what.hits,
                        false});
    if (!what.first_of_rule) return;
    own.pins = true;
    RuleToTell told{&session, what.rule, stack, session.options().on_rule, session.options().stop && rule.is_error, {}};
    told.hit.rule = rule.name.view();
    told.hit.level = rule.level.view();
    told.hit.expression = rule.expression.view();
    told.hit.reason = rule.reason.view();
    told.hit.op_type = event.op_type.view();
    if (own_name) told.hit.op_name = event.op_name.view();
    told.hit.graph_name = event.graph_name.view();
    told.hit.output_slot = event.slot;
    told.hit.numbers = what.numbers.view();
    own.to_tell.push_back(std::move(told));
  };
  rules.judge(entry.rules, event, take);
}

inline void add_statistics(RuleEvent& event, const Statistics& s) noexcept {
  event.has_statistics = true;
  event.min = s.min;
  event.max = s.max;
  event.mean = s.mean;
  event.norm = s.norm;
}

/// Judges the tensor of a trace. Statistics that were needed for it are left in `own`.
inline void judge_trace(RuleState& own, Session& session, const GraphOp& op, std::int32_t slot, const TensorView& view,
                        const logdir::TensorHealth& health) {
  RuleEvent event;
  event.op_name = std::string_view(op.name);
  event.op_type = std::string_view(op.type);
  event.graph_name = std::string_view(op.graph->name);
  event.device = std::string_view(view.device);
  event.op_key = mix(reinterpret_cast<std::uintptr_t>(&op), static_cast<std::uint64_t>(slot));
  event.slot = slot;
  event.mode = static_cast<std::int32_t>(session.options().tensor_debug_mode);
  event.row_flags = health.flags;
  event.health = health;
  if (session.rules().asks_statistics() && tells_statistics(session, view, health)) {
    add_statistics(event, own.statistics.emplace_back(statistics(view)).value());
  }
  judge_output(own, session, event, true, op.stack);
}

/// Judges the outputs of an eager op, whose healths are in `own`; statistics that were needed are left there.
inline void judge_eager(RuleState& own, Session& session, const OpRef& name, std::span<const OutputRef> outputs,
                        std::uint32_t stack) {
  RuleEvent event;
  event.is_execution = true;
  event.op_type = name.type();
  const bool named = name.has_own_name() && session.options().extension;
  event.op_name = named ? name.name() : name.type();
  event.mode = static_cast<std::int32_t>(session.options().tensor_debug_mode);
  std::uint8_t flags = 0;
  for (const logdir::TensorHealth& health : own.healths) flags = static_cast<std::uint8_t>(flags | health.flags);
  event.row_flags = static_cast<std::uint8_t>(flags & ~logdir::empty_flag);
  const std::uint64_t op = mix(mix(hash_text(name.type()), named ? hash_text(name.name()) : 0), stack);
  for (std::size_t i = 0; i < own.healths.size(); ++i) {
    const TensorView& view = outputs[i].view;
    event.device = std::string_view(view.device);
    event.op_key = mix(op, i);
    event.slot = static_cast<std::int32_t>(i);
    event.health = own.healths[i];
    event.has_statistics = false;
    if (session.rules().asks_statistics() && outputs.size() == own.healths.size()) {
      std::optional<Statistics>& known = own.statistics.emplace_back();
      if (tells_statistics(session, view, own.healths[i])) add_statistics(event, known.emplace(statistics(view)));
    }
    judge_output(own, session, event, named, stack);
  }
}

inline std::string message_of(const RuleHit& hit) {
  std::string text = "the rule \"" + hit.rule + "\" holds of " + (hit.op_name.empty() ? hit.op_type : hit.op_name) +
                     ":" + std::to_string(hit.output_slot);
  if (!hit.op_name.empty() && hit.op_name != hit.op_type) text += " (" + hit.op_type + ")";
  if (!hit.stack.empty() && hit.stack.back().line > 0)
    text += " at " + hit.stack.back().file + ":" + std::to_string(hit.stack.back().line);
  if (!hit.numbers.empty()) text += ": " + hit.numbers;
  return text + (hit.reason.empty() ? "" : " (" + hit.reason + ")");
}

/// Runs a part of telling; whatever it throws is said, and what follows goes on.
template <class Body>
void say_if_thrown([[maybe_unused]] const char* what, [[maybe_unused]] const RuleHit& hit, Body&& body) noexcept {
#if NANLENS_HAS_EXCEPTIONS
  try {
#endif
    body();
#if NANLENS_HAS_EXCEPTIONS
  } catch (const std::exception& error) {
    std::fprintf(stderr, "nanlens: %s of the rule \"%s\" threw: %s\n", what, hit.rule.c_str(), error.what());
  } catch (...) {
    std::fprintf(stderr, "nanlens: %s of the rule \"%s\" threw\n", what, hit.rule.c_str());
  }
#endif
}

/// Tells of a hit: the program's handler, or stderr; and stops the program where that was asked for, whatever goes
/// wrong before.
inline void tell_rule(RuleToTell& told) noexcept {
  say_if_thrown("the message", told.hit, [&] {
    told.hit.stack = told.session->frames_of(told.stack);
    told.hit.message = message_of(told.hit);
  });
  told.stops = told.stops && told.session->note_stop(told.number);
  if (told.stops || !told.handler)
    std::fprintf(stderr, "nanlens: %s: %s%s\n", told.hit.level.c_str(), told.hit.message.c_str(),
                 told.stops ? "; the program is stopped" : "");
  if (told.handler) say_if_thrown("the handler", told.hit, [&] { told.handler(told.hit); });
  if (!told.stops) return;
  say_if_thrown("the stop", told.hit, [] { disable_dump(); });
  std::fflush(stdout);
  std::_Exit(stopped_by_rule);
}

/// Tells of all that the op which is recorded now has hit. No lock is held, and the thread records no more: a handler
/// may do what it likes.
inline void tell_rules(RuleState& own) noexcept {
  if (own.telling) return;
  own.telling = true;
  std::vector<RuleToTell> all;
  all.swap(own.to_tell);
  for (RuleToTell& told : all) tell_rule(told);
  own.telling = false;
}

}  // namespace NANLENS_HIDDEN detail
}  // namespace nanlens::inline NANLENS_ABI
