// Rules as types of alerts: how often each holds, and where.
#include <algorithm>
#include <cmath>

#include <nanlens/query/error.hpp>

#include "app/rules.hpp"
#include "engine/rule_faults.hpp"
#include "panes/panes.hpp"
#include "texts/rule_reasons.hpp"
#include "widgets/format.hpp"

namespace nanlens::viewer {

namespace {

constexpr float rule_height = 22;

const char* level_sign(RuleLevel level) {
  return level == RuleLevel::error ? "▲" : level == RuleLevel::warning ? "⚠" : "ℹ";
}

const char* level_text(RuleLevel level) {
  return tr(level == RuleLevel::error     ? Text::rule_error
            : level == RuleLevel::warning ? Text::rule_warning
                                          : Text::rule_note);
}

// What a rule's tag says: how often it holds, or why that is not known.
std::string tag_of(const RuleLine& line) {
  switch (line.state) {
    case RuleState::judging: return "…";
    case RuleState::not_judged: return "?";
    case RuleState::unreadable: return "✗";
    case RuleState::off: return tr(Text::rule_is_off);
    default: return (line.total && line.holds ? "Σ " : "") + format_count(static_cast<double>(line.rows));
  }
}

// One that can't be read may have none.
const std::string& name_of(const RuleLine& line) { return line.name.empty() ? line.text : line.name; }

std::string tip_of(const App& app, const RuleLine& line) {
  std::string text = line.state == RuleState::unreadable ? line.text : name_of(line) + "\n" + line.expression;
  const auto add = [&](const std::string& more) {
    if (!more.empty()) text += "\n" + more;
  };
  add(rule_reason(line.reason));
  if (line.state == RuleState::unreadable) {
    add(rule_fault_text(line.text, line.begin, line.end, line.problem));
  } else {
    text += std::string("\n") + level_text(line.level);
    if (line.state == RuleState::judging) add(tr(Text::rule_judging));
    if (line.state == RuleState::not_judged) add(tr(Text::rule_not_judged, {{"reason", line.problem}}));
    if (line.state == RuleState::judged && !line.holds) add(tr(Text::rule_holds_nowhere));
    if (line.holds && line.total) add(tr(Text::rule_holds_total, {{"n", line.rows}}));
    if (line.holds && !line.total) add(tr(Text::rule_holds, {{"rows", line.rows}, {"places", line.places}}));
    if (line.unjudged > 0 && line.state == RuleState::judged) add(tr(Text::rule_unjudged, {{"n", line.unjudged}}));
  }
  if (line.file < app.rules_pane.texts.size())
    add(app.rules_pane.texts[line.file].name + ":" + std::to_string(line.line));
  return text;
}

Json where(const RuleLine& line) { return {{"file", line.file}, {"line", line.line}, {"text", line.text}}; }

// As of an alert: where it is. A rule without hits is opened.
void go_to(App& app, const RuleLine& line) {
  if (line.trace >= 0)
    app.command("focus_rule_hit", {{"trace", line.trace}});
  else if (line.execution >= 0)
    app.command("focus_rule_hit", {{"execution", line.execution}, {"slot", line.slot}});
}

void draw_rule_menu(App& app, const std::string& id, const RuleLine& line) {
  context_menu(app, id, [&] {
    const auto entry = [&](const char* name, const char* label) {
      const bool chosen = ImGui::MenuItem(label);
      const ImVec2 min = ImGui::GetItemRectMin();
      const ImVec2 max = ImGui::GetItemRectMax();
      app.ui.mark(std::string("menu:rule:") + name, {min.x, min.y, max.x - min.x, max.y - min.y});
      return chosen;
    };
    const auto run = [&](const char* command, const Json& arguments) { run_or_tell(app, command, arguments); };
    const bool off = line.state == RuleState::off;
    if (entry("edit", tr(Text::rule_edit))) run("edit_rule", where(line));
    Json turned = where(line);
    turned["on"] = off;
    if (entry("turn", tr(off ? Text::rule_turn_on : Text::rule_turn_off))) run("turn_rule", turned);
    if (entry("copy", tr(Text::rule_copy))) run("copy_rule", where(line));
    if (entry("remove", tr(Text::rule_remove))) run("remove_rule", where(line));
  });
}

void draw_arrow(App& app, Rect& inner, const RuleLine& line, bool any) {
  Ui& ui = app.ui;
  const bool open = app.rules_pane.unfolded.contains(line.key);
  const Rect at = inner.cut_left(ui.bar(16));
  if (any &&
      ui.tool("rule:fold:" + line.key, at.inset(0, ui.finger ? 0 : ui.px(2)), open ? "▾" : "▸", tr(Text::alerts_fold)))
    app.command("fold_rules", {{"key", line.key}, {"on", open}});
}

void draw_rule(App& app, const Rect& row, const RuleLine& line) {
  Ui& ui = app.ui;
  const std::string id = "rule:" + line.key;
  const Hit hit = ui.item(id, row);
  if (hit.hovered) ui.fill(row, ui.theme.badge);
  if (hit.right_clicked) ImGui::OpenPopup((id + ":menu").c_str());
  if (hit.clicked && line.holds) {
    if (!line.total || line.rows > 0) app.rules_pane.unfolded.insert(line.key);
    go_to(app, line);
  } else if (hit.clicked) {
    run_or_tell(app, "edit_rule", where(line));
  }
  if (hit.hovered) ui.tooltip(tip_of(app, line));
  Rect inner = row.inset(ui.px(6), 0);
  draw_arrow(app, inner, line, line.holds && line.places > 0 && (line.trace >= 0 || line.execution >= 0));
  const bool quiet = !line.holds || line.state != RuleState::judged;
  const LevelColors colors = level_colors(ui.theme, line.level);
  const std::string tag = tag_of(line);
  const float width = ui.text_width(ui.mono, 11, tag) + ui.px(8);
  ui.tag({inner.right() - width, inner.y}, inner.h, tag, quiet ? ui.theme.badge : colors.fill,
         quiet ? ui.theme.onbadge : colors.on);
  inner.cut_right(width + ui.px(6));
  if (hit.hovered || ui.finger) {
    const Rect edit = inner.cut_right(ui.bar(20)).inset(0, ui.finger ? 0 : ui.px(2));
    if (ui.tool("rule:edit:" + line.key, edit, "…", tr(Text::rule_edit))) run_or_tell(app, "edit_rule", where(line));
  }
  const bool wrong = line.state == RuleState::unreadable;
  ui.text_in(inner.cut_left(ui.px(16)), ui.sans, 11, wrong ? ui.theme.bad : ui.theme.dim,
             wrong ? "✗" : level_sign(line.level));
  ui.text_in(inner, ui.sans, 12, line.holds ? ui.theme.text : ui.theme.dim, name_of(line));
  draw_rule_menu(app, id + ":menu", line);
}

void draw_place(App& app, const Rect& row, const RuleLine& line, const std::string& id) {
  Ui& ui = app.ui;
  const Hit hit = ui.item(id, row);
  const bool whole = line.trace < 0 && line.execution < 0;
  const bool here = !whole && app.selection.focus.trace == line.trace &&
                    (line.trace >= 0 || app.selection.focus.execution == line.execution);
  if (here)
    ui.fill(row, ui.theme.focus);
  else if (hit.hovered)
    ui.fill(row, ui.theme.badge);
  if (hit.clicked) go_to(app, line);
  const std::string name = whole ? tr(Text::rule_whole_run) : line.op;
  if (hit.hovered)
    ui.tooltip(name + (line.place.empty() ? "" : "\n" + line.place) + (line.facts.empty() ? "" : "\n" + line.facts));
  Rect inner = row.inset(ui.px(6), 0);
  inner.cut_left(ui.px(12));
  draw_arrow(app, inner, line, !whole && line.rows > 1 && !line.total);
  const std::string count = format_count(static_cast<double>(line.rows));
  ui.text_in(inner.cut_right(ui.text_width(ui.mono, 12, count) + ui.px(2)), ui.mono, 12, ui.theme.dim, count,
             Ellipsis::right, true);
  inner.cut_right(ui.px(6));
  inner.cut_left(ui.text_in(inner, ui.mono, 12, ui.theme.text, name, Ellipsis::left) + ui.px(8));
  if (inner.w > ui.px(40)) ui.text_in(inner, ui.sans, 11, ui.theme.dim, line.place, Ellipsis::left);
}

void draw_hit_row(App& app, const Rect& row, const RuleLine& line, const std::string& id) {
  Ui& ui = app.ui;
  const Hit hit = ui.item(id, row);
  const bool here = line.trace >= 0 ? app.selection.focus.trace == line.trace
                                    : app.selection.focus.trace < 0 && app.selection.focus.execution == line.execution;
  if (here)
    ui.fill(row, ui.theme.focus);
  else if (hit.hovered)
    ui.fill(row, ui.theme.badge);
  if (hit.clicked) go_to(app, line);
  Rect inner = row.inset(ui.px(6), 0);
  inner.cut_left(ui.px(44));
  const std::string number = (line.trace >= 0 ? "" : "#") + std::to_string(std::max(line.trace, line.execution));
  ui.text_in(inner.cut_right(ui.text_width(ui.mono, 11, number) + ui.px(2)), ui.mono, 11, ui.theme.dim, number,
             Ellipsis::right, true);
  ui.text_in(inner, ui.mono, 12, ui.theme.text, line.op, Ellipsis::left);
}

void draw_more_rules(App& app, const Rect& row, const RuleLine& line, const std::string& id) {
  Ui& ui = app.ui;
  if (ui.item(id, row).hovered) ui.tooltip(tr(Text::rule_more_rules_hint, {{"n", query::most_rules}}));
  Rect inner = row.inset(ui.px(6), 0);
  inner.cut_left(ui.px(16));
  ui.text_in(inner, ui.sans, 11, ui.theme.dim, tr(Text::rule_more_rules, {{"n", line.rows}}));
}

void draw_line(App& app, const Rect& row, const RuleLine& line, const std::string& id) {
  switch (line.kind) {
    case RuleLineKind::rule: return draw_rule(app, row, line);
    case RuleLineKind::place: return draw_place(app, row, line, id);
    case RuleLineKind::row: return draw_hit_row(app, row, line, id);
    case RuleLineKind::more_rules: return draw_more_rules(app, row, line, id);
    default: break;
  }
  const Ui& ui = app.ui;
  Rect inner = row.inset(ui.px(6), 0);
  inner.cut_left(ui.px(44));
  ui.text_in(
      inner, ui.sans, 11, ui.theme.dim,
      line.rows > 0 ? tr(Text::rule_more_rows, {{"n", line.rows}}) : tr(Text::rule_more_places, {{"n", line.places}}));
}

// How many rules of each level hold; where there is no room for all, the gravest.
void draw_counts(const App& app, Rect& inner) {
  const Ui& ui = app.ui;
  struct Count {
    RuleLevel level;
    std::string text;
    float width;
  };
  std::vector<Count> counts;
  float room = inner.w;
  for (const RuleLevel level : {RuleLevel::error, RuleLevel::warning, RuleLevel::note}) {
    const auto at = static_cast<std::size_t>(level);
    const std::uint64_t n = at < app.rules.holding.size() ? app.rules.holding[at] : 0;
    std::string text = level_sign(level) + std::string(" ") + std::to_string(n);
    const float width = ui.text_width(ui.mono, 11, text) + ui.px(8);
    if (n == 0 || width > room) continue;
    room -= width + ui.px(4);
    counts.push_back({level, std::move(text), width});
  }
  for (std::size_t i = counts.size(); i-- > 0;) {
    const LevelColors colors = level_colors(ui.theme, counts[i].level);
    ui.tag({inner.right() - counts[i].width, inner.y}, inner.h, counts[i].text, colors.fill, colors.on);
    inner.cut_right(counts[i].width + ui.px(4));
  }
}

void draw_head(App& app, const Rect& row) {
  Ui& ui = app.ui;
  ui.fill(row, ui.theme.panel);
  ui.hline(row.x, row.y, row.w, ui.theme.line);
  const Hit hit = ui.item("rules", row);
  if (hit.clicked) app.command("fold_rules");
  if (hit.hovered) ui.tooltip(tr(app.rules.cut ? Text::rules_cut : Text::rules_empty));
  Rect inner = row.inset(ui.px(6), 0);
  const bool any = app.rules.num_rules > 0;
  ui.text_in(inner.cut_left(ui.px(14)), ui.sans, 12, ui.theme.dim, !any ? "" : app.rules_pane.folded ? "▸" : "▾");
  const char* const add = tr(Text::rules_add);
  const Rect button = inner.cut_right(ui.bar_width(ui.label_width(add))).inset(0, ui.finger ? 0 : ui.px(3));
  if (ui.tool("rules:add", button, add, tr(Text::rules_add_hint))) app.command("add_rule");
  inner.cut_right(ui.px(4));
  inner.cut_left(ui.bold_in(inner, 12, ui.theme.text, tr(Text::rules_title)) + ui.px(6));
  draw_counts(app, inner);
  const std::string count = app.rules.num_judging > 0 ? "…" : any ? format_count(double(app.rules.num_rules)) : "";
  if (inner.w > ui.px(24)) ui.text_in(inner, ui.sans, 12, ui.theme.dim, count);
}

}  // namespace

LevelColors level_colors(const Theme& theme, RuleLevel level) {
  if (level == RuleLevel::error) return {theme.badfill, theme.onbad};
  if (level == RuleLevel::warning) return {theme.warn, theme.bg};
  return {theme.func, theme.onfunc};
}

// In the colours of the gravest.
void draw_rules_tag(App& app, Rect& area) {
  Ui& ui = app.ui;
  std::uint64_t holding = 0;
  auto gravest = RuleLevel::note;
  for (std::size_t level = app.rules.holding.size(); level-- > 0;) {
    holding += app.rules.holding[level];
    if (app.rules.holding[level] > 0) gravest = static_cast<RuleLevel>(level);
  }
  if (holding == 0) return;
  const Rect at = area.cut_bottom(ui.px(28));
  const std::string text = level_sign(gravest) + std::string(" ") + format_short_count(static_cast<double>(holding));
  const float w = ui.text_width(ui.mono, 11, text) + ui.px(8);
  const LevelColors colors = level_colors(ui.theme, gravest);
  const Hit hit = ui.item("rules:tag", at);
  ui.tag({at.x + (at.w - w) / 2, at.y}, at.h, text, colors.fill, colors.on);
  if (hit.hovered) ui.tooltip(tr(Text::rules_title));
  if (hit.clicked) app.command("next_rule_hit", {{"dir", 0}});
}

void draw_rules(App& app, Rect& area, bool all) {
  Ui& ui = app.ui;
  auto& pane = app.rules_pane;
  const float h = ui.bar(rule_height);
  const float head = ui.bar(26);
  if (area.h < head) return;
  const double total = pane.folded ? 0 : static_cast<double>(app.rules.num_lines);
  const float most = std::max(0.0F, (all ? area.h : area.h * 0.45F) - head);
  const float room = std::min(most, static_cast<float>(total) * h);
  Rect section = area.cut_bottom(head + room);
  if (all && area.h > 0) {  // right below what is above it
    section.y = area.y;
    area.h = 0;
  }
  draw_head(app, section.cut_top(head));
  const double visible = static_cast<double>(section.h / h);
  pane.fitting = static_cast<std::uint32_t>(std::ceil(std::max(visible, 1.0))) + 1;
  if (section.h < 1) return;
  pane.first -= static_cast<double>(ui.wheel(section).y) * 3;
  pane.first = std::clamp(pane.first, 0.0, std::max(0.0, total - visible));
  if (total > visible + 0.01) ui.scrollbar("rules:scroll", section.cut_right(ui.px(12)), total, visible, pane.first);
  ImGui::PushClipRect(section.min(), section.max(), true);
  for (std::size_t i = 0; i < app.rules.lines.size(); ++i) {
    const double position = static_cast<double>(app.rules.first + i) - pane.first;
    const Rect row{section.x, section.y + static_cast<float>(position) * h, section.w, h};
    if (row.bottom() <= section.y || row.y >= section.bottom()) continue;
    draw_line(app, row, app.rules.lines[i], "rule:line:" + std::to_string(app.rules.first + i));
  }
  ImGui::PopClipRect();
}

}  // namespace nanlens::viewer
