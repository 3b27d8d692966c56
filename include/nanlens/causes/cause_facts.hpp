/// @file
/// What is known of one cause, apart from any words: a sentence is a function of this alone.
#pragma once

#include <string>
#include <vector>

#include <nanlens/causes/event.hpp>
#include <nanlens/causes/link.hpp>
#include <nanlens/causes/numerics.hpp>
#include <nanlens/summary/debug_mode.hpp>

namespace nanlens::causes {

/// One input of the op to blame.
struct InputFacts {
  std::string name;     ///< as a user knows it; "input 0" where it has no name
  bool known = false;   ///< a clean event on record; `health` is its
  TensorHealth health;  ///< counts are −1 where the mode does not tell them
  /// Of an input of the output's shape, or one that is broadcast to it: what it held at the first places where the
  /// output is bad. Empty: not known.
  std::vector<double> at_bad = {};
  double largest = -1;  ///< magnitude of its finite elements; −1 where neither values nor statistics are on record
};

/// Every text may be empty and every count missing: wordings are chosen by what is there.
struct CauseFacts {
  std::string id;  ///< of the sentence, without "rc."
  EventClass event_class = EventClass::producer;
  float confidence = 1;
  bool contradicted = false;  ///< the inputs on record can't give this output

  std::string op;  ///< type of the op to blame
  OpCode code = OpCode::other;
  std::string tensor;       ///< "Log:0"
  std::string place;        ///< "model.cpp:52"
  std::string gradient_of;  ///< likewise, of the op that it is the gradient of, if that has a line of its own
  std::string where;        ///< the process, where there are several, with its blank: " on host a"
  std::string name;         ///< of the bad tensor, as a user knows it

  Kinds kinds = 0;
  bool written_over = false;  ///< the op wrote over an input before anybody looked, and that is what the doubt is
  bool unread = false;        ///< an op took it, and the values that this made are not on record
  bool kinds_known = true;
  bool complex = false;  ///< of complex numbers: kinds are never known
  TensorHealth out;
  std::vector<InputFacts> inputs;  ///< the first ones, in order
  bool by_itself = false;          ///< the first two are one tensor
  bool all_clean = false;          ///< every input is known to be clean
  std::string origin;              ///< type of the op that the first input comes from
  bool masked = false;             ///< that op is a softmax, and what it was given is not known to be finite

  std::string call;    ///< opaque: the function
  std::string inside;  ///< opaque: type of the op inside that most likely did it
  InputFacts inside_input;
  bool inside_negatives = false;  ///< opaque: it did it with negative values, not with zeros

  std::string guard;     ///< guarded: type of the op that left it out
  std::string integers;  ///< guarded: type of the op that made integers of it, among which that op chooses

  bool nan_follows = false;  ///< expected: a NaN came of it, and was removed again

  std::string missing;  ///< unknown and data: the input that is not on record
  Reason reason = Reason::none;
  std::string written_by;  ///< data: type of the op that wrote it to a variable
  std::string written_at;  ///< data: where, "model.py:7"
  bool native = false;     ///< recorded by nanlens
  bool all_seen = false;   ///< every input was looked at when the op had run
  std::string op_name;     ///< of an eager op that has one beside its type

  InputFacts arrived;           ///< arrived and changed: the input that was bad already
  std::string recorded_there;   ///< changed: what was recorded in its memory before
  std::string lay_there;        ///< unknown: what was bad in the output's memory before
  bool lost_there = false;      ///< unknown: what was in the output's memory before is not on record
  bool alone = false;           ///< unknown: an op that was recorded without inputs
  bool ends_in_result = false;  ///< const: a loss, or a number that is left, is infinite because of it
  TensorDebugMode mode = TensorDebugMode::full_health;

  std::string function;       ///< trapped instructions: the function that holds the place
  std::uint64_t hits = 0;     ///< trapped instructions: how often
  bool hits_are_all = false;  ///< not only until the record was cut short
  double since_start = 0;     ///< trapped instructions: seconds from the beginning of the program to the first
};

}  // namespace nanlens::causes
