/// @file
/// The viewer: what has been answered, what is selected and on screen, and the commands that change it. Panes read it
/// and change it only through `command`, so that a click, a key, a script and a link all take the same way.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "app/layout.hpp"
#include "engine/protocol.hpp"
#include "widgets/ui.hpp"

namespace nanlens::viewer {

using Json = nlohmann::json;

/// A logdir that was open before. −1 and 0: not known.
struct Recent {
  std::string path;
  double when = 0;           ///< when it was opened last, seconds since the epoch
  std::int64_t rows = -1;    ///< of all its runs, when it was read last
  std::int64_t alerts = -1;  ///< of all its runs
};

/// What of a recording is handed on.
struct ShareWish {
  std::string view;           ///< a link
  bool around_cause = false;  ///< only what causes need
  bool no_source = false;     ///< without the text of source files
};

/// What the desktop and the page do in ways of their own. Members that are not set do nothing.
struct Platform {
  std::function<void(Request)> send;
  std::function<void(bool folder)> pick;  ///< asks the user for a logdir
  std::function<void()> open_sample;      ///< opens a logdir that comes with the viewer; not set if there is none
  std::function<void(const std::string&)> copy;
  /// Takes an exported list part by part; returns where it goes, "" if it can't be written.
  std::function<std::string(const std::string& name, const Exported& part)> save_list;
  /// Begins to write what is open into a page, as one file; App::shared tells how that ended. Returns why it can't, "".
  std::function<std::string(const ShareWish&)> share;
  std::function<std::string()> share_place;  ///< the file that it will be
  std::function<std::string()> mutes_file;   ///< where marks of what is open are written; "": nowhere
  std::function<bool(const std::string& file, const std::string& line)> add_mute;  ///< false: it can't be written
  std::function<std::string()> rules_file;  ///< where rules of what is open are written; "": nowhere
  /// Puts a text of rules in place of the one before; false: it can't be written, or is no longer as it was.
  std::function<bool(const std::string& file, const std::string& before, const std::string& text)> write_rules;
  std::function<void(const std::string& link, bool new_entry)> set_link;
  std::function<std::string(const std::string& link)> link_text;  ///< the link as something to send to others
  /// Takes a picture of the next frame; the platform chooses a path if it gets none.
  std::function<void(const std::string& path)> screenshot;
  std::function<void(const std::string&)> save_settings;
  std::function<void(bool on)> follow;
  std::function<void(const Overview&)> loaded;  ///< what was opened has been read to its end
  std::function<void()> quit;
  std::function<bool()> full_screen;  ///< fills the screen, or no more; true if it does now. The page: not set
  std::function<double()> memory_bytes;
  std::vector<Recent> recent;
  bool is_page = false;
  bool can_detach = false;  ///< panes can have windows of their own
  bool can_follow = true;
  bool is_copy = false;  ///< what is open is part of the program: it can't grow
};

struct Result {
  bool ok = true;
  std::string message;
};

/// A file that Source Code has open.
struct Tab {
  std::string host;
  std::string path;
  std::int32_t line = 0;
  double first = 0;
  bool operator==(const Tab& other) const { return host == other.host && path == other.path; }
};

/// What lies above the panes. To add one: a name and its id here, a row in panes/popups.cpp, and in window_commands.cpp
/// the command that shows it (see commands.hpp).
enum class Popup : std::uint8_t {
  none,
  palette,
  help,
  diagnostics,
  licences,
  runs,
  columns,
  ops_of_line,
  causes,
  settings,
  mute,
  share,
  values,
  rule
};
inline constexpr std::array<const char*, 14> popup_ids = {"none", "palette", "help",        "diagnostics", "licences",
                                                          "runs", "columns", "ops_of_line", "causes",      "settings",
                                                          "mute", "share",   "values",      "rule"};

/// Which columns Graph Executions can show, from left to right.
inline constexpr const char* row_columns[] = {"index", "tensor", "op",   "health", "dtype",  "shape",
                                              "size",  "graph",  "call", "time",   "device", "job_rank"};

/// A tensor, whichever pane shows it. −1: not known.
struct TensorKey {
  std::int64_t trace = -1;      ///< its row
  std::int64_t execution = -1;  ///< of the op that made it, if that ran eagerly
  std::int32_t slot = -1;       ///< output of that execution
  std::int64_t call = -1;       ///< execution that its row belongs to
  bool operator==(const TensorKey&) const = default;
  /// Do both name the same tensor?
  [[nodiscard]] bool same(const TensorKey& other) const {
    if (trace >= 0 && other.trace >= 0) return trace == other.trace;
    return execution >= 0 && execution == other.execution && slot == other.slot;
  }
};

inline constexpr double toast_seconds = 4;

/// A notice at the lower right, for a few seconds.
struct Toast {
  std::string text;
  double until = 0;
  std::string undo = {};  ///< command that takes back what is told; "": there is nothing to take back
  Json undo_arguments = {};
  bool held = false;  ///< the mouse is on it: it stays
};

class App {
 public:
  explicit App(Platform platform);

  /// @name For the platform
  ///@{
  /// Draws a frame. Call within an ImGui frame; `now` in seconds.
  void frame(double now);
  void receive(Reply reply);
  /// Runs a command by its name; the state is unchanged if it is not ok.
  Result command(std::string_view name, const Json& arguments = Json::object());
  /// Something is about to be opened: what is shown goes.
  void prepare_open();
  /// Opens what the user named or dropped.
  void open(std::vector<std::string> paths);
  /// Is this the name of the file that Source Code misses? Then it takes its text instead of opening it as a logdir.
  [[nodiscard]] bool wants_source(const std::string& name) const;
  /// How it ended to hand on what is open: where it was written, or why it could not be.
  void shared(bool ok, const std::string& text);
  /// The text of the file that Source Code misses.
  void give_source(const std::string& text);
  /// True if every request has been answered and drawn.
  [[nodiscard]] bool idle() const;
  /// Is a frame due although nothing happened? Answers came, a tooltip appears, a notice ends.
  [[nodiscard]] bool wants_frame(double now) const;
  /// When `wants_frame` will next be true by itself, in seconds from `now`; negative: never.
  [[nodiscard]] double next_frame_in(double now) const;
  /// What is on screen, in the form that the viewer's tests read.
  [[nodiscard]] Json state() const;
  [[nodiscard]] Json rects() const;
  [[nodiscard]] std::string link() const;
  void apply_link(const std::string& link);
  /// Which run the link is for that waits for its logdir; "" if none does.
  [[nodiscard]] std::string linked_run() const;
  void apply_settings(const std::string& text);
  /// Hands the platform the settings, if they have changed. Frames do so now and then; to be called at the end.
  void save_settings();
  /// Does Tab go to something here, or out of the viewer?
  [[nodiscard]] bool takes_tab(bool backwards) const;
  /// What a screen reader is to be told now: the verdict once, then each selection that the user makes. "": nothing.
  std::string announcement();
  /// What the system wishes: dark colours, high contrast.
  void set_system_theme(bool dark, bool contrast);
  /// The language of those who have chosen none.
  void set_system_tongue(Tongue tongue);
  ///@}

  /// @name For panes
  ///@{
  Ui ui;
  Overview overview;
  Rows rows;
  Timeline timeline;
  Selection selection;
  Alerts alerts;
  Source source;
  Source source_beside;
  Diagnostics diagnostics;
  Search search;
  Explanation explanation;
  RuleList rules;
  HeatMap heat_map;
  View view;
  Layout layout;
  Platform platform;
  double now = 0;

  /// The open run; an empty one if there is none.
  [[nodiscard]] const RunInfo& run() const;

  struct RowsPane {
    double first = 0;
    std::uint32_t fitting = 1;
    char filter[512] = {};
    bool take_keyboard = false;
    std::set<std::string> hidden = {};
    std::set<std::string> forced = {};
    bool only_bad = false;
    std::string sort = {};  ///< column that orders the rows; "": as in the file
    bool sort_descending = false;
    std::vector<std::int64_t> pins = {};
    bool pins_folded = false;
    float row_height = 22;  ///< compact 18, comfortable 22, touch 30
    /// Rows that were selected together, by their positions among those shown; −1: none.
    std::int64_t range_begin = -1;
    std::int64_t range_end = -1;
    std::int64_t wanted = -1;  ///< position of the row to be selected as soon as it is known
    bool tail = false;         ///< the end stays in view while rows arrive
    std::uint64_t seen = 0;    ///< rows of which the last has been in view
    bool settled = false;      ///< `seen` is of this filter
    std::string seen_query = {};
    [[nodiscard]] bool in_range(std::int64_t position) const {
      return range_begin >= 0 && position >= (range_begin < range_end ? range_begin : range_end) &&
             position <= (range_begin < range_end ? range_end : range_begin);
    }
  } rows_pane;
  struct TimelinePane {
    double begin = 0;
    double end = 0;
    bool time_mode = false;
    bool fitted = false;
    double drag = 0;
    double track_first = 0;            ///< first track on screen
    std::uint32_t tracks_fitting = 0;  ///< tracks that have room; those in part included
    bool reveal_track = false;         ///< that of the selection comes on screen
  } timeline_pane;
  struct AlertsPane {
    double first = 0;
    std::uint32_t fitting = 1;
    bool folded = false;
    std::string by = "op";
    std::set<std::string> folded_groups = {"muted"};
    std::set<std::string> expected = {};  ///< sites whose alerts are muted
    double chain_first = 0;               ///< first step of the cause chain on screen
    std::int64_t chain_of = -1;           ///< the alert whose chain is shown
  } alerts_pane;
  struct CardPane {
    double first = 0;
    std::int64_t shown = -1;
  } card_pane;
  struct SourcePane {
    std::vector<Tab> tabs = {};
    std::size_t tab = 0;
    char find[256] = {};
    bool finding = false;
    bool take_keyboard = false;
    std::int32_t select_begin = 0;  ///< lines, 1-based; 0: none
    std::int32_t select_end = 0;
    double visible = 1;
    float scroll_x = 0;
    bool center = false;
    bool two = false;  ///< there is room for the caller's file
    Tab beside = {};
    float beside_scroll_x = 0;
    bool beside_center = false;
  } source_pane;
  struct StackPane {
    std::int64_t frame = -1;
    std::optional<Tab> sticky = {};
    bool fold_library = true;
    bool inner_first = false;
    double first = 0;
    bool reveal = false;
    std::set<std::size_t> unfolded = {};
  } stack_pane;
  struct GraphPane {
    std::uint32_t hops = 1;
    float scroll_x = 0;
    float scroll_y = 0;
    bool center = true;
  } graph_pane;
  struct Palette {
    char text[256] = {};
    /// What is looked for by name: the text without a leading "@" (graphs alone) and a line number at its end.
    [[nodiscard]] std::string name() const;
    /// The line in "mnist.py:52"; 0: none.
    [[nodiscard]] std::int32_t line() const;
    std::size_t cursor = 0;
    bool take_keyboard = false;
  } palette;

  struct MutePane {
    std::string conditions = {};  ///< of the line that is made
    char reason[256] = {};
    bool take_keyboard = false;
    bool confirming = false;   ///< writing into the logdir was asked for once
    std::string written = {};  ///< lines that were made of this run
    /// The line as far as it is known.
    [[nodiscard]] std::string line() const { return conditions + " -- " + reason; }
  } mute_pane;

  struct RulesPane {
    std::vector<RulesText> texts = {};  ///< in force
    std::set<std::string> unfolded = {};
    bool folded = false;
    bool reveal_end = false;  ///< a rule was added: it comes into view
    double first = 0;
    std::uint32_t fitting = 1;
    int num_given = 0;  ///< how often the editor was given texts: a field that is typed in keeps its own to itself
  } rules_pane;
  /// The rule that is written.
  struct RuleEditor {
    char name[128] = {};
    char conditions[512] = {};
    char reason[256] = {};
    RuleLevel level = RuleLevel::warning;
    std::int32_t file = -1;  ///< where it stands: in which text, −1: it is new
    std::size_t line = 0;    ///< from 0
    std::string of = {};     ///< its name there
    std::string text = {};   ///< as it stands there: by this it is found again where the file was changed
    bool off = false;
    bool take_keyboard = false;
    std::string fault = {};  ///< why it was not saved
    /// As a line of nanlens.rules; "" if it says nothing.
    [[nodiscard]] std::string rule() const;
  } rule_editor;

  struct SharePane {
    bool around_cause = false;
    bool no_source = false;
    bool writing = false;  ///< it goes on
  } share_pane;
  struct ValuesPane {
    std::int32_t of = -1;  ///< of Selection::seen
    std::int64_t slice = 0;
    std::string told = {};  ///< of the cell under the mouse
  } values_pane;

  Pane active = Pane::alerts;
  Popup popup = Popup::none;
  std::int32_t popup_line = 0;   ///< of ops_of_line
  std::optional<Pane> popup_of;  ///< the pane that it was asked for in, if that has a window of its own
  std::optional<Pane> drawing;   ///< the pane whose own window is being drawn
  double popup_first = 0;
  bool remedy_shown = false;         ///< the line under the verdict
  std::uint64_t verdict_closed = 0;  ///< key of the run whose strip was closed
  std::string exporting;             ///< how far an export has come; "": none is under way
  bool menu_open = false;            ///< a row's context menu
  bool close_menu = false;
  std::int32_t alert_end = 0;  ///< +1: the last alert was just said to be the last, −1: the first
  bool follow = true;
  std::string theme_choice = "system";
  std::string language_choice = "system";  ///< or a tag
  float user_scale = 1;
  float device_scale = 1;
  bool touch = false;
  bool full_screen = false;
  TensorKey hovered;  ///< the tensor under the mouse in the frame before

  /// A pane tells which tensor the mouse is on.
  void hover(const TensorKey& key) { hovering_ = key; }
  [[nodiscard]] float row_height() const;
  /// Did several ranks of a job record the run? Then what is shown of an event names its rank.
  [[nodiscard]] bool several_ranks() const { return run().num_ranks > 1; }
  /// Has the run no rows of graphs, but executions? Known once it has been read.
  [[nodiscard]] bool all_eager() const { return all_eager_; }
  /// The row that is selected, of a graph or an execution, as `rows` is a list of; −1: none.
  [[nodiscard]] std::int64_t focused_row() const {
    return rows.of_executions ? selection.focus.execution : selection.focus.trace;
  }
  [[nodiscard]] bool is_focused(const Row& row) const {
    return (row.is_execution ? selection.focus.execution : selection.focus.trace) ==
           static_cast<std::int64_t>(row.index);
  }
  /// Does a part of the filter keep the rows of this rank alone?
  [[nodiscard]] bool filters_rank(std::int32_t rank) const;
  /// The text that the user gave for the shown file, which the logdir lacks.
  [[nodiscard]] bool source_is_given() const;
  /// Rows that arrived below what has been in view.
  [[nodiscard]] std::uint64_t new_rows() const {
    return rows_pane.settled && rows.shown > rows_pane.seen ? rows.shown - rows_pane.seen : 0;
  }
  /// Has the engine answered everything about what is on screen?
  [[nodiscard]] bool answered() const {
    return status_.serial == serial_ && sent_view_ == view && view.filter == rows_pane.filter &&
           view.only_bad == rows_pane.only_bad;
  }
  [[nodiscard]] const Tab* tab() const;
  [[nodiscard]] bool has_focus() const {
    return selection.focus.trace >= 0 || selection.focus.execution >= 0 || !selection.focus.op_name.empty();
  }
  void toast(std::string text);
  /// The same of something that this command takes back.
  void toast(std::string text, std::string undo, Json arguments);
  void select(Select wish, bool in_history = true);
  /// Shows a source line; opens a tab if needed.
  void show_source(const std::string& host, const std::string& path, std::int32_t line);
  void show_frame(std::int64_t frame);
  [[nodiscard]] bool typing() const;
  [[nodiscard]] double timeline_whole() const;
  /// Where the selected execution is in the timeline.
  [[nodiscard]] double timeline_place() const;
  void set_timeline(double begin, double end);
  /// Puts a text of rules in place of the one in force; where it is kept is where it was.
  Result change_rules(std::size_t file, const std::string& text);
  /// Where a new rule goes: its place among the texts, which is made if it is not there.
  std::size_t text_for_rules();
  /// Opens a popup, or closes it if it is open. Its first thing to click has the keyboard.
  void toggle_popup(Popup wanted);
  void close_popup() {
    popup = Popup::none;
    ui.stops.cursor = KeyStops::nowhere;
  }
  /// Is there nothing but the screen from which a logdir is opened?
  [[nodiscard]] bool at_start() const {
    return (!overview.open || (overview.run < 0 && !overview.error.empty())) && !overview.loading;
  }
  void wake(int frames = 3) { frames_wanted_ = frames_wanted_ > frames ? frames_wanted_ : frames; }
  ///@}

 private:
  friend struct SessionCommands;
  friend struct SelectionCommands;
  friend struct ListCommands;
  friend struct WindowCommands;
  friend struct KeepingCommands;
  friend struct RuleCommands;
  void send(decltype(Request::what) what);
  void handle_keys();
  void handle_popup_keys();
  void sync_view();
  void ask_for_rows();
  void ask_for_alerts();
  void ask_for_rules();
  void publish_link();
  void keep_of_run();
  [[nodiscard]] bool settings_due() const;
  void read_layout(const std::string& text);
  void restore_first_row();
  // Where the rows begin once the selected one, or where it is filtered out the one before it, is on screen.
  [[nodiscard]] double first_with_selection() const;
  void overview_arrived(Overview arrived);
  void make_first_selection();
  void select_what_is_to_blame();
  void begin_again();
  void answered_selection(Selection arrived);
  void alerts_arrived(Alerts arrived);
  void source_arrived(Source arrived);
  void selection_arrived();
  [[nodiscard]] std::int64_t frame_to_show();
  void remember_selection();
  void list_arrived(const Exported& part);
  void forget_run();
  void status_arrived(const Status& status);
  void rows_arrived(Rows arrived);
  void rules_found(FoundRules arrived);
  void rules_arrived(RuleList arrived);
  void choose_rules();
  void begin_frame(double at, const Rect& window);
  void apply_theme();
  [[nodiscard]] Json state_of_window() const;

  std::uint64_t serial_ = 0;
  Status status_;
  View sent_view_;
  bool wishes_in_history_ = true;
  bool chosen_by_user_ = false;  // what was selected last
  std::string told_verdict_;     // to a screen reader
  Focus told_focus_;
  std::uint64_t last_select_ = 0;
  std::int32_t alert_wish_ = 0;  // in which direction the next alert was wished for; 0: something else was
  struct Entry {
    Focus focus;
    double when = 0;
  };
  std::vector<Entry> history_;
  std::size_t history_at_ = 0;
  bool scroll_rows_ = false;
  bool scroll_alerts_ = false;
  bool first_bad_done_ = false;
  std::int64_t begun_with_ = -1;  // the alert that was selected last without the user
  bool all_eager_ = false;
  std::uint64_t generation_ = 0;
  std::string link_;
  std::string pending_link_;
  std::string settings_;
  double settings_time_ = 0;  // when they were looked at last
  TensorKey hovering_;
  std::map<std::string, std::vector<std::string>> given_sources_;  // by path
  std::map<std::string, std::set<std::string>> expected_of_run_;   // sites marked as expected, by run id
  std::map<std::string, std::vector<std::int64_t>> pins_of_run_;
  std::int64_t linked_frame_ = -1;  // of a link, until its stack has arrived
  double linked_row_ = -1;          // the first one on screen, of a link, until its rows have arrived
  // What was changed of rules that are no file, by run id, while what was found is as it was then.
  struct KeptRules {
    std::string of;
    std::string text;
  };
  std::map<std::string, KeptRules> rules_of_run_;
  std::optional<std::vector<RulesText>> found_rules_;
  double link_time_ = 0;
  double load_started_ = 0;
  double tooltip_at_ = 0;
  std::uint64_t frames_ = 0;
  int frames_wanted_ = 3;
  Tongue system_tongue_ = Tongue::english;
  bool system_dark_ = false;
  bool system_contrast_ = false;
  bool user_selected_ = false;

 public:
  std::vector<Toast> toasts;
  [[nodiscard]] double loading_since() const { return load_started_; }
  [[nodiscard]] bool can_go_back() const { return history_at_ > 0; }
  [[nodiscard]] bool can_go_forward() const { return history_at_ + 1 < history_.size(); }
};

}  // namespace nanlens::viewer
