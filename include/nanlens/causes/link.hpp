/// @file
/// The answer to "what fed this input?".
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include <nanlens/causes/event.hpp>
#include <nanlens/causes/speech.hpp>

namespace nanlens::causes {

/// Why an input is not known.
enum class Reason : std::uint8_t {
  none,
  not_recorded,  ///< its op ran, and has no row in this run of the graph
  filtered,      ///< ops of this type have no rows at all: a filter left them out
  caller,        ///< an argument whose caller is not on record
  given,         ///< an argument of a graph that the host itself runs
  arguments,     ///< arguments and inputs of the call don't match in number
  runtime,       ///< an argument of a graph that the runtime calls by itself
  lost,          ///< a recorded op made it, of which there is no record any more, as behind the gap of a ring
  eager,         ///< an eager tensor that no recorded execution made: a constant or a converted value
  before,        ///< an eager tensor older than the first execution on record, where a ring may have dropped others
  variable,      ///< a variable that no recorded execution wrote
  which,         ///< a variable, and which one can't be told
  updated,       ///< what a variable became when it was changed last is not on record
  assigned,      ///< what a recorded execution wrote to a variable is such an eager tensor
  container,     ///< came out of an iterator, an optional or a list
  nested,        ///< the result of a nested call, which TensorFlow does not record
  vectorized,    ///< the result of an op that vectorises one of a loop, of which TensorFlow writes no rows
  passed,        ///< an argument of such a call
  control_flow,  ///< the result of a branch or loop without rows
  other_rank,    ///< another rank put it in, of which there is no record, or not a certain one
  unread,        ///< its values are in memory that the recording program could not read, as a GPU's
  written_over,  ///< the op has written over it before anybody looked
  complex,       ///< it is complex: TensorFlow tells nothing of such
  too_deep,      ///< more steps than a sound logdir needs
};

/// Was it there, and nobody could look at it?
constexpr bool is_hidden(Reason reason) noexcept { return reason == Reason::unread || reason == Reason::written_over; }

/// Is it an eager tensor of TensorFlow's of which no execution on record tells how it was made?
constexpr bool is_unrecorded(Reason reason) noexcept { return reason == Reason::eager || reason == Reason::before; }

/// In words, to follow "was not recorded". `native`: of nanlens' logdirs, whose programs need not record every op.
constexpr std::string_view reason_words(Reason reason, bool native, const Speech& speech = english_speech) noexcept {
  switch (reason) {
    case Reason::lost: return speech[Saying::reason_lost];
    case Reason::not_recorded:
    case Reason::vectorized: return speech[Saying::reason_not_recorded];
    case Reason::filtered: return speech[Saying::reason_filtered];
    case Reason::caller: return speech[Saying::reason_caller];
    case Reason::given: return speech[Saying::reason_given];
    case Reason::arguments: return speech[Saying::reason_arguments];
    case Reason::runtime: return speech[Saying::reason_runtime];
    case Reason::eager: return speech[native ? Saying::reason_native : Saying::reason_eager];
    case Reason::before: return speech[Saying::reason_before];
    case Reason::variable: return speech[Saying::reason_variable];
    case Reason::which: return speech[Saying::reason_which];
    case Reason::updated: return speech[Saying::reason_updated];
    case Reason::assigned: return speech[Saying::reason_assigned];
    case Reason::container: return speech[Saying::reason_container];
    case Reason::nested: return speech[Saying::reason_nested];
    case Reason::passed: return speech[Saying::reason_passed];
    case Reason::control_flow: return speech[Saying::reason_control_flow];
    case Reason::other_rank: return speech[Saying::reason_other_rank];
    case Reason::unread: return speech[Saying::reason_unread];
    case Reason::written_over: return speech[Saying::reason_written_over];
    case Reason::complex: return speech[Saying::reason_complex];
    case Reason::too_deep: return speech[Saying::reason_too_deep];
    case Reason::none: break;
  }
  return "";
}

/// What fed one input of an op.
struct Link {
  enum class State : std::uint8_t {
    events,      ///< these events; one, or the items of a container
    candidates,  ///< one of these
    clean,       ///< a tensor that is never a float, or a variable's handle
    unknown,
  };
  State state = State::unknown;
  Reason reason = Reason::none;
  bool empty = false;    ///< clean, and known to have no elements
  bool no_rows = false;  ///< clean, since its op has no rows, as those of a type have which no mode summarises
  float confidence = 1;
  std::int64_t tensor_id = -1;     ///< the eager tensor that no execution made, where that is the reason
  std::uint32_t writer = none;     ///< the last execution that wrote such a tensor to the variable
  std::uint32_t updater = none;    ///< the last execution that added something to it, where that is the reason
  std::uint32_t update_op = none;  ///< the op that did, in a function
  std::uint32_t looped = none;     ///< the op of a loop that was vectorised, where that is the reason
  std::uint32_t name = 0;          ///< that of the op which did so, in the run's strings
  std::vector<EventRef> events;

  void set_unknown(Reason why, float how_sure) {
    state = State::unknown;
    reason = why;
    confidence = how_sure;
    events.clear();
  }
  void set_clean(float how_sure) {
    state = State::clean;
    confidence = how_sure;
    events.clear();
  }
  void set_event(EventRef event, float how_sure) {
    state = State::events;
    confidence = how_sure;
    events.assign(1, event);
  }
  /// Less sure by this factor.
  void weaken(float factor) { confidence *= factor; }
  void limit(float most) {
    if (confidence > most) confidence = most;
  }
};

}  // namespace nanlens::causes
