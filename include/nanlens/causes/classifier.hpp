/// @file
/// What one event is: made here, passed on, the same tensor, came in bad, or not to be told.
#pragma once

#include <functional>
#include <map>
#include <utility>

#include <nanlens/causes/evidence.hpp>
#include <nanlens/causes/magnitude.hpp>
#include <nanlens/causes/possibilities.hpp>
#include <nanlens/causes/recorded_rows.hpp>
#include <nanlens/causes/stack_of.hpp>
#include <nanlens/causes/variables.hpp>

namespace nanlens::causes {

/// How one input was judged.
enum class InputState : std::uint8_t { clean, bad, mixed, unknown };

/// One input of the op that made an event, with what fed it.
struct InputEvidence {
  Link link;
  InputState state = InputState::unknown;
  EventRef event;           ///< the one to show; does not exist where it is not known
  EventRef shown_by;        ///< of a clean one that is not on record: the result of another op, which shows that it was
  std::uint32_t input = 0;  ///< which input of the op
  bool seen = false;        ///< nanlens looked at it when the op had run, or began: `now` is what it held
  bool arrived = false;     ///< it was bad then, although nothing on record made it so
  bool written_over = false;  ///< by the op, before anybody looked: it may no longer have been what is on record
  TensorHealth now;
  TensorOrigin origin = TensorOrigin::recorded;
  std::string name;               ///< what the host calls it; empty for most
  std::uint64_t values_hash = 0;  ///< of one that was bad then: the same for the same values; 0: not known
  std::int64_t recorded_id = -1;  ///< the eager tensor that its memory held, as recorded last
};

/// Is it of an op that vectorises one of a loop, without a row?
inline bool is_vectorized(const InputEvidence& input) noexcept {
  return input.state == InputState::unknown && input.link.reason == Reason::vectorized;
}

/// The answer about one event.
struct Classification {
  EventClass event_class = EventClass::unknown;
  float confidence = 1;
  Judgement judgement;
  bool also_made = false;         ///< a propagator that also made a kind that nothing bad can give
  bool made_more = false;         ///< a propagator of which more elements are bad than what came in can have spoilt
  bool contradicted = false;      ///< the recorded inputs don't account for it
  std::vector<EventRef> parents;  ///< the bad inputs that it was passed on from
  std::vector<InputEvidence> inputs;
  Possibility inside;  ///< calls without rows: what most likely happened inside
  std::uint32_t arrived =
      none;                   ///< position in `inputs` of the first one that has arrived bad, if the event is its doing
  bool written_over = false;  ///< an input may have been bad, over which the op has written before anybody looked
  bool all_seen = false;      ///< every input was looked at, or can't hold a NaN
  EventRef lay_there;         ///< what was bad in its memory before, which it may have read, if that keeps from telling
  std::vector<std::int64_t> unrecorded;  ///< tensors of TensorFlow's that no execution made, if nothing else is unknown
  std::int64_t unrecorded_id = -1;       ///< the one of them that decides
  bool lost_there = false;  ///< what keeps from telling is that what was in its memory before is not on record
};

class Classifier {
 public:
  /// The class of an event as far as it has been found; unknown if it has not been looked at yet.
  using KnownClass = std::function<EventClass(EventRef)>;

  Classifier(Model& model, KnownClass known_class)
      : model_(model),
        resolver_(model),
        variables_(model, resolver_),
        possible_(model),
        rows_(model),
        known_class_(std::move(known_class)) {}

  void update() {
    resolver_.forget();
    resolver_.begin_question();
    if (model_.owners().facts_changed()) variables_.forget();
    variables_.update();
    witnesses_.clear();
    clean_results_.clear();
  }
  [[nodiscard]] Resolver& resolver() noexcept { return resolver_; }

  /// Finds the inputs of the op that made an event, and judges each.
  void find_inputs(EventRef event, std::vector<InputEvidence>& inputs);
  /// Classifies a bad event, with the evidence.
  void classify(EventRef event, Classification& c);
  /// The same without evidence, for the many that were just passed on; false: `classify` has to look.
  bool pass_on(EventRef event, Classification& c);
  /// Were two events made by ops of one type at one line?
  [[nodiscard]] bool is_same_site(EventRef a, EventRef b);

 private:
  // What the inputs of an event are, taken together.
  struct InputSum {
    bool any_unknown = false;
    bool any_clean = false;
    EventRef mixed;  // of candidates of which only some are bad
  };
  void trace_inputs(EventRef event, std::vector<InputEvidence>& inputs);
  bool stored_input(EventRef event, const Place& place, std::vector<InputEvidence>& inputs);
  void held_before(EventRef event, const InputEdge& handle, Link& link);
  void written_last_time(EventRef event, const InputEdge& handle, Link& link);
  void chosen_input(EventRef event, const Place& place, std::vector<InputEvidence>& inputs);
  void execution_inputs(EventRef event, std::vector<InputEvidence>& inputs);
  void sent_inputs(EventRef event, std::vector<InputEvidence>& inputs);
  void received_inputs(EventRef event, const Exchange& got, std::vector<InputEvidence>& inputs);
  bool is_what_was_sent(EventRef event, const Exchange& got, EventRef put_in);
  void call_inputs(EventRef event, std::vector<InputEvidence>& inputs);
  bool optional_input(EventRef event, Link& link);
  void container_input(EventRef event, Link& link);
  void pipeline_argument(EventRef event, Link& link);
  [[nodiscard]] bool feeds_pipeline(std::uint32_t row);
  template <class From>
  bool latest_alike(EventRef event, const Window& window, From&& from, float alike, float any, Link& link);
  void collective_inputs(EventRef event, std::vector<InputEvidence>& inputs);
  bool unrecorded_copy(EventRef event, std::int64_t tensor_id, const TensorHealth& health, Kinds kinds, Link& link);
  bool copied_late(std::uint32_t user, std::int64_t tensor_id, const TensorHealth& health, Kinds kinds, Link& link);
  [[nodiscard]] bool may_be_original(EventRef made, const TensorHealth& health, Kinds kinds);
  EventRef copied_at_once(EventRef event, std::int64_t tensor_id);
  bool part_of(const TensorHealth& part, const TensorHealth& whole) const;
  bool alike_in_call(EventRef event, std::uint32_t call, Link& link);
  bool alike_before(EventRef event, Link& link);
  enum class Alike : std::uint8_t { same, part, size };
  [[nodiscard]] bool is_alike(TensorHealth health, const TensorHealth& there, Alike how) const;
  bool recorded_inside(EventRef event, const TensorHealth& health, Alike how, InputEvidence& input);
  bool passed_by_value(EventRef event, const TensorEvidence& seen, InputEvidence& input);
  [[nodiscard]] bool is_bad_elsewhere(const TensorEvidence& seen, EventRef recorded);
  [[nodiscard]] bool is_bad_where(const TensorEvidence& now, EventRef before);
  [[nodiscard]] bool is_gone(EventRef event, EventRef before);
  [[nodiscard]] EventRef recorded_there(EventRef event, const TensorEvidence& e);
  bool classify_written_over(EventRef event, Classification& c);
  bool classify_written_over_lost(EventRef event, const TensorEvidence& now, Classification& c);
  std::size_t num_looked_at(std::size_t num_inputs) {
    if (num_inputs > limits::inputs_looked_at) model_.reach_limit(Limit::inputs);
    return std::min(num_inputs, limits::inputs_looked_at);
  }
  void judge_input(EventRef event, InputEvidence& input);
  void use_evidence(EventRef event, std::vector<InputEvidence>& inputs);
  void use_evidence(EventRef event, const TensorEvidence& seen, InputEvidence& input);
  void find_recorded(EventRef event, const TensorEvidence& seen, InputEvidence& input);
  void judge_candidates(EventRef event, InputEvidence& input);
  std::vector<EventRef> fitting_candidates(EventRef event, const InputEvidence& input);
  Judgement judgement_with(EventRef event, EventRef input);
  static InputSum sum_up(Classification& c);
  static void pass_on_mixed(EventClass as, const InputSum& sum, Classification& c);
  void classify_relay(EventRef event, const InputSum& sum, Classification& c);
  void classify_by_rule(EventRef event, const InputSum& sum, Kinds created, Classification& c);
  [[nodiscard]] bool sets_infinity(EventRef event);
  void doubt_written_over(EventRef event, Classification& c);
  [[nodiscard]] bool exceeds(EventRef event, double num_passed);
  [[nodiscard]] static double num_spoilt(OpCode code, const TensorHealth& in, const TensorHealth& out);
  [[nodiscard]] bool may_add_to_mask(EventRef event, const std::vector<EventRef>& parents);
  void leave_out_smaller_mask(EventRef event, std::vector<EventRef>& parents);
  [[nodiscard]] bool may_have_made_more(EventRef event, const std::vector<EventRef>& parents);
  [[nodiscard]] bool has_made_more(EventRef event, const Classification& c);
  bool classify_log_sum(EventRef event, Classification& c);
  static constexpr int farthest_count = 6;  // ops between a comparison and the division by what it found
  bool classify_swallowed(EventRef event, Classification& c);
  bool classify_zeros(EventRef event, Classification& c);
  [[nodiscard]] static bool counts(OpCode code, std::string_view type);
  [[nodiscard]] EventRef compared_in_graph(EventRef quotient);
  [[nodiscard]] EventRef compared_before(EventRef quotient);
  [[nodiscard]] bool holds_nan(EventRef event);
  [[nodiscard]] EventRef swallowed_before(EventRef clean);
  bool explain_by_candidate(EventRef event, Classification& c);
  bool classify_copy(EventRef event, Classification& c);
  [[nodiscard]] bool spoils_few(EventRef event);
  [[nodiscard]] float guess(EventRef event);
  [[nodiscard]] bool only_adds_nan(EventRef event);
  [[nodiscard]] bool made_with_constant(EventRef event, const Classification& c);
  bool crossed(const Window& window, std::uint32_t op, std::uint32_t begin, std::uint32_t end);
  bool classify_crossed(EventRef event, Classification& c);
  template <class TryInput>
  bool find_crossed(EventRef event, TryInput&& try_input);
  bool classify_arrival(EventRef event, bool contradicted, Classification& c);
  void fall_back(EventRef event, Classification& c);
  void judge_all(EventRef event, Classification& c);
  void find_unrecorded(Classification& c) const;
  void learn_from_others(EventRef event, Classification& c);
  [[nodiscard]] bool accounts_for(EventRef witness, EventRef event);
  [[nodiscard]] EventRef witness_of(std::int64_t tensor_id, std::uint32_t user);
  void find_clean(EventRef event, std::vector<InputEvidence>& inputs);
  [[nodiscard]] EventRef clean_beside(EventRef event, std::uint32_t input);
  [[nodiscard]] EventRef clean_before(EventRef event, std::int64_t tensor_id);
  [[nodiscard]] bool shows_clean_inputs(EventRef result);
  template <class Shows>
  EventRef find_result(const TensorUse& use, Shows&& shows);
  bool same_counts(const TensorHealth& a, const TensorHealth& b) const {
    return a.num_zero >= 0 && b.num_zero >= 0 && a.dtype == b.dtype && a.rank == b.rank && a.size == b.size &&
           a.num_nan == b.num_nan && a.num_neg_inf == b.num_neg_inf && a.num_pos_inf == b.num_pos_inf &&
           a.num_negative == b.num_negative && a.num_zero == b.num_zero && a.num_positive == b.num_positive;
  }

  Model& model_;
  Resolver resolver_;
  Variables variables_;
  Possibilities possible_;
  RecordedRows rows_;
  KnownClass known_class_;
  // By file set and tensor, those for which none exists included.
  std::map<std::pair<std::uint16_t, std::int64_t>, EventRef> witnesses_;
  std::map<std::pair<std::uint16_t, std::int64_t>, EventRef> clean_results_;
  bool asks_others_ = false;
};

}  // namespace nanlens::causes

#if !defined(NANLENS_SPLIT)
#include <nanlens/causes/classifier.inl>
#include <nanlens/causes/classifier_clean.inl>
#include <nanlens/causes/classifier_evidence.inl>
#include <nanlens/causes/classifier_inputs.inl>
#include <nanlens/causes/classifier_more.inl>
#include <nanlens/causes/classifier_pipeline.inl>
#include <nanlens/causes/classifier_shared.inl>
#include <nanlens/causes/classifier_swallowed.inl>
#include <nanlens/causes/classifier_written.inl>
#endif
