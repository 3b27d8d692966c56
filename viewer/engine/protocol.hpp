/// @file
/// What the user interface asks of the engine and what it is told. The engine runs elsewhere (a thread, a worker of the
/// page), so these are plain values: moved through a queue on the desktop, as bytes between the page and its worker.
///
/// The interface never asks for single items. It tells what is on screen (View) and what was chosen (Select); the
/// engine answers with whole topics, and again whenever the data behind a topic grows.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "texts/texts.hpp"

#include <nanlens/causes/event.hpp>
#include <nanlens/logdir/tensor_origin.hpp>

namespace nanlens::viewer {

using causes::EventClass;

/// One fact about a tensor, as a small tag. `none`: `text` says why there is nothing to show.
enum class BadgeKind : std::uint8_t { dtype, rank, shape, size, nan, ninf, pinf, neg, zero, pos, curt, none };

struct Badge {
  BadgeKind kind = BadgeKind::none;
  double number = 0;  ///< rank, size and counts; curt: 1 if bad
  std::string text;   ///< dtype, shape as "[2,3]", reason
};

/// What is selected. −1 and empty mean nothing.
struct Focus {
  std::int64_t execution = -1;
  std::int64_t trace = -1;
  std::string graph_id;
  std::string op_name;
  std::int32_t slot = -1;
  bool operator==(const Focus&) const = default;
};

// ---------------------------------------------------------------------------------------------------- requests

/// Opens what the paths name in place of what is open. On the page the files are those that the page handed to the
/// worker, and the paths are empty.
struct Open {
  std::vector<std::string> paths;
  std::uint64_t generation = 0;  ///< comes back in Overview, so that answers about another logdir are known
};
struct Close {};
struct SelectRun {
  std::uint64_t key = 0;  ///< RunInfo::key
};
/// Stops reading; what has been read stays.
struct Cancel {};
/// Goes on reading where Cancel stopped it, and looks for what has grown. `quiet`: answers only if something has.
struct Reload {
  bool quiet = false;
};

/// Asks for a whole list as text. Cancel ends it.
struct Export {
  std::string what;  ///< "rows", as they are filtered and sorted, "alerts", "report", or "values" as a file of NumPy
  bool csv = false;  ///< else a JSON object a line
  Focus focus = {};  ///< whose values
  std::int32_t values_of = -1;  ///< of Selection::seen of that
};

/// A text of rules, one per line, as nanlens.rules holds them.
struct RulesText {
  std::string name;  ///< of the file, as a message names it
  std::string path;  ///< where it is written; "": nowhere
  std::string text;
  bool operator==(const RulesText&) const = default;
};

/// Judges by these rules from now on, in place of those that were found.
struct SetRules {
  std::vector<RulesText> texts;
};

enum class IntentKind : std::uint8_t {
  focus,       ///< `focus` as it is
  execution,   ///< `index`
  trace,       ///< `index`
  op,          ///< `focus.graph_id`, `focus.op_name`, `focus.slot`
  alert,       ///< `index`, in the order of Run::alerts
  alert_step,  ///< `index` = +1 or −1 from the last alert; `by_op`: on to another op
  first_bad,
  cause,       ///< the root of what is selected, or of the run
  cause_step,  ///< −1: one step towards the cause, +1: one back
  input_step,  ///< to the next (+1) or previous (−1) input row of the focused op
  consumer_step,
  boundary,             ///< from a placeholder to the caller's tensor; from a call into its function
  rank_execution_step,  ///< `index` executions on in the selected one's rank
  rank_step,            ///< to the execution at the same place, `by_time` or by order, `index` ranks further down
  rule_step,            ///< to the next (+1) or previous (−1) hit of `rule`
  rank_place,           ///< in track `index`, between `begin` and `end` of the axis: the first bad one, else the first
  clear,
};

/// A wish to select something, relative to what is selected when the engine gets to it.
struct Select {
  IntentKind kind = IntentKind::clear;
  std::int64_t index = 0;
  bool by_op = false;
  Focus focus;
  bool by_time = false;
  double begin = 0;
  double end = 0;
  std::string rule = {};  ///< its name; "": the last one, else the first that holds
};

/// What is on screen of rules.
struct RulesView {
  std::string draft;                  ///< the rule that is written just now; "": none
  std::string draft_of;               ///< the name of the one that it replaces
  std::vector<std::string> unfolded;  ///< keys of lines
  std::uint64_t first = 0;
  std::uint32_t count = 0;
  bool operator==(const RulesView&) const = default;
};

/// What is on screen.
struct View {
  Tongue tongue = Tongue::english;  ///< of the texts in the answers
  std::string filter;
  bool only_bad = false;
  std::string sort;  ///< column that orders the rows; "": as in the file
  bool sort_descending = false;
  std::uint64_t row_first = 0;
  std::uint32_t row_count = 0;
  std::uint32_t minimap_cells = 0;
  std::vector<std::int64_t> pinned;  ///< rows that stay in view
  bool time_mode = false;            ///< timeline by wall_time instead of by index
  double timeline_begin = 0;         ///< index, or place on the axis by time
  double timeline_end = 50;
  std::uint32_t timeline_columns = 0;  ///< pixels of the window; used where boxes are too narrow to be drawn one by one
  std::uint32_t overview_columns = 0;
  std::uint32_t track_first = 0;  ///< tracks on screen
  std::uint32_t track_count = 0;
  std::string alerts_by = "op";              ///< op, call, graph, line or class
  std::vector<std::string> alerts_folded;    ///< keys of groups that are folded
  std::vector<std::string> alerts_expected;  ///< sites whose alerts are muted (AlertList::site)
  std::uint64_t alerts_first = 0;
  std::uint32_t alerts_count = 0;
  std::string source_host;
  std::string source_path;  ///< "": no file is shown
  std::string beside_host;
  std::string beside_path;  ///< of a second file; "": none
  std::uint32_t hops = 1;   ///< of the graph around the focused op
  bool diagnostics = false;
  std::string search;             ///< what the palette looks for; "": nothing
  std::int32_t values_of = -1;    ///< of which tensor of Selection::seen the values are shown; −1: none
  std::int64_t values_slice = 0;  ///< of more than two dimensions
  RulesView rules = {};
  bool operator==(const View&) const = default;
};

struct Request {
  std::uint64_t serial = 0;  ///< 0: nobody waits for the answer
  std::variant<Open, Close, SelectRun, Cancel, Reload, Export, Select, View, SetRules> what;
};

// ---------------------------------------------------------------------------------------------------- replies

struct RunInfo {
  std::uint64_t key = 0;  ///< of this run alone as long as the logdirs are open, wherever it stands in the list
  std::string run_id;
  std::string version;  ///< of TensorFlow, or "nanlens-…"
  double start = 0;     ///< seconds since the epoch
  std::uint64_t num_executions = 0;
  std::uint64_t num_traces = 0;
  std::uint64_t num_alerts = 0;
  std::uint64_t num_graphs = 0;
  std::int32_t mode = 0;        ///< tensor debug mode of the first event; 0: none seen
  std::uint32_t num_ranks = 0;  ///< of a job's processes that recorded into it
  /// Executions that made complex numbers with a NaN or infinity, which raise no alert; and the first of them.
  std::uint64_t num_bad_complex = 0;
  std::uint64_t first_bad_complex = 0;
};

/// A cause in words, and where it is.
struct CauseLine {
  std::string id;  ///< "rc.log0"
  std::string sentence;
  std::string consequence;
  std::string remedy;
  EventClass event_class = EventClass::unknown;
  std::string tensor;
  std::string op_type;
  std::string op_name;
  std::string graph_id;
  std::string path;
  std::int32_t line = 0;
  std::int64_t execution = -1;
  std::int64_t trace = -1;
  std::int32_t slot = -1;
  std::uint64_t reach = 0;  ///< bad tensors that follow from it
  std::string conditions;   ///< of a line of nanlens.mutes that mutes it
  std::string muted_by;     ///< "nanlens.mutes:4"; "": it is not muted
  std::string reason;       ///< of that line
  bool may_follow = false;  ///< it came in bad later than the first listed, from what is not on record
};

/// What the run is, in one sentence's parts.
struct Verdict {
  std::int64_t alert = -1;      ///< −1: nothing is bad
  std::int64_t first_bad = -1;  ///< the first alert, or the first that is not intended
  std::int64_t begins = -1;     ///< the alert to begin with: the cause's; until that is known, the first bad one
  std::string tensor;           ///< "Log:0"
  std::string op_type;
  std::vector<Badge> badges;
  std::string graph_name;
  std::string path;  ///< where it is `trapped`, the line in short, or the function
  std::int32_t line = 0;
  std::string code;  ///< text of that line
  std::int64_t execution = -1;
  std::int64_t trace = -1;
  bool trapped = false;    ///< nothing is bad, but the program trapped `op_type` itself, at `execution`
  bool explained = false;  ///< `cause` is known
  CauseLine cause;
  std::uint64_t total = 0;         ///< bad tensors
  std::uint64_t num_expected = 0;  ///< what is meant, or did no harm
  std::uint64_t num_causes = 0;    ///< what is expected among them
  std::uint64_t num_muted = 0;     ///< of the causes
  bool all_muted = false;          ///< there is no cause that is not
  bool harmless = false;           ///< `cause` is an intended infinity: there is no other that is not muted
  std::string muted_by;            ///< "nanlens.mutes:4, nanlens.mutes:7 and 2 more lines"
  std::string reasons;             ///< the same with the reason of each
};

struct Overview {
  bool open = false;
  std::string name;   ///< of what was opened
  std::string error;  ///< why nothing is open
  std::vector<RunInfo> runs;
  std::int32_t run = -1;  ///< the one shown, by its place in `runs`, which changes when runs appear
  bool loading = false;
  bool stopped = false;  ///< Cancel stopped it
  std::uint64_t bytes_done = 0;
  std::uint64_t bytes_total = 0;
  std::uint64_t num_diagnostics = 0;
  Verdict verdict;
  std::uint64_t memory_bytes = 0;  ///< of the index
  std::uint64_t generation = 0;    ///< of the Open it belongs to
};

/// What a cell of the minimap holds; several may be set.
enum MinimapSign : std::uint8_t {
  minimap_bad = 1,
  minimap_hit = 2,
  minimap_call = 4,
  minimap_error = 8,  ///< an error's rule holds; below: a warning's, a note's
  minimap_warning = 16,
  minimap_note = 32
};

/// A row of Graph Executions.
struct Row {
  std::uint64_t index = 0;    ///< of the row of a graph, or of the execution
  bool is_execution = false;  ///< in a run without graph tensors: with its first bad output, or its first
  std::string op_name;
  std::int32_t slot = 0;
  std::string op_type;
  std::string graph_id;
  std::string graph_name;
  std::string device;
  double time = 0;  ///< seconds since the run's start
  std::int64_t execution = -1;
  bool bad = false;
  EventClass event_class = EventClass::clean;
  bool call_begins = false;  ///< the row before it, among those shown, belongs to another call
  std::string call;          ///< op type of its execution
  std::vector<Badge> badges;
  std::int32_t job_rank = -1;  ///< that recorded it
};

struct Rows {
  bool of_executions = false;  ///< the run has no graph tensors: what it executed
  std::uint64_t total = 0;
  std::uint64_t shown = 0;   ///< rows that pass the filter, as far as it is known
  bool complete = true;      ///< the filter has seen every row
  bool sorting = false;      ///< the order asked for is not known yet: rows are as in the file
  std::string filter;        ///< the query that `rows` pass
  std::string filter_error;  ///< why View::filter can't be read; the last valid one then stays
  std::uint32_t error_begin = 0;
  std::uint32_t error_end = 0;
  std::string filter_note;  ///< what the run's mode can't tell
  std::uint64_t first = 0;  ///< position of rows[0] among those shown
  std::vector<Row> rows;
  std::int64_t focus_position = -1;         ///< of the focused row among those shown
  std::int64_t position_before_focus = -1;  ///< where to scroll if it is filtered out
  /// Per cell what is in it, MinimapSign; cells divide the rows shown, or the whole run if `minimap_of_run`.
  std::vector<std::uint8_t> minimap;
  bool minimap_of_run = false;                ///< the rows shown are some of the run's, in its order
  std::vector<std::uint64_t> minimap_places;  ///< of the run: position of the first row shown at or after each cell
  std::vector<Row> pinned;
};

/// A pause that the axis by time shows narrower than it was.
struct Gap {
  double begin = 0;     ///< seconds since the run's start
  double seconds = 0;   ///< how long it was
  double width = 0;     ///< how long it looks
  double left_out = 0;  ///< seconds that the gaps before it leave out
};

/// One execution in the timeline.
struct Box {
  std::uint64_t index = 0;
  std::string op_type;
  bool function = false;
  bool bad = false;
  double time = 0;  ///< seconds since the run's start
  double at = 0;    ///< in time mode, or in a track: its place on the axis
  std::string device;
  std::vector<std::vector<Badge>> outputs;
  std::int32_t track = -1;
  std::uint8_t rules = 0;  ///< MinimapSign of rules that hold at it, or at rows of it
};

/// A pixel column of many executions.
struct Density {
  std::uint32_t count = 0;
  std::uint32_t functions = 0;
  std::uint32_t bad = 0;
  bool operator==(const Density&) const = default;
};

/// What a rank recorded, where a run has several. Its place by order counts its own executions.
struct Track {
  std::int32_t rank = -1;  ///< −1: a process that told none
  std::string host;
  std::uint64_t total = 0;             ///< executions
  std::uint64_t bad = 0;               ///< bad tensors, those of graphs included
  std::vector<Density> columns;        ///< of the window, if there are no boxes; tracks on screen alone have them
  std::vector<std::uint8_t> overview;  ///< of the whole run: how full each column is, from 1, with `overview_bad`
};
inline constexpr std::uint8_t overview_bad = 128;  ///< added to a column in which something is bad

struct Timeline {
  std::uint64_t total = 0;
  double duration = 0;  ///< from the run's start to the last execution: seconds, or length of the axis in time mode
  bool time_mode = false;
  std::vector<Gap> gaps;  ///< of the axis by time
  double begin = 0;       ///< what boxes or columns cover: indices, or places on the axis in time mode
  double end = 0;
  std::vector<Box> boxes;         ///< if they are few enough
  std::vector<Density> columns;   ///< else
  std::vector<Density> overview;  ///< the whole run, by index or by time
  std::vector<Track> tracks;      ///< one for each rank, by rank and host; boxes and columns are theirs
  std::uint64_t longest = 0;      ///< executions of the track that has most
};

/// A tensor that an execution took or gave.
struct TensorInfo {
  std::string name;
  std::int64_t tensor_id = -1;
  std::vector<Badge> badges;
  bool bad = false;
  EventClass event_class = EventClass::clean;
  std::int64_t execution = -1;  ///< that made it
  std::int32_t slot = 0;
  std::int64_t trace = -1;  ///< row with the same tensor
};

struct Card {
  std::int64_t index = -1;
  std::string op_type;
  std::string op_name;  ///< of an eager op that has one beside its type
  bool function = false;
  std::string graph_id;
  std::string graph_name;
  std::string device;
  std::string host;
  double time = 0;       ///< seconds since the run's start
  double wall_time = 0;  ///< seconds since the epoch
  double duration = -1;  ///< seconds; −1: not recorded
  std::int32_t mode = 0;
  std::int64_t first_row = -1;
  std::uint64_t num_rows = 0;
  std::vector<TensorInfo> inputs;
  std::vector<TensorInfo> outputs;
  std::int32_t job_rank = -1;  ///< that ran it
  std::int32_t track = -1;     ///< where a run has several ranks
  std::int64_t place = -1;     ///< among the executions of its track
};

/// An execution of a process at the other end of what the selected one exchanged.
struct ExchangePartner {
  std::int64_t execution = -1;
  std::int32_t track = -1;
  std::int64_t place = -1;  ///< among the executions of its track
  double time = 0;          ///< seconds since the run's start
  bool sent = false;        ///< it put in what the selected one got; else it got what the selected one put in
  bool bad = false;
  bool spread = false;  ///< what is bad at the receiving end is so because of what was sent here
};

/// An op next to the focused one: of a graph, or one that ran eagerly.
struct OpCard {
  std::string op_name;
  std::string op_type;
  std::int32_t slot = 0;     ///< of the producer for inputs, of the consumer's input for consumers
  std::uint32_t parent = 0;  ///< farther hops: card of the hop before
  bool known = true;         ///< its creation is on record
  bool bad = false;
  EventClass event_class = EventClass::clean;
  std::int64_t trace = -1;      ///< its row in the selected call
  std::int64_t execution = -1;  ///< that it is itself, if it ran eagerly
  std::int32_t output = 0;      ///< of that execution: whose badges these are
  std::vector<Badge> badges;
};

struct Crumb {
  std::string graph_id;
  std::string name;
};

/// Where a placeholder's tensor comes from, or where a function's result goes.
struct Boundary {
  bool exists = false;
  std::int32_t argument = -1;
  std::string function;
  std::string tensor;
  std::vector<Badge> badges;
  bool known = false;
  bool bad = false;
  std::int64_t execution = -1;
  std::int64_t trace = -1;
};

/// The ops around the focused one.
struct Neighbourhood {
  std::string graph_id;  ///< "": the op ran eagerly
  std::string graph_name;
  std::vector<Crumb> crumbs;  ///< outermost first, the op's own graph last
  std::string op_name;        ///< "": only the graph is selected
  std::string op_type;
  std::string device;
  bool known = true;
  std::vector<OpCard> outputs;  ///< the op itself, once per output slot
  std::vector<OpCard> inputs;
  std::uint64_t num_inputs = 0;                     ///< of the op, those without a card included
  std::vector<std::vector<OpCard>> consumers;       ///< per output slot
  std::vector<std::uint64_t> num_consumers;         ///< per output slot, those without a card included
  std::vector<std::vector<OpCard>> farther_inputs;  ///< hop 2, 3, …
  std::vector<std::vector<OpCard>> farther_consumers;
  Boundary boundary;
  std::int64_t call = -1;           ///< execution whose instance is shown
  std::uint64_t num_ops = 0;        ///< of the graph
  std::uint64_t num_instances = 0;  ///< rows of the op in the whole run (slot 0)
  std::uint64_t num_bad_instances = 0;
};

struct Frame {
  std::string host;
  std::string path;
  std::int32_t line = 0;
  std::string function;
  bool own = false;       ///< not a library's
  bool has_text = false;  ///< the file's text is in the logdir
};

struct Stack {
  bool exists = false;
  std::int64_t execution = -1;  ///< of an execution, or
  std::string op_name;          ///< of an op's creation
  std::string op_type;
  std::string host;
  std::vector<Frame> frames;  ///< outermost first
  std::uint32_t missing = 0;  ///< frames that are not on record
};

/// A step from the cause of the selected tensor to the tensor itself.
struct ChainStep {
  std::string tensor;
  std::int64_t execution = -1;
  std::int64_t trace = -1;
  std::int32_t slot = -1;
  EventClass event_class = EventClass::unknown;
  std::string doubt;   ///< "probably", "perhaps"
  std::string change;  ///< why infinity became NaN here
  std::string path;
  std::int32_t line = 0;
  std::vector<Badge> badges;  ///< its bad counts
};

/// What was in memory when an op had made something bad: of its output, or of one of its inputs.
struct SeenTensor {
  std::int32_t input = -1;  ///< which input of the op; −1: the output
  std::string name;         ///< what the host calls it: "grad of net.fc.weight"; empty for most
  logdir::TensorOrigin origin = logdir::TensorOrigin::not_recorded;  ///< of an input
  bool looked_at = false;                                            ///< else the memory could not be read any more
  std::vector<Badge> badges;                                         ///< its health then
  std::string elements;  ///< "[0,3] NaN, [1,2] −∞": the first bad ones; of a clean input those at their places
  bool stored = false;   ///< all its values are on record
};

/// Elements that share a cell of a HeatMap.
struct HeatCell {
  double low = 0;  ///< of the finite ones; above `high` if there is none
  double high = 0;
  std::uint32_t nan = 0;
  std::uint32_t ninf = 0;
  std::uint32_t pinf = 0;
};
/// One without elements.
HeatCell empty_cell();

/// Two dimensions of a tensor's values as coloured cells.
struct HeatMap {
  std::int32_t of = -1;  ///< View::values_of
  bool stored = false;   ///< its values are on record; else nothing below is filled
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::int64_t slice = 0;  ///< which of `slices`
  std::int64_t slices = 1;
  std::int64_t rows = 0;  ///< elements
  std::int64_t columns = 0;
  std::int64_t cells_down = 0;
  std::int64_t cells_across = 0;
  std::vector<HeatCell> cells;  ///< by rows
  double low = 0;               ///< of the whole tensor, as in HeatCell
  double high = 0;
  std::uint64_t nan = 0;
  std::uint64_t ninf = 0;
  std::uint64_t pinf = 0;

  /// What goes before the indices of an element: "3,0," for a slice of four dimensions.
  [[nodiscard]] std::string slice_index() const;
};

/// Everything that follows from what is selected, so that no pane ever shows another selection than the others.
struct Selection {
  std::uint64_t serial = 0;  ///< of the Select it answers; 0: the data grew
  Focus focus;
  std::int64_t alert = -1;  ///< position of the selected tensor among the alerts
  std::string alert_site;   ///< what `View::alerts_expected` calls its op
  Card card;                ///< index −1: none
  bool has_neighbourhood = false;
  Neighbourhood neighbourhood;
  Stack stack;
  std::vector<std::int64_t> input_rows;  ///< per input of the focused op; −1: no row
  std::vector<std::int64_t> consumer_rows;
  std::vector<Focus> input_places;  ///< of an op that ran eagerly: what made its inputs, as far as that is on record
  std::vector<Focus> consumer_places;
  std::int64_t caller_row = -1;  ///< row of the caller's tensor behind a placeholder
  std::vector<SeenTensor> seen;  ///< of the selected event, if nanlens looked: its output, then the op's inputs
  EventClass event_class = EventClass::clean;
  std::string doubt;                      ///< how sure the class is
  std::string cause;                      ///< the sentence of its root
  std::vector<ChainStep> chain;           ///< root first; empty if nothing bad is selected
  std::string notice;                     ///< why a wish could not be fulfilled
  std::vector<ExchangePartner> partners;  ///< of the execution, as far as the analysis has come
  std::string conditions;                 ///< of a line of nanlens.mutes that mutes its root
  std::string muted_by;                   ///< the line that mutes its root: "nanlens.mutes:4"
  std::string reason;                     ///< of that line
};

/// A line of the alerts list.
struct AlertLine {
  bool group = false;
  std::string key;   ///< groups
  std::string text;  ///< groups: name; alerts: tensor
  std::string op_type;
  std::uint64_t count = 0;              ///< groups
  std::vector<std::uint8_t> sparkline;  ///< groups: 0…255 over the run
  std::int64_t index = -1;              ///< alerts
  std::string op_name;
  std::int32_t output_slot = 0;
  std::int64_t execution = -1;
  std::int64_t trace = -1;
  std::int64_t call = -1;  ///< execution a trace belongs to
  std::string graph_name;
  EventClass event_class = EventClass::unknown;
  std::vector<Badge> badges;   ///< its bad counts
  std::int32_t job_rank = -1;  ///< alerts: that recorded it
  std::string muted;           ///< alerts: "nanlens.mutes:4 (the mask of padded tokens)"
};

struct Alerts {
  std::uint64_t total = 0;
  std::uint64_t muted = 0;  ///< of them, by nanlens.mutes
  std::string by;
  std::uint64_t num_lines = 0;  ///< groups and unfolded alerts
  std::uint64_t first = 0;
  std::vector<AlertLine> lines;
  std::int64_t line_of_focus = -1;
};

struct LineMark {
  std::int32_t line = 0;
  std::uint32_t ops = 0;
  bool bad = false;
  std::vector<OpCard> list;            ///< the first of the ops made there
  std::vector<std::string> graph_ids;  ///< of each of `list`
};

struct Source {
  std::string host;
  std::string path;
  bool found = false;              ///< the logdir knows this file
  std::vector<std::string> lines;  ///< empty: its text is not in the logdir
  std::vector<LineMark> marks;
};

/// An op whose output is clean although an input was bad.
struct RemovedLine {
  std::string op;
  std::string removed;       ///< the bad tensor it got
  bool to_integers = false;  ///< its output has no NaN because it has no floats
  std::int64_t execution = -1;
  std::int64_t trace = -1;
  std::uint64_t count = 0;
};

/// Why there is a NaN: every cause of the run.
struct Explanation {
  bool complete = false;
  std::uint64_t done = 0;  ///< bad tensors looked at
  std::uint64_t total = 0;
  std::uint64_t explained = 0;  ///< that follow from a known cause
  std::uint64_t num_causes = 0;
  std::uint64_t dropped = 0;         ///< events that the program could not record
  std::uint64_t unread_tensors = 0;  ///< of which it could not read the values
  std::vector<CauseLine> causes;     ///< the headline first
  std::vector<CauseLine> expected;
  std::vector<RemovedLine> removed;
};

struct Fault {
  std::string file;  ///< "": the viewer itself could not go on with something
  std::uint64_t offset = 0;
  std::string message;
};

struct Diagnostics {
  std::vector<Fault> list;
};

/// Something of the run whose name contains what the palette looks for.
struct Found {
  std::string title;
  std::string note;
  std::string graph_id;  ///< ops and graphs
  std::string op_name;   ///< ops
  std::string path;      ///< source files
  std::string host;
  std::int64_t execution = -1;  ///< ops that ran eagerly: the first bad one of this type or name, or the first
};

struct Search {
  std::string text;
  std::vector<Found> list;  ///< the first fifty: exact names, then beginnings, then parts
};

/// A part of an exported list.
struct Exported {
  std::string what;
  bool csv = false;
  bool first = false;
  bool complete = false;
  std::uint64_t lines = 0;  ///< so far
  std::uint64_t total = 0;
  std::string text;
  std::string of;  ///< values: "row88-input1", "execution3-output0"
};

/// What a hit of a rule means.
enum class RuleLevel : std::uint8_t { error, warning, note };

/// How far a rule is judged.
enum class RuleState : std::uint8_t {
  judging,
  judged,
  not_judged,  ///< what it asks is not on record
  unreadable,
  off  ///< nobody wants it to be judged
};

enum class RuleLineKind : std::uint8_t { rule, place, row, more, more_rules };

/// A line of the list of rules: a rule, an op and line where it holds, a row there, or how many of these, or of rules,
/// are not listed.
struct RuleLine {
  RuleLineKind kind = RuleLineKind::rule;
  std::string key;  ///< what RulesView::unfolded calls it
  std::string name;
  RuleLevel level = RuleLevel::error;
  RuleState state = RuleState::judging;
  std::string text;         ///< rules: as it is written
  std::string expression;   ///< rules: what it asks
  std::string reason;       ///< rules: of the file; else empty
  std::string problem;      ///< rules: why it can't be read or judged
  std::uint32_t begin = 0;  ///< rules that can't be read: where in `text`
  std::uint32_t end = 0;
  std::uint32_t file = 0;  ///< which of SetRules::texts
  std::uint32_t line = 0;  ///< of it, from 1
  bool holds = false;
  bool total = false;           ///< it asks how many rows there are: `rows` may be 0 where it holds
  std::uint64_t rows = 0;       ///< at which it holds; more_rules: how many
  std::uint64_t places = 0;     ///< rules: ops and lines, those that are not listed included
  std::uint64_t unjudged = 0;   ///< rules: rows that it is about, but what it asks is not on record
  std::string op;               ///< "Relu:0"
  std::string place;            ///< "model.cpp:52"
  std::string facts;            ///< "zero = 98 %"
  std::int64_t execution = -1;  ///< of the first row
  std::int64_t trace = -1;
  std::int32_t slot = -1;
};

/// What the rule that is written just now finds.
struct RuleDraft {
  std::string text;   ///< RulesView::draft
  std::string error;  ///< why it can't be read
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  bool in_name = false;  ///< that is wrong, rather than what it asks
  RuleState state = RuleState::judging;
  double done = 0;  ///< share of the rows that were looked at
  bool holds = false;
  std::uint64_t rows = 0;
  std::uint64_t places = 0;
  std::uint64_t unjudged = 0;
  std::string problem;  ///< why it can't be judged
};

/// By what the run is judged, and what came of it.
struct RuleList {
  std::uint64_t num_rules = 0;
  std::uint64_t num_off = 0;
  std::uint64_t num_judging = 0;
  std::vector<std::uint64_t> holding;  ///< rules that hold, by level
  std::uint64_t num_not_judged = 0;    ///< those that can't be read included
  bool cut = false;                    ///< more rows hold than are listed
  std::uint64_t num_lines = 0;
  std::uint64_t first = 0;
  std::vector<RuleLine> lines;
  RuleDraft draft;
};

/// The rules that were found with what is open.
struct FoundRules {
  std::vector<RulesText> texts;
};

/// Ends every batch of replies.
struct Status {
  std::uint64_t serial = 0;  ///< every request up to this one has been answered
  bool busy = false;         ///< more replies will come without a request
};

using Reply = std::variant<Overview, Rows, Timeline, Selection, Alerts, Source, Diagnostics, Search, Explanation,
                           Exported, Status, HeatMap, RuleList, FoundRules>;

}  // namespace nanlens::viewer
