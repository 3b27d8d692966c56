/// @file
/// What `nanlens why` says of a recording, for programs whose culprit is known.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <nanlens/causes/sentence.hpp>

#include "../support/finish.hpp"
#include "recorded.hpp"

namespace nanlens::test {

struct TrialAnswer {
  causes::Sentence sentence;  ///< the headline
  causes::EventClass event_class = causes::EventClass::unknown;
  std::vector<std::string> makers;  ///< "Log" or "dense fc1" of all causes that are said to have made what is bad
  std::size_t causes = 0;           ///< as `why` counts them

  [[nodiscard]] bool says(const std::string& part) const { return sentence.text.find(part) != std::string::npos; }
  /// The op that the headline is about, with its name where it has one.
  [[nodiscard]] std::string op() const { return op_of(sentence); }

  /// Without the number of a node that was made anew for the same op.
  static std::string op_of(const causes::Sentence& s) {
    const std::string name(causes::detail::without_number(s.op_name));
    return name.empty() || name == s.op_type ? s.op_type : s.op_type + " " + name;
  }
};

/// No text may show that something was to stand there.
inline void check_whole(const std::string& text) {
  CAPTURE(text);
  for (const char* const hole : {"  ", " .", " ,", " :", " ()", "( ", "\"\"", "{", "}"})
    CHECK(text.find(hole) == std::string::npos);
  CHECK_FALSE(text.empty());
  CHECK(text.front() != ' ');
  CHECK(text.back() == '.');
}

/// Asks for the causes, and looks at every sentence about them. No headline: nothing is bad.
inline TrialAnswer answer_of(const Recorded& run) {
  causes::Causes causes(*run);
  finish(causes, 3);
  causes::SentenceWriter writer(causes);
  TrialAnswer v;
  for (std::uint32_t i = 0; i < causes.roots().size(); ++i) {
    const causes::Sentence s = writer.sentence(i);
    check_whole(s.text);
    check_whole(s.remedy);
    if (causes.roots()[i].reach > 0) check_whole(s.consequence);
    CHECK_FALSE(s.op_type.empty());
    if (causes.roots()[i].event_class == causes::EventClass::producer) v.makers.push_back(TrialAnswer::op_of(s));
  }
  std::sort(v.makers.begin(), v.makers.end());
  v.makers.erase(std::unique(v.makers.begin(), v.makers.end()), v.makers.end());
  v.causes = writer.groups().list().size();
  if (const auto headline = causes.headline()) {
    v.sentence = writer.sentence(*headline);
    v.event_class = causes.roots()[*headline].event_class;
  }
  return v;
}

/// A program with one culprit, and what is to be said of it.
struct Trial {
  const char* name;
  std::function<void()> program;
  const char* op;           ///< to blame, with its own name
  const char* id;           ///< of the sentence
  const char* says;         ///< part of it, where all kinds of numbers are counted
  bool made;                ///< the op itself did it: else nobody on record did
  std::size_t most_causes;  ///< what no wrapped code hands on is found again where it comes in
};

/// Every program in every way of recording that sees the NaN. `line_of`: where an op was called. `in_functions`: names
/// of inputs are those of graphs, so that texts differ.
inline void check_trials(std::span<const Trial> trials, const std::function<int(const std::string&)>& line_of,
                         bool in_functions = false) {
  struct {
    TensorDebugMode mode;
    std::int64_t ring;
  } const ways[] = {
      {TensorDebugMode::full_health, -1}, {TensorDebugMode::full_health, 1000}, {TensorDebugMode::concise_health, -1}};
  for (const Trial& trial : trials)
    for (const auto& way : ways) {
      const Recorded run(trial.program, [&](DumpOptions& o) {
        o.tensor_debug_mode = way.mode;
        o.circular_buffer_size = way.ring;
      });
      const TrialAnswer a = answer_of(run);
      CAPTURE(std::string(trial.name));
      CAPTURE(a.sentence.text);
      CAPTURE(a.sentence.consequence);
      CHECK(a.op() == trial.op);
      CHECK(a.sentence.id == trial.id);
      if (way.mode == TensorDebugMode::full_health && !in_functions) CHECK(a.says(trial.says));
      CHECK(a.sentence.place.line == line_of(trial.op));
      CHECK(a.event_class == (trial.made ? causes::EventClass::producer : causes::EventClass::source));
      CHECK(a.makers == (trial.made ? std::vector<std::string>{trial.op} : std::vector<std::string>{}));
      CHECK(a.causes >= 1);
      CHECK(a.causes <= trial.most_causes);
    }
}

/// A program without a culprit.
inline void check_clean(const std::function<void()>& program) {
  const Recorded run(program);
  CHECK(run->num_executions() > 0);
  CHECK(run->alerts().empty());
}

}  // namespace nanlens::test
