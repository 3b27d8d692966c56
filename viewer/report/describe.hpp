/// @file
/// Sentences about tensors and places, shared by the report and the command.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nanlens/causes/event.hpp>
#include <nanlens/causes/sentence.hpp>
#include <nanlens/reader/reader.hpp>

namespace nanlens::report {

/// A text as a sentence of its own: with the full stop of the language.
std::string sentence_of(const std::string& text);

/// "float32 2D size 1,000: NaN ×3, − ×990, 0 ×7": what a summary says of a tensor; "" if it says nothing.
std::string describe_values(std::int32_t mode, const reader::TensorValues& values);

/// The same of an event on record.
std::string values_of(reader::Run& run, causes::EventRef event);

/// "Log:0" for a trace, "MatMul output 0" for an execution.
std::string describe_tensor(const reader::Alert& alert);

/// The same of counts.
std::string describe_health(const reader::TensorHealth& health);

/// The elements that an evidence names: "[0,3] NaN, [1,2] −∞"; of a scalar its value alone.
std::string elements_text(const logdir::TensorEvidence& seen);

/// "NaN ×3, −∞ ×1", or "NaN or ∞" where the mode keeps one flag only.
std::string describe_alert(const reader::TensorHealth& health);

/// The stack of the op that made a bad tensor: of the op's creation for a trace, of the call for an execution.
std::vector<reader::StackFrame> stack_of(reader::Run& run, const reader::Alert& alert);

/// When a run started, given in seconds since 1970: "2026-11-22 09:30:00 UTC", or that it is not known, where no clock
/// can have told it.
std::string describe_start(double wall_time);

/// What to call a run: its id, host and start.
std::string run_name(const reader::Run& run);

/// Why more may have happened than is on record, one reason each, without a full stop: events that were lost, tensors
/// that could not be read, an end that was not in order, complex numbers that are bad where nothing else is. Empty if
/// all is on record, or the recorder does not tell (TensorFlow).
std::vector<std::string> unfinished_words(const reader::Run& run);
/// Are there events, none of which tells anything of its values? Those of complex numbers do not, for one.
bool tells_nothing(const reader::Run& run);

/// What is not on record although it was to be: events, and values of tensors.
std::vector<std::string> missing_words(std::uint64_t dropped, std::uint64_t unread_tensors);

/// What was not recorded because nobody wanted it to be: "99 steps and 1,234 ops (in 12.3 s) were left out, as asked
/// for". Empty if nothing was.
std::string left_out_words(const reader::Run& run);

/// "Expected: The constant Fill at model.py:3 holds −∞ … It happened 12 times; this is the first."
std::string expected_words(causes::SentenceWriter& writer, const causes::CauseGroup& group);

/// That only the last events were kept, of so many that others may be missing; "" if that is not known.
std::string ring_words(const reader::Run& run);

/// That floating-point exceptions were trapped in part, so that one may have been missed; "" if they were not.
std::string untrapped_words(reader::Run& run);

/// What the rules of the program that recorded a run found while it ran, one line each, without a full stop: "The
/// program was stopped by its rule "dead relu" at relu.cpp:12 (37 hits)".
std::vector<std::string> rule_words(reader::Run& run);

/// How much a rule of a program could not judge, as there were more outputs than such rules follow; "" if nothing.
std::string not_followed_words(const logdir::RuleHit& outcome);

/// That these rules of a program were about nothing that it did; "" if there are none.
std::string idle_rules_words(const std::vector<std::string>& names);

/// Both, of all rules of the program that recorded a run; one line each.
std::vector<std::string> rule_gaps(const reader::Run& run);

/// A function's name without its parameters.
std::string short_function(const std::string& function);

/// "scan.cpp:12"; where no line is known, the function.
std::string line_or_function(const reader::StackFrame& frame);

/// "path:line in function"
std::string describe_frame(const reader::StackFrame& frame);

/// A whole number with thousands separators.
std::string with_separators(std::uint64_t value);

}  // namespace nanlens::report
