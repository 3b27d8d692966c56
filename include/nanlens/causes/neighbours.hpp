/// @file
/// The tensors around an op, paired as the analysis pairs them: what every pane and command shows as inputs and
/// consumers.
#pragma once

#include <vector>

#include <nanlens/causes/causes.hpp>

namespace nanlens::causes {

/// An op that takes a tensor, with what it made of it in the same run of the graph.
struct ConsumerEvidence {
  std::uint32_t op = none;
  std::uint16_t output_slot = 0;  ///< of the op that is asked about
  std::uint16_t input_slot = 0;   ///< of the consumer
  EventRef event;                 ///< the consumer's output 0; does not exist where it is not on record
};

/// Answers for the rows and calls that `causes.link` has taken in. One answer costs the edges of one op, after a pass
/// over the rows of its call when that call is asked about first.
class Neighbours {
 public:
  explicit Neighbours(Causes& causes) : causes_(causes), model_(causes.model()) {}

  /// The run of a graph in which a row was made.
  [[nodiscard]] Place place_of(std::uint32_t row);
  /// The first run of a graph in a call; its run is none, which stands for "nothing is paired" in the questions below,
  /// if the call made no row of the graph.
  [[nodiscard]] Place place_in_call(std::uint32_t graph, std::uint32_t call);
  /// The row of an op's output in a run; does not exist if none is on record.
  [[nodiscard]] EventRef output(const Place& place, std::uint32_t op, std::size_t slot);
  /// What fed each input of an op in a run, whether the op itself has a row or not.
  [[nodiscard]] std::vector<InputEvidence> inputs(const Place& place, std::uint32_t op);
  /// The ops that take an op's outputs, in the order of their creation.
  [[nodiscard]] std::vector<ConsumerEvidence> consumers(const Place& place, std::uint32_t op);
  /// What an output of a function call was inside of it, or what an event is another name of; does not exist if that is
  /// not known.
  [[nodiscard]] EventRef behind(EventRef event);

 private:
  Causes& causes_;
  Model& model_;
};

}  // namespace nanlens::causes

#if !defined(NANLENS_SPLIT)
#include <nanlens/causes/neighbours.inl>
#endif
