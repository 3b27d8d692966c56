/// @file
/// The cause analysis for the panes: the verdict's sentence, the class of every row, the chain behind the selection.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nanlens/causes/neighbours.hpp>
#include <nanlens/causes/sentence.hpp>

#include "protocol.hpp"
#include "report/muted_causes.hpp"
#include "report/trapped.hpp"
#include "run_index.hpp"
#include "texts/speech.hpp"

namespace nanlens::viewer {

/// Works in slices once a run has been read; answers at any time for what it has looked at so far.
class Explain {
 public:
  explicit Explain(RunIndex& index) : index_(index), causes_(std::make_unique<causes::Causes>(index.run())) {}

  /// Goes on until `deadline`; true if there is more to do.
  bool step(std::chrono::steady_clock::time_point deadline);
  /// Marks of causes that are meant to be, which stay where they are until there are others.
  void set_mutes(report::Mutes& mutes) {
    mutes_ = &mutes;
    muted_.reset();
    trapped_.reset();
  }
  /// The language of what is written from now on. It never changes while something is written: what has been handed
  /// out of the writer would be gone.
  void speak(Tongue tongue) {
    if (tongue == speaks_) return;
    speaks_ = tongue;
    forget_groups();
  }
  /// The run has grown.
  void grow() {
    forget_groups();
    trapped_.reset();
    causes_->run_has_grown();
  }
  [[nodiscard]] bool complete() const { return causes_->complete(); }
  [[nodiscard]] std::size_t memory_bytes() const { return causes_->memory_bytes(); }

  /// Adds the cause to the verdict.
  void fill(Verdict& verdict);
  /// Adds class, chain and cause of what is selected.
  void fill(Selection& selection);
  /// All causes, what is expected, and what removed bad values again.
  [[nodiscard]] Explanation explanation();

  /// The run on a page of text; the analysis is complete.
  [[nodiscard]] std::string report();

  /// @name Lineage: how the analysis pairs rows, calls and tensors
  /// Nothing is paired while executions that are new have not been taken in; each call takes in some more.
  ///@{
  [[nodiscard]] causes::Neighbours& neighbours() { return neighbours_; }
  [[nodiscard]] causes::GraphFacts& graphs() { return causes_->model().graphs(); }
  /// The run of a graph that a focus shows: that of its row, else the first in its call. Its run is none if there is
  /// none.
  [[nodiscard]] causes::Place place_of(const Focus& focus, std::uint32_t graph);
  /// The row of an op's output beside what is selected; −1 if there is none.
  [[nodiscard]] std::int64_t row_near(const Focus& focus, std::uint32_t op, std::int32_t slot);
  /// The row that an output of a call was inside of it; −1 if that is not known.
  [[nodiscard]] std::int64_t row_behind(std::int64_t execution, std::int32_t slot);
  /// The graph a call runs; none if that is not known.
  [[nodiscard]] std::uint32_t graph_of_call(std::int64_t execution);
  /// A graph's placeholders, in the order of its function's inputs.
  [[nodiscard]] std::vector<std::uint32_t> arguments(std::uint32_t graph);
  /// The output that gave a tensor its id before an execution.
  [[nodiscard]] causes::EventRef producer_of(std::int64_t tensor_id, std::int64_t execution);
  /// What takes an output of an execution, in order, until its tensor's id is given to another.
  [[nodiscard]] std::span<const causes::TensorUse> consumers_of(std::int64_t execution, std::int32_t slot);
  /// All executions; null while they have not been taken in.
  [[nodiscard]] const causes::CallTable* calls();
  ///@}

  /// "Log:0"
  [[nodiscard]] std::string name_of(causes::EventRef event) { return causes::tensor_name(causes_->model(), event); }

  /// What the selected execution exchanged with those of other processes, as far as that is on record.
  [[nodiscard]] std::vector<ExchangePartner> partners_of(std::int64_t execution);

  /// @name Classes
  ///@{
  [[nodiscard]] EventClass of_row(std::int64_t row);
  [[nodiscard]] EventClass of_output(std::int64_t execution, std::int32_t slot);
  [[nodiscard]] EventClass of_alert(std::size_t alert);
  /// The alert that the cause shown begins with; −1 while the analysis goes on, and if every cause is muted.
  [[nodiscard]] std::int64_t alert_of_cause();
  /// Does an alert come from an infinity that is meant to be? False while the analysis goes on.
  [[nodiscard]] bool is_intended(std::size_t alert);
  ///@}

  /// @name Marks
  ///@{
  /// Can anything be muted? False while the analysis goes on.
  [[nodiscard]] bool has_mutes() const { return !mutes_->empty() && complete(); }
  /// The mark that mutes the cause of an alert; null if none does.
  [[nodiscard]] const report::Mute* mute_of_alert(std::size_t alert);
  /// Lines of nanlens.mutes that do nothing; those that match nothing once the analysis is complete.
  [[nodiscard]] std::vector<report::MuteProblem> mute_problems();
  /// What the program trapped itself, and the marks that mute it.
  [[nodiscard]] const std::vector<report::TrappedByProgram>& trapped();
  ///@}

  /// Where the cause of a focus lies; of nothing, or of something clean: the headline's. Empty if there is none.
  [[nodiscard]] Focus cause_of(const Focus& focus);

 private:
  [[nodiscard]] causes::EventRef event_of(const Focus& focus);
  [[nodiscard]] Focus focus_of(causes::EventRef event);
  [[nodiscard]] CauseLine line_of(std::uint32_t root);
  [[nodiscard]] ChainStep step_of(const causes::ChainLink& link);
  [[nodiscard]] bool came_from(std::uint32_t received, std::uint32_t sent);
  void add_evidence(causes::EventRef root, Selection& selection);

  [[nodiscard]] bool linked();
  void forget_groups() {
    muted_.reset();
    writer_.reset();
  }
  [[nodiscard]] const report::MutedCauses& muted();
  [[nodiscard]] const report::Mute* mute_of_root(std::uint32_t root);
  // Kept while the analysis stands still: grouping causes reads their stacks.
  [[nodiscard]] causes::SentenceWriter& writer() {
    return writer_ ? *writer_ : writer_.emplace(*causes_, speech_of(speaks_));
  }

  RunIndex& index_;
  std::unique_ptr<causes::Causes> causes_;
  causes::Neighbours neighbours_{*causes_};
  std::optional<causes::SentenceWriter> writer_;
  Tongue speaks_ = Tongue::english;
  report::Mutes no_mutes_;
  report::Mutes* mutes_ = &no_mutes_;
  std::optional<report::MutedCauses> muted_;                      // like the writer
  std::optional<std::vector<report::TrappedByProgram>> trapped_;  // until the run grows or the marks change
};

}  // namespace nanlens::viewer
