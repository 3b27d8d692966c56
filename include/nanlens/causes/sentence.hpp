/// @file
/// A cause in words: what op, where in the source, made what of which input; what follows from it; what to do.
#pragma once

#include <map>
#include <optional>
#include <string>

#include <nanlens/causes/groups.hpp>
#include <nanlens/causes/runs.hpp>
#include <nanlens/causes/stack_of.hpp>
#include <nanlens/causes/wording.hpp>

namespace nanlens::causes {

/// A sentence with what fills it. `text`, `consequence` and `remedy` are ready to be shown.
struct Sentence {
  std::string id;                                ///< names the kind of cause
  std::map<std::string, std::string> arguments;  ///< by the names in sentence_table.hpp
  std::string text;
  std::string consequence;
  std::string remedy;
  std::string where;         ///< which rows, columns or elements are bad; empty if not on record
  std::string op_type;       ///< of the op to blame
  std::string op_name;       ///< traces, ops inside a call, and eager ops that have one; else empty
  std::string graph_id;      ///< of that op
  std::string host;          ///< where it began, if several processes recorded; else empty
  reader::StackFrame place;  ///< the line to look at; line 0 if none is on record
  /// Of an op that TensorFlow made to calculate a gradient: the line of the op that it is the gradient of, if that is
  /// another; line 0 if there is none, or it can't be told.
  reader::StackFrame gradient_of;
  reader::StackFrame inside;  ///< the line of a library that the line to look at has called; line 0 if there is none
};

/// "Log:0", or the op type of an execution with its output.
inline std::string tensor_name(Model& model, EventRef event) {
  if (event.is_execution) return std::string(model.calls().op_type(event.index)) + ":" + std::to_string(event.slot);
  const auto digest = model.run().trace_digest(event.index);
  return std::string(model.graphs().op_name(model.run().trace_op(event.index))) + ":" +
         std::to_string(digest ? digest->output_slot : 0);
}

/// Writes sentences about roots, for as long as the analysis does not go on.
class SentenceWriter {
 public:
  explicit SentenceWriter(Causes& causes, const Speech& speech = english_speech) : causes_(causes), speech_(speech) {}

  /// The sentence about one root.
  Sentence sentence(std::uint32_t root);
  /// The causes to write about, found when first asked for.
  [[nodiscard]] const CauseGroups& groups() {
    if (!groups_) groups_.emplace(causes_);
    return *groups_;
  }
  /// Does a group of causes perhaps follow from a root: did it go bad later, for a reason that is not on record?
  [[nodiscard]] bool may_follow(const CauseGroup& group, std::uint32_t root) const;
  /// " It happened 12 times; this is the first."; empty of what happened once.
  [[nodiscard]] std::string times_words(std::uint32_t root);
  /// "file.cpp:52"; empty for a place that is not on record.
  [[nodiscard]] static std::string short_place(const reader::StackFrame& frame) {
    if (frame.line <= 0) return {};
    const std::size_t slash = frame.file_path.find_last_of('/');
    return frame.file_path.substr(slash == std::string::npos ? 0 : slash + 1) + ":" + std::to_string(frame.line);
  }
  /// The name of a tensor as a user knows it: an argument by its name.
  [[nodiscard]] std::string user_name(EventRef event);

 private:
  void blame(EventRef event, Sentence& s);
  void blame_op(std::uint32_t op, Sentence& s);
  void blame_looped(const Classification& c, Sentence& s);
  [[nodiscard]] std::vector<reader::StackFrame> stack_of_op(std::uint32_t op);
  static void take_places(const std::vector<reader::StackFrame>& frames, Sentence& s);
  [[nodiscard]] std::uint32_t forward_op(std::uint32_t op);
  [[nodiscard]] std::string choose(const Root& root, const Classification& c);
  [[nodiscard]] bool masked_row(const Root& root);
  [[nodiscard]] bool is_zero_times(const Root& root);
  [[nodiscard]] bool multiplies_zero_by(EventRef event, const InputEvidence& arrived);
  [[nodiscard]] std::string result_words(const Root& root);
  [[nodiscard]] bool is_of_whole_rows(EventRef difference);
  [[nodiscard]] bool has_no_weight(EventRef event);
  [[nodiscard]] bool is_of_decomposition(EventRef event);
  void gather(const Root& root, const Classification& c, Sentence& s, CauseFacts& f);
  void gather_hits(std::uint32_t root, const Sentence& s, CauseFacts& f);
  [[nodiscard]] bool trapped_in_part();
  void gather_inputs(const Root& root, const Classification& c, CauseFacts& f);
  [[nodiscard]] std::optional<Kinds> kinds_of(EventRef event);
  [[nodiscard]] bool may_be_masked(EventRef event, bool begins);
  void leave_out_what_came_in(const Classification& c, CauseFacts& f);
  void gather_values(EventRef event, const Classification& c, CauseFacts& f);
  void tell_apart(EventRef event, const Classification& c, CauseFacts& f);
  void gather_arrived(EventRef event, const Classification& c, CauseFacts& f);
  void gather_inside(const Classification& c, Sentence& s, CauseFacts& f);
  void gather_write(const Link& link, CauseFacts& f);
  void gather_missing(EventRef event, const Classification& c, CauseFacts& f);
  [[nodiscard]] std::string where_it_ran(EventRef event, Sentence& s);
  [[nodiscard]] std::string input_name(EventRef event, const InputEvidence& input);
  [[nodiscard]] std::string host_name(EventRef event, std::uint32_t input);
  [[nodiscard]] std::string named_words(std::uint32_t root);
  [[nodiscard]] std::string spread_words(std::uint32_t root);
  [[nodiscard]] bool recorded_in_part() const;
  [[nodiscard]] std::string twin_words(std::uint32_t root);
  [[nodiscard]] std::string reach_words(const Root& root, std::uint64_t reach, bool perhaps);
  [[nodiscard]] std::string consequence(std::uint32_t root);

  [[nodiscard]] std::string at_words(EventRef event);

  Causes& causes_;
  const Speech& speech_;
  std::optional<CauseGroups> groups_;
  std::optional<bool> trapped_in_part_;
  EventRef named_;  // whose inputs `names_` are of
  std::vector<std::string> names_;
};

}  // namespace nanlens::causes

#if !defined(NANLENS_SPLIT)
#include <nanlens/causes/sentence.inl>
#endif
