/// @file
/// The cause analysis for the panes: the verdict's sentence, the class of every row, the chain behind the selection.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include <nanlens/causes/sentence.hpp>

#include "protocol.hpp"
#include "run_index.hpp"

namespace nanlens::viewer {

/// Works in slices once a run has been read; answers at any time for what it has looked at so far.
class Explain {
 public:
  explicit Explain(RunIndex& index) : index_(index), causes_(std::make_unique<causes::Causes>(index.run())) {}

  /// Goes on until `deadline`; true if there is more to do.
  bool step(std::chrono::steady_clock::time_point deadline);
  /// The run has grown.
  void grow() { causes_->run_has_grown(); }
  [[nodiscard]] bool complete() const { return causes_->complete(); }
  [[nodiscard]] std::size_t memory_bytes() const { return causes_->memory_bytes(); }

  /// Adds the cause to the verdict.
  void fill(Verdict& verdict);
  /// Adds class, chain and cause of what is selected, and the caller's tensor behind a nested function's argument.
  void fill(Selection& selection);
  /// All causes, what is expected, and what removed bad values again.
  [[nodiscard]] Explanation explanation();

  /// The run on a page of text; the analysis is complete.
  [[nodiscard]] std::string report();

  /// @name Classes
  ///@{
  [[nodiscard]] EventClass of_row(std::int64_t row);
  [[nodiscard]] EventClass of_output(std::int64_t execution, std::int32_t slot);
  [[nodiscard]] EventClass of_alert(std::size_t alert);
  ///@}

  /// Where the cause of a focus lies; of nothing, or of something clean: the headline's. Empty if there is none.
  [[nodiscard]] Focus cause_of(const Focus& focus);

 private:
  [[nodiscard]] causes::EventRef event_of(const Focus& focus);
  [[nodiscard]] Focus focus_of(causes::EventRef event);
  [[nodiscard]] CauseLine line_of(std::uint32_t root);
  [[nodiscard]] ChainStep step_of(const causes::ChainLink& link);
  void add_evidence(causes::EventRef root, Selection& selection);
  void find_caller(Selection& selection, const causes::Classification& classification);

  RunIndex& index_;
  std::unique_ptr<causes::Causes> causes_;
};

}  // namespace nanlens::viewer
