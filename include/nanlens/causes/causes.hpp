/// @file
/// Why is there a NaN? For every bad tensor of a run: what made it, what passed it on, what removed it again; and the
/// one cause that matters most.
///
///     nanlens::causes::Causes causes(run);
///     while (!causes.advance(2048)) {}
///     if (auto headline = causes.headline()) …
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <nanlens/causes/classifier.hpp>
#include <nanlens/causes/scaled_steps.hpp>
#include <nanlens/causes/settled.hpp>

namespace nanlens::causes {

/// An op by one of its results, or by its number where it has no row.
struct OpRef {
  EventRef event;
  std::uint32_t op = none;

  [[nodiscard]] bool exists() const noexcept { return event.exists() || op != none; }
};

/// An input that was bad already, by what is not on record, or what a variable held that was so.
struct Arrival {
  std::uint64_t values_hash = 0;  ///< the same for the same values, wherever they lie; 0: not known
  std::int64_t recorded_id = -1;  ///< the eager tensor that its memory had held; −1: none
  double size = 0;                ///< elements
  double num_bad = 0;
  bool part = false;                ///< of that tensor
  bool changed = false;             ///< since that was recorded
  std::uint32_t writer = none;      ///< of what a variable held: the execution that wrote it
  bool updated = false;             ///< and then something was added to it that is not known
  std::int64_t unrecorded_id = -1;  ///< the tensor of TensorFlow's that no execution made; −1: it was another
  bool computed = false;  ///< an argument or result of a call, branch or loop of which nothing else is on record
  bool piped = false;     ///< out of an input pipeline

  /// It was seen in an input.
  [[nodiscard]] bool exists() const noexcept { return size > 0; }
};

/// Where a story begins: an event that nothing on record before it is to blame for.
struct Root {
  EventRef event;
  EventClass event_class = EventClass::unknown;
  float confidence = 1;
  bool doubted = false;           ///< of a producer: what is not on record may have made an input of it bad before
  std::uint32_t alert = 0;        ///< the event's index in Run::alerts
  double time = 0;                ///< its wall_time by the calls' clock
  std::uint32_t call = none;      ///< the call it belongs to, or the execution itself
  std::uint64_t reach = 0;        ///< bad events that follow from it first of all, itself included
  std::uint64_t nan_reach = 0;    ///< those of them that hold a NaN
  std::uint64_t removed = 0;      ///< how often an op removed it again
  std::uint64_t occurrences = 1;  ///< roots of the same op that this one stands for
  EventRef first_nan;             ///< the first event with a NaN that follows
  EventRef last;                  ///< the last event that follows
  std::uint64_t unread = 0;  ///< what took its bad tensors, and made something of which the values are not on record
  std::uint64_t left = 0;    ///< events that follow, of which nothing bad was made and which no op removed
  std::uint64_t open = 0;    ///< these, and those that an op removed which does not choose elements
  std::uint64_t open_outside = 0;  ///< of these, those that are no tensors of TensorFlow's gradients
  EventRef last_removed;           ///< the last event that follows and was removed by an op
  EventRef remover;                ///< the result of the last op that removed one; comparisons remove nothing
  std::vector<OpRef> integers;     ///< the first ops that made integers of what follows
  std::uint32_t first_nan_alert = none;
  std::uint32_t last_alert = 0;
  std::uint32_t last_removed_alert = 0;
  std::uint32_t first_of_site = 0;   ///< the first root of the same op, as an index
  std::array<EventRef, 3> failing;   ///< clean inputs that it may have failed on
  std::int64_t failing_tensor = -1;  ///< likewise, the id of a tensor that no execution on record made
  Arrival arrival;                   ///< of a bad tensor that came in
  bool named = false;                ///< that is a parameter of PyTorch's
  std::vector<std::pair<std::uint32_t, EventRef>> also;  ///< alerts of other ops in which that came in, the first ones
  /// Alerts in which what follows met what follows from an earlier root, which they count as: the first for each such
  /// root, by its index. None: there are more roots.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> joined;
};

/// Roots of one call, or of an eager op and what directly follows it.
struct Incident {
  std::uint32_t call = none;
  std::vector<std::uint32_t> roots;  ///< by time
  std::uint64_t reach = 0;
};

/// An op that removed bad values: its output is clean although an input was bad.
struct KillerSite {
  std::uint32_t op = none;  ///< none: an eager op, see `event`
  EventRef event;           ///< the first clean output; does not exist where the op's output has no summary (integers)
  EventRef removed;         ///< the bad input it got
  std::uint64_t count = 0;
  std::uint32_t alert = none;  ///< of `removed`
};

/// One step of a chain, from the root to the event asked about.
struct ChainLink {
  EventRef event;
  EventClass event_class = EventClass::unknown;
  float confidence = 1;
  Mechanism change = Mechanism::generic;  ///< why infinity became NaN here, if it did
};

/// An answer about one event.
struct Lineage {
  EventRef event;
  Classification classification;
  std::uint32_t root = none;  ///< index in `Causes::roots`
};

/// Bad tensors of one op.
struct SiteStats {
  std::uint32_t op = none;  ///< none: eager ops, by `op_type`
  std::string op_type;
  std::uint64_t made = 0;
  std::uint64_t passed = 0;
  std::uint64_t source = 0;
  std::uint64_t unknown = 0;
};

/// The analysis of one run, in slices: call `advance` until it says true, and again after the run has grown. Answers
/// are valid at any time, for what has been looked at so far.
class Causes {
 public:
  explicit Causes(Run& run)
      : model_(run),
        classifier_(model_, [this](EventRef event) { return known_class(event); }),
        scaled_(model_.calls(), run),
        settled_(model_) {}
  Causes(const Causes&) = delete;
  Causes& operator=(const Causes&) = delete;

  /// Looks at up to `most` further bad events (or reads as many executions first). True when there is nothing left.
  bool advance(std::size_t most);
  /// Takes in up to `most` executions that are new. True when all are in: from then on lineage can be asked of every
  /// event, although classes may not be known yet. `advance` does it too.
  bool link(std::size_t most);
  /// The run has new events: what is settled stays, the rest is looked at again. When that is done, answers are those
  /// of a run that was read at once.
  void run_has_grown();
  [[nodiscard]] bool complete() const noexcept { return prepared_ && done_ == total(); }
  [[nodiscard]] std::size_t done() const noexcept { return done_; }
  [[nodiscard]] std::size_t total() const noexcept { return run().alerts().size(); }
  [[nodiscard]] Run& run() const noexcept { return model_.run(); }

  /// All roots, by time of their discovery.
  [[nodiscard]] const std::vector<Root>& roots() const noexcept { return roots_; }
  /// Roots by incident, in the order of time; benign ones are left out.
  [[nodiscard]] std::vector<Incident> incidents();
  /// Intended infinities, those that loss scaling reckons with, and what the program itself left out: they did no harm.
  [[nodiscard]] std::vector<std::uint32_t> benign();
  /// The root to show: in the first incident, the one that most follows from. If it came into no loss and no gradient,
  /// but what an op made later did, as PyTorch's and TensorFlow's names tell, that. Where nothing did, and another one
  /// of the same call came into what its function gave back, while this did not, that.
  [[nodiscard]] std::optional<std::uint32_t> headline();
  /// What an input held, as far as that is on record.
  [[nodiscard]] TensorHealth health_of(const InputEvidence& input);
  /// Can it be what an earlier cause made, handed on by code that is not on record?
  [[nodiscard]] bool may_be_handed_on(const Root& root);
  /// May what an op of unknown kind made without a reason on record come of what nothing on record has read?
  [[nodiscard]] bool may_lead_to(const Root& unread, const Root& then);
  /// Is it a tensor of a function that one of TensorFlow's input pipelines runs?
  [[nodiscard]] bool is_in_pipeline(EventRef event);
  /// Is a root an intended infinity, such as a mask: one kind of infinity, no NaN after it, from a constant or removed?
  /// Or one that loss scaling left out, or that the program's own choices did?
  [[nodiscard]] bool is_benign(const Root& root) { return is_benign(root, limits::joined_in_turn); }
  /// Does a bad event, by its index in Run::alerts, follow from a benign root? Or was it left out by the program's own
  /// choice, and another op, which failed on the same zeros, is the cause?
  [[nodiscard]] bool did_no_harm(std::uint32_t alert);
  /// How sure the class of a root is, from 0 to 1.
  [[nodiscard]] float confidence(const Root& root) {
    return came_in_first(root.event, root.event_class) ? 1 : root.confidence;
  }
  /// The op by which a program left out, as it says, all that is bad behind a root: a choice or a bound. Does not exist
  /// where there is more than that. What became integers counts if a choice takes of these.
  [[nodiscard]] OpRef guard_of(const Root& root) { return guard_of(root, limits::joined_in_turn); }
  /// The number in which what follows from a root, all of it infinite, ends: a loss, what nothing takes, or what a
  /// program goes on with. Does not exist where there is none.
  [[nodiscard]] EventRef result_of(const Root& root);
  /// Is it an eager op of which nothing is known, and was it recorded without inputs?
  [[nodiscard]] bool takes_nothing(const Root& root);
  /// The function by whose result an input pipeline leaves samples out, if that guards; else empty.
  [[nodiscard]] std::string_view filter_of(const OpRef& guard);
  /// Did loss scaling leave out the step that it would have spoilt?
  [[nodiscard]] bool is_left_out(const Root& root);
  /// Other ops that failed on the very input that a root, by its index in `roots`, failed on: their bad tensors, and
  /// what follows from these, count as the root's. Not its gradient. At most `limits::twins_of_root` are known.
  [[nodiscard]] std::vector<EventRef> failed_alike(std::uint32_t root) const;
  /// Did the one root go bad before the other?
  [[nodiscard]] bool comes_before(const Root& a, const Root& b) const;
  /// Bad events that follow from a known cause.
  [[nodiscard]] std::uint64_t explained() const;
  /// By the first tensor that each removed.
  [[nodiscard]] std::vector<KillerSite> killers();

  /// Class of an event; bad ones that were not looked at yet are unknown.
  [[nodiscard]] EventClass event_class(EventRef event);
  /// The class of an event that counts as bad, as far as the analysis has come; else unknown.
  [[nodiscard]] EventClass known_class(EventRef event);
  /// The root that a bad event follows from; none if it is not bad or was not looked at yet.
  [[nodiscard]] std::uint32_t root_of(EventRef event);
  /// The same by the event's index in Run::alerts; it reads nothing.
  [[nodiscard]] std::uint32_t root_of_alert(std::size_t alert) const noexcept {
    return alert < root_of_alert_.size() ? root_of_alert_[alert] : none;
  }
  /// Everything about one event, bad or not.
  [[nodiscard]] Lineage lineage(EventRef event);
  /// From the root of a bad event to the event itself. At most `longest` steps next to the event.
  [[nodiscard]] std::vector<ChainLink> chain(EventRef event, std::size_t longest = 10000);
  /// What a clean or bad event was before it was handed on: relays are followed back.
  [[nodiscard]] EventRef origin(EventRef event) { return origin(event, 0.75F); }
  /// The latest earlier instance of the same tensor that was not bad; does not exist if there is none on record.
  [[nodiscard]] EventRef last_healthy(EventRef event);
  /// Bad tensors per op, most first.
  [[nodiscard]] std::vector<SiteStats> by_site();
  /// The event that an alert stands for.
  [[nodiscard]] EventRef event_of(std::size_t alert);

  [[nodiscard]] Model& model() noexcept { return model_; }
  [[nodiscard]] Classifier& classifier() noexcept { return classifier_; }
  /// Steps that following links took so far: what the analysis costs, whatever the machine.
  [[nodiscard]] std::uint64_t steps() const noexcept { return model_.spent(); }
  /// Bytes that results take.
  [[nodiscard]] std::size_t memory_bytes() const noexcept {
    return classes_.capacity() + fates_.capacity() + spread_.capacity() +
           root_of_alert_.capacity() * sizeof(std::uint32_t) + roots_.capacity() * sizeof(Root) +
           alert_of_row_.capacity() * sizeof(std::uint32_t) + blocks_.capacity() * sizeof(RowBlock) +
           killer_rows_.capacity() * sizeof(std::uint32_t) + removals_.capacity() * sizeof(Removal) +
           later_parents_.capacity() * sizeof(std::pair<std::uint32_t, std::uint32_t>);
  }

 private:
  // What is kept from one question to the next holds for so many alerts looked at, roots, and executions.
  using AsOf = std::tuple<std::size_t, std::size_t, std::size_t>;
  // An event while it is looked at.
  struct Step {
    std::uint32_t alert;
    EventRef event;
    EventClass event_class;
    float confidence;
    bool also_made;
    bool doubted = false;
    std::uint32_t best = none;  // the earliest root of its parents
    std::array<EventRef, 3> failing{};
    std::int64_t failing_tensor = -1;
    Arrival arrival{};
    bool mixed = false;               // its parents have several roots
    std::uint8_t spread = 0;          // bits of Spread, of its parents
    bool only_asked = false;          // of which values are finite
    bool made_more = false;           // than what came in can have spoilt
    std::vector<EventRef> complex{};  // bad complex tensors on the way to its parents
  };
  // Ops that failed on the same zeros as a root's, which is the first of them; none if there is no other.
  struct Twins {
    std::vector<Step> ops;
    std::uint32_t gradient = none;  // the alert of a gradient that failed with it, whatever became of the rest
  };
  // Of a bad complex tensor, once it is known.
  struct ComplexRoot {
    std::uint32_t root;
    std::uint32_t alert;  // behind which it was found
  };
  // What became of a bad tensor, as bits; of one that is only compared, as with 0, nothing did.
  enum Fate : std::uint8_t {
    passed_on = 1,
    chosen_from = 2,  // by an op that chooses elements, or bounds them
    to_integers = 4,
    removed_otherwise = 8,
    decided = 16,       // a branch goes by whether it is finite
    taken_as_log = 32,  // by an op to which −∞ is the logarithm of 0
  };
  // How a bad tensor is more than what came in bad, as bits.
  enum Spread : std::uint8_t {
    into_others = 1,  // elements of it come of several
    into_state = 2,   // it is a gradient, was computed in place, or has a smaller operand repeated, as parameters are
  };
  // What a condition was made of, of all that follows from one root: by asking for NaN, by other comparisons.
  struct Question {
    bool asked = false;
    bool compared = false;
  };
  // An op removed a bad value.
  struct Removal {
    std::uint32_t alert;
    std::uint32_t op;
    EventRef result;
  };
  struct Frame {
    Step step;
    std::vector<EventRef> parents;
    std::size_t next = 0;
  };
  struct RunOfGraph {
    Window& window;
    std::uint32_t number;
  };
  // 64 rows: which are bad, and how many were before.
  struct RowBlock {
    std::uint64_t bad = 0;
    std::uint32_t before = 0;
  };

  void prepare();
  [[nodiscard]] bool same_incident(std::uint32_t call, const Root& root);
  [[nodiscard]] std::size_t num_settled();
  [[nodiscard]] std::size_t with_all_parents(std::size_t keep);
  void truncate(std::size_t keep);
  void forget_removals(std::size_t keep);
  void note_parent(std::uint32_t alert, std::uint32_t parent);
  // Did nothing come of it? Whoever asks whether it is finite leaves it as it is.
  [[nodiscard]] static bool is_left(std::uint8_t fate) noexcept { return (fate & ~decided) == 0; }
  // Does something bad end here that no choice left out?
  [[nodiscard]] static bool is_open(std::uint8_t fate) noexcept {
    return is_left(fate) || (fate & removed_otherwise) != 0;
  }
  [[nodiscard]] std::uint32_t alert_of_part(std::uint32_t whole);
  void note_fate(std::uint32_t alert, std::uint8_t fate);
  void note_fate_alone(std::uint32_t alert, std::uint8_t fate);
  [[nodiscard]] bool takes_clean_part(EventRef result, EventRef bad);
  [[nodiscard]] bool asks_of_bad(std::uint32_t execution);
  [[nodiscard]] std::uint32_t question_after(std::uint32_t execution);
  [[nodiscard]] bool is_left_out_when_asked(const Root& root);
  [[nodiscard]] bool is_asked_for_nan(EventRef bad);
  [[nodiscard]] bool compares_with_itself(std::uint32_t execution);
  [[nodiscard]] bool is_part_of_log_sum(EventRef result, EventRef bad);
  [[nodiscard]] bool is_part_of_isfinite(EventRef result, EventRef bad);
  [[nodiscard]] OpRef guard_of(const Root& root, std::size_t joined_in_turn);
  [[nodiscard]] bool is_piped_data(const Root& root);
  [[nodiscard]] bool may_lack_values(const Root& root);
  [[nodiscard]] bool is_result(std::uint32_t alert);
  [[nodiscard]] bool brings_together(EventRef event);
  [[nodiscard]] bool is_loss(EventRef event);
  [[nodiscard]] bool ends_in_pipeline(const Root& root);
  [[nodiscard]] OpRef guard_of_others(const Root& root);
  [[nodiscard]] bool is_for_isfinite(EventRef event);
  [[nodiscard]] std::optional<bool> is_made_of(EventRef event, EventRef other);
  [[nodiscard]] std::optional<bool> follows_with(EventRef event, EventRef bad);
  [[nodiscard]] Question question_of(EventRef result, EventRef bad);
  [[nodiscard]] bool is_decided_by(EventRef result, EventRef bad);
  [[nodiscard]] bool only_shows(EventRef result);
  [[nodiscard]] bool leaves_missing_out(EventRef result, EventRef bad, const Root& root);
  [[nodiscard]] bool may_repeat(EventRef event);
  [[nodiscard]] std::uint8_t spread_by(const Step& step);
  [[nodiscard]] bool has_given_zeros(EventRef log);
  [[nodiscard]] bool is_bound_from_above(EventRef result, EventRef bad, const Root& root);
  [[nodiscard]] bool is_of_nothing(const Root& root);
  [[nodiscard]] bool takes_as_log(EventRef result, EventRef bad, const Root& root);
  [[nodiscard]] std::uint8_t fate_by(EventRef result, EventRef bad, std::uint32_t alert);
  void note_integers(std::uint32_t alert, OpRef integers);
  [[nodiscard]] bool type_has_rows(std::uint32_t op);
  [[nodiscard]] OpRef choice_of_integers(EventRef integers);
  [[nodiscard]] OpRef choice_of_integers(std::uint32_t op);
  [[nodiscard]] static bool is_gone(const Root& root);
  void leave_out_gone(std::vector<Incident>& list);
  [[nodiscard]] bool is_unaccounted(const Root& root);
  [[nodiscard]] std::uint32_t largest(const Incident& incident, bool made);
  [[nodiscard]] std::uint64_t reach_of_site(std::uint32_t root) const;
  [[nodiscard]] std::vector<bool> in_losses();
  [[nodiscard]] std::vector<bool> in_training();
  [[nodiscard]] bool begins_there(const Root& root);
  [[nodiscard]] std::uint32_t first_given_back(const std::vector<Incident>& list, std::uint32_t first);
  [[nodiscard]] std::uint32_t first_in_training(const std::vector<Incident>& list, std::uint32_t first,
                                                const std::vector<bool>& spoilt);
  [[nodiscard]] std::uint32_t first_that_spoilt(const std::vector<Incident>& list, std::uint32_t first);
  [[nodiscard]] std::uint32_t leader(const std::vector<Incident>& list);
  [[nodiscard]] bool sees_every_op(EventRef event);
  [[nodiscard]] bool is_eager_torch(EventRef event);
  [[nodiscard]] bool may_have_led_on(const Root& root);
  [[nodiscard]] bool is_outdated(AsOf& found);
  void count_reach(std::uint32_t root, std::uint32_t alert, EventRef event);
  void look_at(std::uint32_t alert);
  Step begin(std::uint32_t alert);
  void look_behind_complex(Step& step);
  [[nodiscard]] std::uint32_t add_complex_root(EventRef event, const Classification& c, const Step& step);
  void keep_complex_roots(std::size_t keep, const std::vector<std::uint32_t>& new_number);
  void take_root(std::uint32_t root, Step& step);
  void take_root_of(std::uint32_t alert, Step& step);
  void join(std::uint32_t alert, std::uint32_t root, std::uint32_t into);
  void follow(const Step& step);
  [[nodiscard]] bool makes_beside_mask(const Step& step);
  void finish(const Step& step);
  std::uint32_t add_root(const Step& step);
  void collect_failing(const std::vector<InputEvidence>& inputs, Step& step);
  static void lead(Root& root, const Step& step);
  void note_twin(std::uint32_t number, const Step& step);
  [[nodiscard]] bool is_other_op(EventRef event, const Root& root);
  [[nodiscard]] bool same_op(EventRef a, EventRef b);
  [[nodiscard]] static Step step_of(const Root& root);
  void choose_leads();
  [[nodiscard]] bool is_left_out_twin(std::uint32_t alert) const;
  void lead_with_first();
  void keep_twins(std::size_t keep, const std::vector<std::uint32_t>& new_number);
  [[nodiscard]] bool fails_alike(const Step& step, const Root& root);
  [[nodiscard]] std::uint32_t same_failure(const Step& step);
  [[nodiscard]] static Arrival arrival_of(const Classification& c);
  [[nodiscard]] std::uint32_t same_arrival(const Step& step);
  [[nodiscard]] std::uint32_t arrival_of_part(const Step& step);
  void note_arrival(std::uint32_t root);
  [[nodiscard]] bool is_log_of_constant(EventRef event);
  [[nodiscard]] bool is_log_of_mask(EventRef event);
  [[nodiscard]] bool is_benign(const Root& root, std::size_t joined_in_turn);
  [[nodiscard]] bool is_taken_away(const Root& root, std::size_t joined_in_turn);
  [[nodiscard]] bool ends_in_infinity(const Root& root);
  [[nodiscard]] bool masks_classes(const Root& root);
  [[nodiscard]] bool is_bound_of_layer(OpRef guard, const Root& root);
  [[nodiscard]] bool goes_into_layer(const Root& root);
  [[nodiscard]] bool goes_into_layer(EventRef event);
  [[nodiscard]] std::span<const TensorUse> first_consumers(EventRef event);
  [[nodiscard]] bool goes_into_layer(std::uint32_t op);
  [[nodiscard]] bool came_in_first(EventRef event, EventClass what);
  [[nodiscard]] bool is_pipeline_function(std::uint32_t graph);
  [[nodiscard]] bool has_pipeline_before(std::uint32_t graph);
  void join_arrival(const Step& step, Root& root);
  [[nodiscard]] bool was_scaled_too_far(const Root& root);
  [[nodiscard]] bool came_in_scaled(const Root& root, std::uint32_t search);
  [[nodiscard]] bool decides_branch(std::uint32_t op);
  [[nodiscard]] bool skips_steps(std::uint32_t graph);
  [[nodiscard]] bool is_clean_later(EventRef event);
  [[nodiscard]] bool is_skipped(const Root& root, std::size_t joined_in_turn);
  [[nodiscard]] bool near_root(EventRef event, const Root& root);
  [[nodiscard]] bool is_gradient_op(EventRef event);
  [[nodiscard]] bool is_open_outside(std::uint32_t alert);
  [[nodiscard]] bool is_any_gradient(EventRef event);
  [[nodiscard]] EventRef origin(EventRef event, float sure);
  [[nodiscard]] bool has_nan(EventRef event);
  [[nodiscard]] EventRef parent_of(EventRef event, const std::vector<EventRef>& parents);
  [[nodiscard]] bool changes_kind(EventRef event, EventRef parent, const std::vector<EventRef>& parents);
  [[nodiscard]] bool is_gradient_of(EventRef event, EventRef forward);
  [[nodiscard]] bool is_eager_gradient_of(EventRef event, EventRef forward);
  // Consumers of an op that may have removed what is bad in its output.
  struct Takers {
    std::vector<ConsumerEdge> with_rows;
    std::vector<ConsumerEdge> integers;  // their outputs have no summary: they removed it wherever they ran
    std::vector<ConsumerEdge> casts;     // without rows: to integers, or left out by a filter
    std::vector<std::uint16_t> decide;   // outputs of which a branch asks whether they are finite
  };
  struct IntoLayer {
    std::size_t num_ops = 0;  // that were known when it was found
    bool goes = false;
  };
  // Bad values that consumers without a summary removed, by the output they took them from.
  struct RemovedByIntegers {
    EventRef first;
    std::uint32_t first_alert = none;
    std::uint64_t count = 0;
  };
  const Takers& takers_of(std::uint32_t op);
  [[nodiscard]] std::uint16_t slot_of(EventRef event);
  void count_integer_killers(EventRef event, std::uint32_t alert);
  void find_killers(EventRef event, std::uint32_t alert);
  [[nodiscard]] bool may_have_bad_output(const Window& window, std::uint32_t op, std::uint32_t in_run, EventRef taken);
  [[nodiscard]] bool may_remove(EventRef result, EventRef bad);
  [[nodiscard]] bool counts(EventRef result);
  void find_exchange_killer(EventRef sent, std::uint32_t alert);
  void find_late_exchange_killer(std::uint32_t execution);
  void find_execution_killer(EventRef event, const TensorUse& use, std::uint32_t alert);
  void find_killers_in_call(EventRef event, const TensorUse& use, std::uint32_t alert);
  void find_killers_of(std::uint32_t op, std::uint16_t slot, const RunOfGraph& at, EventRef bad, std::uint32_t alert);
  void find_late_killers();
  void note_unread(std::uint32_t alert);
  void list_killer(std::uint32_t op, EventRef event, EventRef removed, std::uint32_t alert);
  void add_killer(std::uint32_t op, EventRef event, EventRef removed, std::uint32_t alert);
  [[nodiscard]] std::size_t rank(std::uint32_t row) const;
  [[nodiscard]] std::uint32_t alert_of(EventRef event);
  [[nodiscard]] std::uint64_t site_of(EventRef event);
  const std::vector<std::uint16_t>& bad_slots(std::uint32_t execution);

  static constexpr std::uint8_t unseen = 0xff;
  static constexpr std::uint8_t visiting = 0xfe;

  Model model_;
  Classifier classifier_;
  ScaledSteps scaled_;
  Settled settled_;
  bool linked_ = false;
  bool prepared_ = false;
  std::size_t done_ = 0;
  std::vector<std::uint8_t> classes_;  // by alert: EventClass, or unseen, visiting
  std::vector<std::uint32_t> root_of_alert_;
  std::vector<std::uint8_t> fates_;   // by alert: bits of Fate
  std::vector<std::uint8_t> spread_;  // by alert: bits of Spread
  std::vector<Root> roots_;
  std::map<std::uint32_t, Twins> twins_;                             // by root
  std::map<std::uint64_t, std::uint32_t> root_of_site_;              // the last root of each op
  std::unordered_map<std::uint64_t, std::uint32_t> root_of_values_;  // the first that came in with them
  std::unordered_map<std::int64_t, std::uint32_t> root_of_memory_;   // the last, by eager tensor
  std::unordered_map<std::uint32_t, std::uint32_t> root_of_writer_;  // the first of what it wrote
  std::map<std::tuple<std::size_t, std::int64_t, EventClass>, std::uint32_t>
      root_of_unrecorded_;                                                        // the first, by eager tensor
  std::map<std::pair<std::uint32_t, std::uint16_t>, ComplexRoot> complex_roots_;  // by execution and output
  std::vector<RowBlock> blocks_;
  std::vector<std::uint32_t> alert_of_row_;                                  // by rank of the bad row
  std::vector<std::pair<std::uint32_t, std::uint32_t>> alert_of_execution_;  // first alert of each bad execution
  std::vector<KillerSite> killers_;
  std::map<std::uint64_t, std::uint32_t> killer_by_site_;
  std::unordered_map<std::uint32_t, Takers> takers_;
  // By op and output: the last row without anything bad, and how many rows there were when it was found.
  std::map<std::pair<std::uint32_t, std::uint16_t>, std::pair<std::uint32_t, std::uint32_t>> last_clean_;
  std::deque<std::pair<std::uint32_t, TensorUse>> given_;  // alerts, and calls that took them, which have no rows yet
  std::vector<std::uint32_t> questions_;                   // executions that ask whether something bad is finite
  std::uint32_t questions_seen_ = 0;
  EventRef asked_of_;  // whether the program asks for a NaN in it is known
  bool asked_ = false;
  std::vector<EventRef> results_;               // by root: the loss, or the number that is left, in which it ends
  std::vector<std::pair<OpRef, bool>> others_;  // by first root of an op: what left such out, and whether all were
  AsOf results_as_of_;
  AsOf others_as_of_;
  std::uint32_t last_arrival_ = 0;  // the alert of what came in last from where nobody knows
  AsOf arrivals_as_of_;
  std::unordered_set<std::uint32_t>
      skipping_;                            // graphs that are in no other, with a branch that goes by what is finite
  std::size_t skipping_as_of_ = 0;          // ops that were known when they were found
  std::vector<std::uint8_t> gradient_ops_;  // by op of a graph: 0 if it was not asked yet, 1 or 2
  bool bad_behind_pipeline_ = false;        // something bad came out of an input pipeline
  std::unordered_set<std::uint32_t> types_with_rows_;  // of ops of graphs; found when first asked for
  std::map<std::pair<std::uint32_t, std::uint16_t>, RemovedByIntegers> removed_by_integers_;  // by op and output
  std::unordered_map<std::uint32_t, IntoLayer> into_layer_;                                   // by op
  std::vector<std::uint16_t> bad_slots_;
  std::uint32_t bad_slots_of_ = none;  // which execution
  std::vector<std::uint32_t> unread_;  // alerts, once for each op that took them and of which nobody knows what it made
  std::vector<Removal> removals_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> later_parents_;  // alerts whose parent is a later one
  std::vector<std::uint32_t> killer_rows_;
  bool killer_rows_sorted_ = true;
  std::uint32_t executions_seen_ = 0;  // whose inputs were looked at for killers
  std::vector<Frame> stack_;
  Classification scratch_;
};

}  // namespace nanlens::causes

#if !defined(NANLENS_SPLIT)
#include <nanlens/causes/causes_alike.inl>
#include <nanlens/causes/causes_complex.inl>
#include <nanlens/causes/causes_guards.inl>
#include <nanlens/causes/causes_lead.inl>
#include <nanlens/causes/causes_missing.inl>
#include <nanlens/causes/causes_pass.inl>
#include <nanlens/causes/causes_queries.inl>
#include <nanlens/causes/causes_removals.inl>
#include <nanlens/causes/causes_scaled.inl>
#endif
