// What is on screen as JSON, for tests and for whoever drives the viewer from outside.
#include <algorithm>
#include <cmath>
#include <utility>

#include "app/app.hpp"
#include "app/pins.hpp"
#include "app/rules.hpp"
#include "engine/badges.hpp"
#include "widgets/format.hpp"
#include "widgets/health_bar.hpp"

namespace nanlens::viewer {

namespace {

Json or_null(std::int64_t index) { return index < 0 ? Json(nullptr) : Json(index); }
Json or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json badges_json(const std::vector<Badge>& badges) {
  Json list = Json::array();
  for (const Badge& b : badges) {
    Json value;
    if (b.kind == BadgeKind::dtype || b.kind == BadgeKind::shape || b.kind == BadgeKind::none)
      value = b.text;
    else if (b.kind == BadgeKind::curt)
      value = b.number != 0 ? "bad" : "ok";
    else if (std::fabs(b.number) < 9e15)
      value = static_cast<std::int64_t>(b.number);
    else
      value = b.number;
    list.push_back({{"kind", badge_kind_name(b.kind)}, {"value", value}});
  }
  return list;
}

Json tensor_json(const TensorInfo& t) {
  return {{"name", t.name},
          {"tensor_id", t.tensor_id},
          {"bad", t.bad},
          {"execution", or_null(t.execution)},
          {"trace", or_null(t.trace)},
          {"badges", badges_json(t.badges)}};
}

Json runs_json(const App& app) {
  Json runs = Json::array();
  for (const RunInfo& r : app.overview.runs)
    runs.push_back({{"run_id", r.run_id},
                    {"num_executions", r.num_executions},
                    {"num_traces", r.num_traces},
                    {"num_alerts", r.num_alerts}});
  return runs;
}

Json focus_json(const App& app) {
  const Focus& f = app.selection.focus;
  const Tab* const tab = app.tab();
  return {{"run", app.overview.run < 0 ? Json(nullptr) : Json(app.run().run_id)},
          {"execution", or_null(f.execution)},
          {"trace", or_null(f.trace)},
          {"slot", or_null(f.slot)},
          {"graph_id", or_null(f.graph_id)},
          {"op_name", or_null(f.op_name)},
          {"frame", or_null(app.stack_pane.frame)},
          {"source", tab == nullptr ? Json(nullptr) : Json{{"path", tab->path}, {"line", tab->line}}}};
}

Json alerts_json(const App& app) {
  Json visible = Json::array();
  for (std::size_t i = 0; i < app.alerts.lines.size() && !app.alerts_pane.folded; ++i) {
    const AlertLine& a = app.alerts.lines[i];
    const double position = static_cast<double>(app.alerts.first + i);
    if (a.group || position + 1 <= app.alerts_pane.first ||
        position >= app.alerts_pane.first + static_cast<double>(app.alerts_pane.fitting) - 1)
      continue;
    visible.push_back({{"index", a.index},
                       {"op_name", or_null(a.op_name)},
                       {"op_type", a.op_type},
                       {"output_slot", a.output_slot},
                       {"execution", or_null(a.execution)},
                       {"trace", or_null(a.trace)},
                       {"job_rank", or_null(a.job_rank)}});
  }
  Json by_type = Json::object();
  if (app.alerts.total > 0) by_type["InfNanAlert"] = app.alerts.total;
  return {{"total", app.alerts.total}, {"by_type", std::move(by_type)},
          {"by", app.alerts_pane.by},  {"expected", app.alerts_pane.expected},
          {"muted", app.alerts.muted}, {"visible", std::move(visible)}};
}

const char* rule_state_name(RuleState state) {
  switch (state) {
    case RuleState::judging: return "judging";
    case RuleState::judged: return "judged";
    case RuleState::not_judged: return "not_judged";
    case RuleState::unreadable: return "unreadable";
    default: return "off";
  }
}

Json rule_line_json(const RuleLine& line) {
  if (line.kind == RuleLineKind::more_rules) return {{"kind", "more"}, {"rules", line.rows}};
  if (line.kind == RuleLineKind::more) return {{"kind", "more"}, {"rows", line.rows}, {"places", line.places}};
  if (line.kind != RuleLineKind::rule)
    return {{"kind", line.kind == RuleLineKind::row ? "row" : "place"},
            {"key", or_null(line.key)},
            {"tensor", or_null(line.op)},
            {"place", or_null(line.place)},
            {"facts", or_null(line.facts)},
            {"rows", line.rows},
            {"trace", or_null(line.trace)},
            {"execution", or_null(line.execution)}};
  return {{"kind", "rule"},
          {"key", line.key},
          {"name", line.name},
          {"level", level_word(line.level)},
          {"state", rule_state_name(line.state)},
          {"expression", or_null(line.expression)},
          {"reason", or_null(line.reason)},
          {"problem", or_null(line.problem)},
          {"file", line.file},
          {"line", line.line},
          {"holds", line.holds},
          {"rows", line.rows},
          {"places", line.places},
          {"unjudged", line.unjudged}};
}

// The rule that is written, and what it finds.
Json rule_editor_json(const App& app) {
  if (app.popup != Popup::rule) return nullptr;
  const RuleDraft& draft = app.rules.draft;
  const bool is_answer = draft.text == app.view.rules.draft && !draft.text.empty();
  return {{"name", app.rule_editor.name},
          {"level", level_word(app.rule_editor.level)},
          {"conditions", app.rule_editor.conditions},
          {"reason", app.rule_editor.reason},
          {"fault", or_null(app.rule_editor.fault)},
          {"state", is_answer ? Json(rule_state_name(draft.state)) : Json(nullptr)},
          {"error", is_answer ? or_null(draft.error) : Json(nullptr)},
          {"problem", is_answer ? or_null(draft.problem) : Json(nullptr)},
          {"rows", is_answer ? Json(draft.rows) : Json(nullptr)},
          {"places", is_answer ? Json(draft.places) : Json(nullptr)}};
}

Json rules_json(const App& app) {
  Json lines = Json::array();
  for (const RuleLine& line : app.rules.lines) lines.push_back(rule_line_json(line));
  Json texts = Json::array();
  for (const RulesText& t : app.rules_pane.texts)
    texts.push_back({{"name", t.name}, {"path", or_null(t.path)}, {"text", t.text}});
  return {{"total", app.rules.num_rules}, {"off", app.rules.num_off},       {"judging", app.rules.num_judging},
          {"holding", app.rules.holding}, {"cut", app.rules.cut},           {"lines", std::move(lines)},
          {"texts", std::move(texts)},    {"editor", rule_editor_json(app)}};
}

Json tracks_json(const App& app) {
  Json tracks = Json::array();
  for (const Track& t : app.timeline.tracks)
    tracks.push_back({{"job_rank", or_null(t.rank)}, {"host", t.host}, {"executions", t.total}, {"bad", t.bad}});
  return tracks;
}

Json partners_json(const std::vector<ExchangePartner>& partners) {
  Json list = Json::array();
  for (const ExchangePartner& p : partners)
    list.push_back({{"execution", p.execution},
                    {"track", or_null(p.track)},
                    {"sent", p.sent},
                    {"bad", p.bad},
                    {"spread", p.spread}});
  return list;
}

Json timeline_json(const App& app) {
  Json boxes = Json::array();
  const auto& pane = app.timeline_pane;
  for (const Box& b : app.timeline.boxes) {
    const bool by_place = app.timeline.time_mode || b.track >= 0;
    const double at = by_place ? b.at : static_cast<double>(b.index);
    if (at + (app.timeline.time_mode ? 0 : 1) <= pane.begin || at >= pane.end) continue;
    boxes.push_back({{"index", b.index},
                     {"label", initial(b.op_type)},
                     {"op_type", b.op_type},
                     {"kind", b.function ? "function" : "eager"},
                     {"bad", b.bad},
                     {"rules", b.rules != 0},
                     {"track", or_null(b.track)}});
  }
  Json gaps = Json::array();
  for (const Gap& g : app.timeline.gaps) gaps.push_back({{"begin", g.begin}, {"seconds", g.seconds}});
  return {{"begin", pane.begin},
          {"end", pane.end},
          {"total", app.timeline.total},
          {"mode", pane.time_mode ? "time" : "order"},
          {"gaps", std::move(gaps)},
          {"boxes", std::move(boxes)},
          {"tracks", tracks_json(app)},
          {"track_first", pane.track_first},
          {"partners", partners_json(app.selection.partners)}};
}

Json execution_json(const Card& card) {
  if (card.index < 0) return nullptr;
  Json inputs = Json::array();
  Json outputs = Json::array();
  for (const auto& t : card.inputs) inputs.push_back(tensor_json(t));
  for (const auto& t : card.outputs) outputs.push_back(tensor_json(t));
  return {{"index", card.index},
          {"op_type", card.op_type},
          {"op_name", or_null(card.op_name)},
          {"graph_id", or_null(card.graph_id)},
          {"device", card.device},
          {"host", or_null(card.host)},
          {"job_rank", or_null(card.job_rank)},
          {"track", or_null(card.track)},
          {"inputs", std::move(inputs)},
          {"outputs", std::move(outputs)},
          {"first_row", or_null(card.first_row)},
          {"num_rows", card.num_rows}};
}

// Of an execution: what made an input of the selected one, and what took its results.
Json roles_of_execution(const Selection& s, std::int64_t execution) {
  Json roles = Json::array();
  const auto is_it = [execution](const Focus& place) { return place.execution == execution; };
  if (s.focus.execution == execution) roles.push_back("focused");
  if (std::any_of(s.input_places.begin(), s.input_places.end(), is_it)) roles.push_back("input");
  if (std::any_of(s.consumer_places.begin(), s.consumer_places.end(), is_it)) roles.push_back("consumer");
  return roles;
}

Json roles_json(const Selection& s, std::int64_t row) {
  Json roles = Json::array();
  if (s.focus.trace == row) roles.push_back("focused");
  for (std::size_t k = 0; k < s.input_rows.size(); ++k)
    if (s.input_rows[k] == row) roles.push_back("input:" + std::to_string(k));
  if (s.caller_row == row) roles.push_back("caller");
  if (std::find(s.consumer_rows.begin(), s.consumer_rows.end(), row) != s.consumer_rows.end())
    roles.push_back("consumer");
  return roles;
}

Json row_json(const App& app, const Row& row) {
  Json bar = nullptr;
  if (const auto widths = health_segments(row.badges, health_bar_width, 3)) bar = *widths;
  const bool classed = row.bad || row.event_class == EventClass::killer;
  return {{"index", row.index},
          {"tensor", row.op_name + ":" + std::to_string(row.slot)},
          {"op_type", row.op_type},
          {"execution", or_null(row.execution)},
          {"job_rank", or_null(row.job_rank)},
          {"badges", badges_json(row.badges)},
          {"class", classed ? Json(causes::class_name(row.event_class)) : Json(nullptr)},
          {"roles", row.is_execution ? roles_of_execution(app.selection, row.execution)
                                     : roles_json(app.selection, static_cast<std::int64_t>(row.index))},
          {"bar", bar}};
}

Json visible_rows_json(const App& app) {
  Json visible = Json::array();
  const double end = app.rows_pane.first + static_cast<double>(app.rows_pane.fitting) - 1;
  for (std::size_t i = 0; i < app.rows.rows.size(); ++i) {
    const double position = static_cast<double>(app.rows.first + i);
    if (position + 1 > app.rows_pane.first && position < end) visible.push_back(row_json(app, app.rows.rows[i]));
  }
  return visible;
}

Json rows_json(const App& app) {
  Json compared = Json::array();
  for (const Comparison& c : compare_pins(app.rows.pinned)) compared.push_back(comparison_text(c));
  const auto cells_with = [&](MinimapSign sign) {
    const auto& cells = app.rows.minimap;
    return std::count_if(cells.begin(), cells.end(), [&](std::uint8_t cell) { return (cell & sign) != 0; });
  };
  return {{"of_executions", app.rows.of_executions},
          {"total", app.rows.total},
          {"shown", app.rows.shown},
          {"first", static_cast<std::uint64_t>(std::ceil(app.rows_pane.first))},
          {"filter", app.rows_pane.filter},
          {"sort", app.rows_pane.sort.empty()
                       ? Json(nullptr)
                       : Json{{"column", app.rows_pane.sort}, {"descending", app.rows_pane.sort_descending}}},
          {"filter_error", or_null(app.rows.filter_error)},
          {"filter_note", or_null(app.rows.filter_note)},
          {"only_bad", app.rows_pane.only_bad},
          {"pinned", app.rows_pane.pins},
          {"compared", std::move(compared)},
          {"minimap",
           {{"of_run", app.rows.minimap_of_run},
            {"bad", cells_with(minimap_bad)},
            {"hits", cells_with(minimap_hit)},
            {"rules", cells_with(static_cast<MinimapSign>(minimap_error | minimap_warning | minimap_note))},
            {"calls", cells_with(minimap_call)}}},
          {"range", app.rows_pane.range_begin < 0
                        ? Json(nullptr)
                        : Json{{"begin", std::min(app.rows_pane.range_begin, app.rows_pane.range_end)},
                               {"end", std::max(app.rows_pane.range_begin, app.rows_pane.range_end)}}},
          {"tail", app.rows_pane.tail},
          {"new_rows", app.new_rows()},
          {"visible", visible_rows_json(app)}};
}

Json card_json(const OpCard& c, const char* slot_name) {
  return {{slot_name, c.slot},
          {"op_name", c.op_name},
          {"op_type", c.op_type},
          {"trace", or_null(c.trace)},
          {"execution", or_null(c.execution)},
          {"badges", badges_json(c.badges)}};
}

Json graph_json(const Selection& s) {
  if (!s.has_neighbourhood) return nullptr;
  const auto& n = s.neighbourhood;
  Json inputs = Json::array();
  for (const OpCard& c : n.inputs) inputs.push_back(card_json(c, "slot"));
  Json consumers = Json::array();
  for (const auto& slot : n.consumers) {
    Json list = Json::array();
    for (const OpCard& c : slot) list.push_back(card_json(c, "input_slot"));
    consumers.push_back(std::move(list));
  }
  Json boundary = nullptr;
  if (n.boundary.exists)
    boundary = {{"argument", n.boundary.argument},
                {"function", n.boundary.function},
                {"known", n.boundary.known},
                {"tensor", n.boundary.tensor},
                {"execution", or_null(n.boundary.execution)},
                {"trace", or_null(n.boundary.trace)}};
  Json crumbs = Json::array();
  for (const Crumb& c : n.crumbs) crumbs.push_back(c.name);
  return {{"graph_id", n.graph_id},
          {"graph_name", n.graph_name},
          {"crumbs", std::move(crumbs)},
          {"op_name", or_null(n.op_name)},
          {"op_type", n.op_type},
          {"inputs", std::move(inputs)},
          {"consumers", std::move(consumers)},
          {"farther_inputs", n.farther_inputs.size()},
          {"num_inputs", n.num_inputs},
          {"num_consumers", n.num_consumers},
          {"boundary", std::move(boundary)}};
}

Json stack_json(const App& app) {
  const Stack& s = app.selection.stack;
  Json frames = Json::array();
  for (const Frame& f : s.frames)
    frames.push_back({{"path", f.path}, {"line", f.line}, {"function", f.function}, {"own", f.own}});
  return {{"title", stack_title(s, Tongue::english)},
          {"sticky", app.stack_pane.sticky.has_value()},
          {"frames", std::move(frames)}};
}

Json causes_json(const Explanation& e) {
  Json list = Json::array();
  for (const CauseLine& c : e.causes)
    list.push_back({{"id", c.id},
                    {"sentence", c.sentence},
                    {"class", causes::class_name(c.event_class)},
                    {"op_type", c.op_type},
                    {"op_name", or_null(c.op_name)},
                    {"graph_id", or_null(c.graph_id)},
                    {"path", or_null(c.path)},
                    {"line", c.line},
                    {"trace", or_null(c.trace)},
                    {"execution", or_null(c.execution)},
                    {"reach", c.reach},
                    {"may_follow", c.may_follow},
                    {"muted_by", or_null(c.muted_by)}});
  return list;
}

Json chain_json(const Selection& s) {
  Json list = Json::array();
  for (const ChainStep& step : s.chain)
    list.push_back({{"tensor", step.tensor},
                    {"class", causes::class_name(step.event_class)},
                    {"change", or_null(step.change)},
                    {"trace", or_null(step.trace)},
                    {"execution", or_null(step.execution)},
                    {"path", or_null(step.path)},
                    {"line", step.line}});
  return list;
}

Json seen_json(const std::vector<SeenTensor>& seen) {
  Json list = Json::array();
  for (const SeenTensor& t : seen)
    list.push_back({{"input", or_null(t.input)},
                    {"name", or_null(t.name)},
                    {"origin", static_cast<int>(t.origin)},
                    {"looked_at", t.looked_at},
                    {"badges", badges_json(t.badges)},
                    {"elements", or_null(t.elements)},
                    {"stored", t.stored}});
  return list;
}

Json values_json(const App& app) {
  const HeatMap& map = app.heat_map;
  if (app.popup != Popup::values || map.of != app.values_pane.of) return nullptr;
  return {{"of", map.of},           {"stored", map.stored},
          {"dtype", map.dtype},     {"shape", map.shape},
          {"slice", map.slice},     {"slices", map.slices},
          {"rows", map.rows},       {"columns", map.columns},
          {"down", map.cells_down}, {"across", map.cells_across},
          {"nan", map.nan},         {"ninf", map.ninf},
          {"pinf", map.pinf},       {"told", or_null(app.values_pane.told)}};
}

Json verdict_json(const Verdict& v) {
  if (v.alert < 0) return nullptr;
  return {{"tensor", v.tensor},
          {"op_type", v.op_type},
          {"path", v.explained ? v.cause.path : v.path},
          {"line", v.explained ? v.cause.line : v.line},
          {"trace", or_null(v.trace)},
          {"execution", or_null(v.execution)},
          {"id", v.explained ? Json(v.cause.id) : Json(nullptr)},
          {"sentence", or_null(v.cause.sentence)},
          {"remedy", or_null(v.cause.remedy)},
          {"op_name", or_null(v.cause.op_name)},
          {"graph_id", or_null(v.cause.graph_id)},
          {"reach", v.cause.reach},
          {"total", v.total},
          {"causes", v.num_causes},
          {"muted", v.num_muted},
          {"all_muted", v.all_muted},
          {"harmless", v.harmless},
          {"muted_by", or_null(v.muted_by)}};
}

Json source_json(const App& app) {
  const Tab* const shown = app.tab();
  const bool there = shown != nullptr && app.source.path == shown->path;
  return {{"path", shown == nullptr ? Json(nullptr) : Json(shown->path)},
          {"line", shown == nullptr ? Json(nullptr) : Json(shown->line)},
          {"first_visible", shown == nullptr ? 0 : static_cast<std::int64_t>(shown->first) + 1},
          {"num_lines", there ? app.source.lines.size() : 0},
          {"given", app.source_is_given()},
          {"tabs", app.source_pane.tabs.size()},
          {"beside", app.source_pane.two ? Json(app.source_pane.beside.path) : Json(nullptr)}};
}

Json diagnostics_json(const Diagnostics& diagnostics) {
  Json list = Json::array();
  for (const Fault& f : diagnostics.list)
    list.push_back({{"file", f.file}, {"offset", f.offset}, {"message", f.message}});
  return list;
}

Json toasts_json(const std::vector<Toast>& toasts) {
  Json list = Json::array();
  for (const Toast& t : toasts) list.push_back(t.text);
  return list;
}

Json hovered_json(const TensorKey& key) {
  if (key == TensorKey{}) return nullptr;
  return {{"trace", or_null(key.trace)}, {"execution", or_null(key.execution)}, {"slot", or_null(key.slot)}};
}

std::string_view theme_name(const Ui& ui) {
  return name_of(ui.theme.bg == theme_of(ThemeName::light).bg  ? ThemeName::light
                 : ui.theme.bg == theme_of(ThemeName::dark).bg ? ThemeName::dark
                                                               : ThemeName::contrast);
}

Json loading_json(const Overview& overview) {
  if (!overview.loading) return nullptr;
  return {{"done", overview.bytes_done}, {"total", overview.bytes_total}};
}

}  // namespace

// Of the window: what lies above the panes, how they lie, and what the user has set.
Json App::state_of_window() const {
  return {{"language", tongue_tags[static_cast<std::size_t>(tongue())]},
          {"cut_texts", ui.cut},
          {"theme", theme_name(ui)},
          {"active_pane", pane_ids[static_cast<std::size_t>(active)]},
          {"maximized", layout.maximized ? Json(pane_ids[static_cast<std::size_t>(*layout.maximized)]) : Json(nullptr)},
          {"layout", layout.text()},
          {"phone", ui.finger},
          {"menu", menu_open},
          {"typing", typing()},
          {"popup", popup_ids[static_cast<std::size_t>(popup)]},
          {"hovered", hovered_json(hovered)},
          {"tooltip", or_null(ui.held.text)},
          {"full_screen", full_screen},
          {"toasts", toasts_json(toasts)},
          {"exporting", or_null(exporting)},
          {"mute", popup == Popup::mute ? Json(mute_pane.line()) : Json(nullptr)},
          {"follow", follow},
          {"frame", frames_}};
}

Json App::state() const {
  Json state = {
      {"runs", runs_json(*this)},
      {"run", focus_json(*this)["run"]},
      {"run_index", or_null(overview.run)},
      {"loading", loading_json(overview)},
      {"stopped", overview.stopped},
      {"error", or_null(overview.error)},
      {"diagnostics", diagnostics_json(diagnostics)},
      {"memory_bytes", platform.memory_bytes ? platform.memory_bytes() : static_cast<double>(overview.memory_bytes)},
      {"verdict", verdict_json(overview.verdict)},
      {"causes", causes_json(explanation)},
      {"chain", chain_json(selection)},
      {"focus", focus_json(*this)},
      {"alerts", alerts_json(*this)},
      {"rules", rules_json(*this)},
      {"timeline", timeline_json(*this)},
      {"execution", execution_json(selection.card)},
      {"seen", seen_json(selection.seen)},
      {"values", values_json(*this)},
      {"graph_executions", rows_json(*this)},
      {"graph_structure", graph_json(selection)},
      {"source_code", source_json(*this)},
      {"stack_trace", stack_json(*this)}};
  state.update(state_of_window());
  return state;
}

Json App::rects() const {
  Json out = Json::object();
  // Of the main window, wherever that is on the screen.
  const ImVec2 origin = ImGui::GetMainViewport()->Pos;
  for (const auto& [id, r] : ui.rects) out[id] = {{"x", r.x - origin.x}, {"y", r.y - origin.y}, {"w", r.w}, {"h", r.h}};
  return out;
}

}  // namespace nanlens::viewer
