// Why there is a NaN: the chain below the alerts, and the panel with every cause.
#include <algorithm>

#include "panes/overlay.hpp"
#include "panes/panes.hpp"
#include "widgets/format.hpp"

namespace nanlens::viewer {

namespace {

constexpr float step_height = 20;

std::string step_text(const ChainStep& step) {
  std::string text = class_text(step.event_class);
  if (!step.doubt.empty()) text += ", " + step.doubt;
  if (!step.change.empty()) text += "; " + tr(Text::chain_change, {{"change", step.change}});
  return text;
}

// Steps without the relays in between, which are the same tensor again; the last one is kept.
std::vector<std::size_t> folded(const std::vector<ChainStep>& chain) {
  std::vector<std::size_t> shown;
  for (std::size_t i = 0; i < chain.size(); ++i)
    if (chain[i].event_class != EventClass::relay || i + 1 == chain.size()) shown.push_back(i);
  return shown;
}

void draw_step(App& app, Rect row, std::size_t index, const ChainStep& step, bool last) {
  Ui& ui = app.ui;
  const Hit hit = ui.item("chain:" + std::to_string(index), row);
  if (last)
    ui.fill(row, ui.theme.focus);
  else if (hit.hovered)
    ui.fill(row, ui.theme.badge);
  draw_ring(app, row, {step.trace, step.trace < 0 ? step.execution : -1, step.slot, step.execution}, hit.hovered);
  if (hit.clicked) app.command("focus_chain", {{"index", index}});
  if (hit.hovered)
    ui.tooltip(step.tensor + "\n" + step_text(step) +
               (step.line > 0 ? "\n" + step.path + ":" + std::to_string(step.line) : ""));
  Rect inner = row.inset(ui.px(6), 0);
  ui.text_in(inner.cut_left(ui.px(16)), ui.sans, 11, ui.theme.bad,
             step.event_class == EventClass::propagator ? "↓" : class_sign(step.event_class));
  const std::string place = place_text(step.path, step.line);
  const float width = ui.text_width(ui.mono, 11, place);
  if (inner.w > width + ui.px(90))
    ui.text_in(inner.cut_right(width + ui.px(2)), ui.mono, 11, ui.theme.dim, place, Ellipsis::right, true);
  const float name = ui.text_in(inner, ui.mono, 12, ui.theme.text, step.tensor, Ellipsis::left);
  inner.cut_left(name + ui.px(8));
  if (inner.w > ui.px(40) && step.event_class == EventClass::clean)
    ui.badges({inner.x, inner.y}, inner.w, inner.h, step.badges);
  else if (inner.w > ui.px(40))
    ui.text_in(inner, ui.sans, 11, ui.theme.dim, step.change.empty() ? step_text(step) : step.change);
}

// A cause, an intended infinity or a removal: two lines.
struct Entry {
  const CauseLine* cause = nullptr;
  const RemovedLine* removed = nullptr;
  std::size_t index = 0;
  const char* heading = nullptr;
};

std::vector<Entry> entries_of(const Explanation& e) {
  std::vector<Entry> entries;
  const auto head = [&](const char* text) {
    Entry entry;
    entry.heading = text;
    entries.push_back(entry);
  };
  // The headline stands above the list.
  for (std::size_t i = 1; i < e.causes.size(); ++i) {
    const bool later = e.causes[i].may_follow;
    if (i == 1 || later != e.causes[i - 1].may_follow) head(tr(later ? Text::causes_later : Text::causes_others));
    entries.push_back({&e.causes[i], nullptr, i, nullptr});
  }
  if (!e.expected.empty()) head(tr(Text::causes_expected));
  for (const CauseLine& c : e.expected) entries.push_back({&c, nullptr, e.causes.size(), nullptr});
  if (!e.removed.empty()) head(tr(Text::causes_removed));
  for (std::size_t i = 0; i < e.removed.size(); ++i) entries.push_back({nullptr, &e.removed[i], i, nullptr});
  return entries;
}

std::string muted_text(const CauseLine& c) {
  return c.muted_by.empty() ? "" : tr(Text::muted_by, {{"place", c.muted_by + " (" + c.reason + ")"}});
}

// "Expected…", at the right end.
void draw_mute_tool(App& app, Rect& row, std::size_t index) {
  const Ui& ui = app.ui;
  const char* const label = tr(Text::menu_mute);
  const Rect at = row.cut_right(ui.bar_width(ui.label_width(label)));
  if (app.ui.tool("cause:mute:" + std::to_string(index), at, label, tr(Text::cmd_mute)))
    app.command("mute", {{"cause", index}});
  row.cut_right(ui.px(6));
}

void draw_cause(App& app, Rect row, const Entry& entry) {
  Ui& ui = app.ui;
  const CauseLine& c = *entry.cause;
  const bool listed = entry.index < app.explanation.causes.size();
  const Hit hit = ui.item((listed ? "cause:" : "expected:") + std::to_string(entry.index), row);
  if (hit.hovered) ui.fill(row, ui.theme.badge);
  if (hit.clicked && listed) app.command("focus_cause", {{"index", entry.index}});
  const std::string mark = muted_text(c);
  if (hit.hovered) ui.tooltip(c.sentence + "\n" + c.consequence + "\n" + c.remedy + (mark.empty() ? "" : "\n" + mark));
  const bool loud = listed && mark.empty();
  Rect inner = row.inset(ui.px(8), ui.px(2));
  Rect top = inner.cut_top(ui.px(20));
  ui.text_in(top.cut_left(ui.px(20)), ui.sans, 13, loud ? ui.theme.bad : ui.theme.dim,
             class_sign(mark.empty() ? c.event_class : EventClass::expected));
  const std::string place = place_text(c.path, c.line);
  ui.text_in(top.cut_right(ui.text_width(ui.mono, 12, place) + ui.px(4)), ui.mono, 12, ui.theme.link, place,
             Ellipsis::right, true);
  if (loud) draw_mute_tool(app, top, entry.index);
  inner.cut_left(ui.px(20));
  const ImU32 color = mark.empty() ? ui.theme.text : ui.theme.dim;
  if (ui.finger) {  // nothing hovers there: the words stand in full, below sign, place and tool
    ui.paragraph(inner, ui.sans, 13, color, c.sentence + " " + (mark.empty() ? c.consequence : mark));
    return;
  }
  ui.bold_in(top, 13, color, c.sentence);
  ui.text_in(inner.cut_top(ui.px(18)), ui.sans, 12, ui.theme.dim,
             mark.empty() ? c.consequence + "  " + c.remedy : mark);
}

// Of one entry; where the words stand in full, of the longest of the first.
float entry_height(const Ui& ui, const std::vector<Entry>& entries, float width) {
  constexpr float two_lines = 44, most = 170;
  float height = ui.px(two_lines);
  if (!ui.finger) return height;
  constexpr std::size_t measured = 50;
  for (std::size_t i = 0; i < std::min(measured, entries.size()); ++i)
    if (const CauseLine* const c = entries[i].cause)
      height = std::max(
          height, ui.px(28) + ui.paragraph_height(ui.sans, 13, c->sentence + " " + c->consequence, width - ui.px(56)));
  return std::min(height, ui.px(most));
}

void draw_removed(App& app, Rect row, const Entry& entry) {
  Ui& ui = app.ui;
  const RemovedLine& r = *entry.removed;
  const Hit hit = ui.item("removed:" + std::to_string(entry.index), row);
  if (hit.hovered) ui.fill(row, ui.theme.badge);
  if (hit.clicked) {
    app.close_popup();
    if (r.trace >= 0)
      app.command("focus_trace", {{"index", r.trace}});
    else
      app.command("focus_execution", {{"index", r.execution}});
  }
  Rect inner = row.inset(ui.px(8), ui.px(2));
  Rect top = inner.cut_top(ui.px(20));
  ui.text_in(top.cut_left(ui.px(20)), ui.sans, 13, ui.theme.text, class_sign(EventClass::killer));
  const std::string count = format_count(static_cast<double>(r.count)) + "×";
  ui.text_in(top.cut_right(ui.text_width(ui.mono, 12, count) + ui.px(4)), ui.mono, 12, ui.theme.dim, count,
             Ellipsis::right, true);
  ui.text_in(top, ui.mono, 13, ui.theme.text, r.op);
  inner.cut_left(ui.px(20));
  ui.text_in(inner.cut_top(ui.px(18)), ui.sans, 12, ui.theme.dim,
             tr(r.to_integers ? Text::causes_got_integers : Text::causes_got, {{"values", r.removed}}));
}

void draw_entry(App& app, Rect row, const Entry& entry) {
  if (entry.heading != nullptr)
    app.ui.bold_in(row.cut_bottom(app.ui.px(36)).inset(app.ui.px(8), 0), 12, app.ui.theme.dim, entry.heading);
  else if (entry.cause != nullptr)
    draw_cause(app, row, entry);
  else
    draw_removed(app, row, entry);
}

constexpr float sum_height = 28;

// The first cause in full, as many lines as it takes.
struct Headline {
  std::string sentence, advice;
  float tool_width = 0;  // of "Expected…", at the right end
  float sentence_height = 0, height = 0;
};

Headline headline_of(const Ui& ui, const CauseLine& c, float width) {
  Headline out;
  const std::string mark = muted_text(c);
  out.sentence = c.sentence + " " + c.consequence;
  out.advice = mark.empty() ? c.remedy : mark;
  if (mark.empty()) out.tool_width = ui.bar_width(ui.label_width(tr(Text::menu_mute))) + ui.px(6);
  const float words = width - ui.px(28) - out.tool_width;
  out.sentence_height = ui.paragraph_height(ui.sans, 15, out.sentence, words) + ui.px(4);
  out.height = out.sentence_height + ui.paragraph_height(ui.sans, 13, out.advice, words) + ui.px(20);
  return out;
}

void draw_headline(App& app, Rect top, const Headline& headline) {
  Ui& ui = app.ui;
  const Hit hit = ui.item("cause:0", top);
  if (hit.hovered) ui.fill(top, ui.theme.badsoft);
  if (hit.clicked) app.command("focus_cause", {{"index", 0}});
  top = top.inset(ui.px(14), ui.px(8));
  const bool muted = headline.tool_width == 0;
  if (!muted) {
    Rect tool = top.cut_right(headline.tool_width);
    Rect tool_row = tool.cut_top(ui.bar(22));
    draw_mute_tool(app, tool_row, 0);
  }
  ImGui::PushClipRect(top.min(), top.max(), true);
  ui.paragraph(top.cut_top(headline.sentence_height), ui.sans, 15, muted ? ui.theme.dim : ui.theme.bad,
               headline.sentence);
  ui.paragraph(top, ui.sans, 13, ui.theme.text, headline.advice);
  ImGui::PopClipRect();
}

// How much of the run the causes explain.
void draw_sum(Ui& ui, const Rect& foot, const Explanation& e) {
  ui.text_in(foot, ui.sans, 12, ui.theme.dim,
             tr(Text::causes_sum, {{"explained", e.explained}, {"total", e.total}, {"causes", e.num_causes}}) +
                 (e.dropped == 0 ? "" : " " + tr(Text::causes_dropped, {{"n", e.dropped}})) +
                 (e.unread_tensors == 0 ? "" : " " + tr(Text::causes_unread, {{"n", e.unread_tensors}})));
}

}  // namespace

const char* class_sign(EventClass event_class) {
  switch (event_class) {
    case EventClass::producer: return "✱";
    case EventClass::killer: return "⊘";
    case EventClass::source: return "⇥";
    case EventClass::unknown: return "?";
    case EventClass::expected: return "∅";
    case EventClass::propagator:
    case EventClass::relay: return "▲";
    case EventClass::clean: break;
  }
  return "";
}

void draw_chain(App& app, Rect& area) {
  Ui& ui = app.ui;
  const auto& chain = app.selection.chain;
  if (chain.empty() || area.h < ui.px(200)) return;
  const auto shown = folded(chain);
  const float wanted = ui.bar(24) + ui.bar(step_height) * static_cast<float>(shown.size());
  Rect box = area.cut_bottom(std::min(wanted, area.h * 0.45F));
  ui.hline(box.x, box.y, box.w, ui.theme.line);
  Rect head = box.cut_top(ui.bar(24)).inset(ui.px(6), 0);
  const char* const why = tr(Text::chain_why);
  if (ui.tool("chain:why", head.cut_right(ui.bar_width(ui.label_width(why))).inset(0, ui.px(2)), why,
              tr(Text::chain_why_hint)))
    app.command("show_causes");
  if (ui.tool("chain:up", head.cut_right(ui.bar(22)).inset(0, ui.px(2)), "↑", tr(Text::chain_up_hint)))
    app.command("cause_step", {{"dir", -1}});
  const float title = ui.bold_in(head, 12, ui.theme.text, tr(Text::chain_title));
  head.cut_left(title + ui.px(8));
  const std::string steps = tr(Text::chain_steps, {{"n", shown.size()}});
  if (ui.text_width(ui.sans, 11, steps) <= head.w) ui.text_in(head, ui.sans, 11, ui.theme.dim, steps);
  const float h = ui.bar(step_height);
  const double visible = static_cast<double>(box.h / h);
  const double last = std::max(0.0, static_cast<double>(shown.size()) - visible);
  auto& pane = app.alerts_pane;
  if (pane.chain_of != app.selection.alert) {
    pane.chain_of = app.selection.alert;
    pane.chain_first = 0;
  }
  pane.chain_first = std::clamp(pane.chain_first - static_cast<double>(ui.wheel(box).y) * 3, 0.0, last);
  if (last > 0)
    ui.scrollbar("chain:scroll", box.cut_right(ui.px(10)), static_cast<double>(shown.size()), visible,
                 pane.chain_first);
  ImGui::PushClipRect(box.min(), box.max(), true);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const Rect row{box.x, box.y + static_cast<float>(static_cast<double>(i) - pane.chain_first) * h, box.w, h};
    if (row.bottom() <= box.y || row.y >= box.bottom()) continue;
    draw_step(app, row, shown[i], chain[shown[i]], i + 1 == shown.size());
  }
  ImGui::PopClipRect();
}

void draw_causes(App& app, const Rect& window) {
  const Explanation& e = app.explanation;
  const auto entries = entries_of(e);
  const Ui& measure = app.ui;
  const float width = centered(window, measure.px(940), 0).w;
  const float line = entry_height(measure, entries, width);
  const Headline headline = e.causes.empty() ? Headline{} : headline_of(measure, e.causes.front(), width);
  const float rest = measure.bar(34) + std::max(headline.height, measure.px(44)) + measure.px(sum_height + 12);
  const float wanted = rest + line * static_cast<float>(entries.size());
  const float most = std::max(measure.px(560), rest + 2 * line);
  overlay(app, tr(Text::causes_title), centered(window, width, std::min(most, wanted)), [&](Rect inside) {
    Ui& ui = app.ui;
    if (!e.complete || (e.causes.empty() && e.expected.empty())) {
      const bool complex = e.complete && app.run().num_bad_complex > 0;
      draw_empty(app, inside,
                 complex ? complex_text(app.run()) : tr(e.complete ? Text::causes_none : Text::causes_looking));
      return;
    }
    draw_sum(ui, inside.cut_bottom(ui.px(sum_height)).inset(ui.px(14), 0), e);
    if (!e.causes.empty()) {
      const Rect top = inside.cut_top(std::min(headline.height, inside.h));
      draw_headline(app, top, headline);
      ui.hline(inside.x, inside.y, inside.w, ui.theme.line);
    }
    list(
        app, inside.inset(ui.px(8), ui.px(4)), entries.size(), line,
        [&](std::size_t i, Rect row) { draw_entry(app, row, entries[i]); },
        [&](std::size_t i) { return entries[i].heading == nullptr; });
  });
}

}  // namespace nanlens::viewer
