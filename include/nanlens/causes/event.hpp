/// @file
/// The vocabulary of the cause analysis: events, their classes, and how sure an answer is.
#pragma once

#include <cstdint>

#include <nanlens/causes/speech.hpp>
#include <nanlens/reader/definitions.hpp>

namespace nanlens::causes {

using reader::none;

/// One tensor instance on record: a GraphExecutionTrace, or an output of an Execution.
struct EventRef {
  std::uint32_t index = none;  ///< of the trace, or of the execution
  std::uint16_t slot = 0;      ///< executions: the output
  bool is_execution = false;

  [[nodiscard]] bool exists() const noexcept { return index != none; }
  friend bool operator==(const EventRef&, const EventRef&) = default;
};

inline EventRef trace_event(std::uint32_t row) noexcept { return {row, 0, false}; }
inline EventRef execution_event(std::uint32_t execution, std::size_t slot) noexcept {
  return {execution, static_cast<std::uint16_t>(slot), true};
}

/// What an event is in the story of a NaN. It belongs to the instance, never to the op: the same op makes a NaN in one
/// call and passes one on in the next.
enum class EventClass : std::uint8_t {
  clean,       ///< no NaN, no infinity, and nothing bad came in
  killer,      ///< clean although something bad came in: it was removed here
  producer,    ///< bad, and nothing bad came in: made here
  propagator,  ///< bad in, bad out, with computing in between: passed on
  relay,       ///< the same tensor under another name
  source,      ///< bad data that entered from outside the record
  unknown,     ///< inputs are not on record, and nothing else decides
  expected,    ///< an intended infinity, such as a mask, that does no harm
};

/// The name of a class in JSON.
constexpr const char* class_name(EventClass c) noexcept {
  switch (c) {
    case EventClass::clean: return "clean";
    case EventClass::killer: return "removed";
    case EventClass::producer: return "made";
    case EventClass::propagator: return "passed";
    case EventClass::relay: return "relay";
    case EventClass::source: return "source";
    case EventClass::unknown: return "unknown";
    case EventClass::expected: return "expected";
  }
  return "";
}

/// The class in the words that a person reads.
constexpr const char* class_words(EventClass c, const Speech& speech = english_speech) noexcept {
  switch (c) {
    case EventClass::clean: return speech[Saying::class_clean].data();
    case EventClass::killer: return speech[Saying::class_killer].data();
    case EventClass::producer: return speech[Saying::class_producer].data();
    case EventClass::propagator: return speech[Saying::class_propagator].data();
    case EventClass::relay: return speech[Saying::class_relay].data();
    case EventClass::source: return speech[Saying::class_source].data();
    case EventClass::unknown: return speech[Saying::class_unknown].data();
    case EventClass::expected: return speech[Saying::class_expected].data();
  }
  return "";
}

/// Is the story told from here on: nothing before this event is to blame?
constexpr bool is_root(EventClass c) noexcept {
  return c == EventClass::producer || c == EventClass::source || c == EventClass::unknown || c == EventClass::expected;
}

/// How sure an answer is, in words; empty when there is no doubt to speak of. `confidence` is in 0 … 1.
constexpr const char* confidence_words(float confidence, const Speech& speech = english_speech) noexcept {
  constexpr float sure = 0.895F;
  constexpr float probable = 0.595F;
  if (confidence >= sure) return "";
  return speech[confidence >= probable ? Saying::doubt_probably : Saying::doubt_perhaps].data();
}

/// The same, to follow `class_words`: what can't be told is in doubt already.
constexpr const char* doubt_words(EventClass c, float confidence, const Speech& speech = english_speech) noexcept {
  return c == EventClass::unknown ? "" : confidence_words(confidence, speech);
}

}  // namespace nanlens::causes
