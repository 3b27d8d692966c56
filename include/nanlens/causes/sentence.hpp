/// @file
/// A cause in words: what op, where in the source, made what of which input; what follows from it; what to do.
#pragma once

#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <nanlens/causes/causes.hpp>
#include <nanlens/causes/sentence_table.hpp>
#include <nanlens/reader/stack.hpp>
#include <nanlens/tensor/dtype_name.hpp>

namespace nanlens::causes {

/// A sentence with what fills it. `text`, `consequence` and `remedy` are ready to be shown.
struct Sentence {
  std::string id;                                ///< in the table of texts
  std::map<std::string, std::string> arguments;  ///< by the names used there
  std::string text;
  std::string consequence;
  std::string remedy;
  std::string op_type;       ///< of the op to blame
  std::string op_name;       ///< traces, and ops inside a call; else empty
  std::string graph_id;      ///< of that op
  reader::StackFrame place;  ///< the line to look at; line 0 if none is on record
};

/// An event's own stack, outermost frame first.
inline std::vector<reader::StackFrame> stack_of(Run& run, EventRef event) {
  if (event.is_execution) {
    const auto detail = run.execution(event.index);
    return detail ? reader::resolve_stack(run, detail->event.code_location) : std::vector<reader::StackFrame>{};
  }
  const auto op = run.op(run.trace_op(event.index));
  return op ? reader::resolve_stack(run, op->event.code_location) : std::vector<reader::StackFrame>{};
}

/// "Log:0", or the op type of an execution with its output.
inline std::string tensor_name(Model& model, EventRef event) {
  if (event.is_execution) return std::string(model.calls().op_type(event.index)) + ":" + std::to_string(event.slot);
  const auto digest = model.run().trace_digest(event.index);
  return std::string(model.graphs().op_name(model.run().trace_op(event.index))) + ":" +
         std::to_string(digest ? digest->output_slot : 0);
}

/// Writes sentences about roots.
class SentenceWriter {
 public:
  explicit SentenceWriter(Causes& causes) : causes_(causes) {}

  /// The sentence about one root.
  Sentence sentence(std::uint32_t root);
  /// "file.cpp:52", or a word in its place.
  [[nodiscard]] static std::string short_place(const reader::StackFrame& frame) {
    if (frame.line <= 0) return "an unrecorded place";
    const std::size_t slash = frame.file_path.find_last_of('/');
    return frame.file_path.substr(slash == std::string::npos ? 0 : slash + 1) + ":" + std::to_string(frame.line);
  }
  /// The name of a tensor as a user knows it: an argument by its name.
  [[nodiscard]] std::string user_name(EventRef event);

 private:
  void choose(const Root& root, const Classification& c, Sentence& s);
  void fill(const Root& root, const Classification& c, Sentence& s);
  void fill_inputs(EventRef event, const Classification& c, Sentence& s);
  void fill_inside(const Classification& c, Sentence& s);
  void fill_counts(const TensorHealth& health, Sentence& s);
  std::string input_name(EventRef event, const InputEvidence& input);
  std::string why_unknown(const Classification& c, std::string& name, EventRef event);
  std::string consequence(std::uint32_t root);
  void write(const Root& root, Sentence& s);

  Causes& causes_;
};

namespace detail {

inline std::string grouped(double value) {
  std::string text = std::to_string(static_cast<std::uint64_t>(value < 0 ? 0 : value));
  for (std::size_t i = text.size(); i > 3;) text.insert(i -= 3, 1, ',');
  return text;
}
inline std::string counted_noun(double n, const char* one, const char* many) {
  return grouped(n) + " " + (n == 1 ? one : many);
}
inline std::string short_number(double value) {
  char text[32];
  if (value >= 1e6)
    std::snprintf(text, sizeof text, "%.2e", value);
  else
    std::snprintf(text, sizeof text, "%.10g", value);
  return text;
}
inline std::string kinds_words(Kinds kinds) {
  std::string words;
  const auto add = [&](Kinds bit, const char* name) {
    if ((kinds & bit) != 0) words.append(words.empty() ? "" : " and ").append(name);
  };
  add(reader::nan_flag, "NaN");
  add(reader::neg_inf_flag, "−∞");
  add(reader::pos_inf_flag, "+∞");
  return words.empty() ? "NaN or ∞" : words;
}
// Fills {name}s in; names without an argument are left out.
inline std::string filled(std::string_view text, const std::map<std::string, std::string>& arguments) {
  std::string out;
  while (!text.empty()) {
    const std::size_t open = text.find('{');
    out.append(text.substr(0, open));
    if (open == std::string_view::npos) break;
    const std::size_t close = text.find('}', open);
    const auto found = arguments.find(std::string(text.substr(open + 1, close - open - 1)));
    if (found != arguments.end()) out.append(found->second);
    text.remove_prefix(close + 1);
  }
  return out;
}

}  // namespace detail

}  // namespace nanlens::causes

#include <nanlens/causes/sentence.inl>
