#include <algorithm>

#include "panes/panes.hpp"
#include "widgets/format.hpp"

namespace nanlens::viewer {

namespace {

// A line of the list: a frame, or a run of library frames that is folded.
struct Item {
  std::size_t frame = 0;
  std::size_t folded = 0;  ///< 0: the frame itself
};

std::vector<Item> items_of(const App& app) {
  std::vector<Item> items;
  const auto& frames = app.selection.stack.frames;
  const bool any_own = std::any_of(frames.begin(), frames.end(), [](const Frame& f) { return f.own; });
  for (std::size_t i = 0; i < frames.size();) {
    std::size_t end = i;
    while (end < frames.size() && !frames[end].own) ++end;
    const bool fold = app.stack_pane.fold_library && any_own && end - i > 1 && !app.stack_pane.unfolded.contains(i);
    if (fold && !(app.stack_pane.frame >= static_cast<std::int64_t>(i) &&
                  app.stack_pane.frame < static_cast<std::int64_t>(end))) {
      items.push_back({i, end - i});
      i = end;
    } else {
      for (end = std::max(end, i + 1); i < end; ++i) items.push_back({i, 0});
    }
  }
  if (app.stack_pane.inner_first) std::reverse(items.begin(), items.end());
  return items;
}

void draw_folded(App& app, const Rect& row, const Item& item) {
  Ui& ui = app.ui;
  const Hit hit = ui.item("frames:" + std::to_string(item.frame), row);
  if (hit.hovered) ui.fill(row, ui.theme.panel);
  if (hit.clicked) app.stack_pane.unfolded.insert(item.frame);
  ui.text_in(row.inset(ui.px(10), 0), ui.sans, 12, ui.theme.dim, tr(Text::stack_folded, {{"n", item.folded}}));
}

void draw_frame_row(App& app, const Rect& row, std::size_t index) {
  Ui& ui = app.ui;
  const Frame& f = app.selection.stack.frames[index];
  const bool focused = app.stack_pane.frame == static_cast<std::int64_t>(index);
  const Tab* tab = app.tab();
  const bool same_file = tab != nullptr && tab->path == f.path && tab->host == f.host;
  const Hit hit = ui.item("frame:" + std::to_string(index), row);
  if (focused)
    ui.fill(row, ui.theme.focus);
  else if (hit.hovered)
    ui.fill(row, ui.theme.panel);
  Rect inner = row.inset(ui.px(10), 0);
  const bool sticky = focused && app.stack_pane.sticky.has_value();
  ui.text_in(inner.cut_left(ui.px(14)), ui.sans, 12, ui.theme.link, sticky ? "⤓" : focused ? "▶" : "");
  const std::string line = tr(Text::stack_line, {{"line", f.line}});
  const Rect line_at = inner.cut_right(std::max(ui.px(76), ui.text_width(ui.mono, 12, line) + ui.px(8)));
  const float third = inner.w * 0.42f;
  Rect name = inner.cut_left(third);
  name.w -= ui.px(6);
  const std::string file = base_name(f.path);
  if (f.own || same_file)
    ui.bold_in(name, 12, f.own ? ui.theme.text : ui.theme.dim, file, Ellipsis::left);
  else
    ui.text_in(name, ui.sans, 12, ui.theme.dim, file, Ellipsis::left);
  ui.text_in(inner, ui.mono, 12, f.own ? ui.theme.text : ui.theme.dim, f.function, Ellipsis::middle);
  ui.text_in(line_at, ui.mono, 12, f.has_text ? ui.theme.link : ui.theme.dim, line, Ellipsis::right, true);
  if (hit.hovered)
    ui.tooltip(f.path + "\n" + line + "  " + f.function + (f.has_text ? "" : "\n" + tr(Text::stack_no_text, {})) +
               (sticky ? "\n" + tr(Text::stack_sticky, {}) : ""));
  if (hit.clicked) app.command("focus_frame", {{"index", index}});
}

void draw_stack_tools(App& app, Rect tools) {
  Ui& ui = app.ui;
  auto& pane = app.stack_pane;
  const char* const copy = tr(Text::stack_copy);
  if (ui.tool("stack:copy", tools.cut_right(ui.bar_width(ui.label_width(copy))).inset(0, ui.px(3)), copy,
              tr(Text::stack_copy_hint)))
    app.command("copy", {{"what", "stack"}});
  if (ui.tool("stack:order", tools.cut_right(ui.bar(24)).inset(0, ui.px(3)), pane.inner_first ? "↑" : "↓",
              tr(Text::stack_order_hint)))
    app.command("stack_order");
  const char* const fold = tr(pane.fold_library ? Text::stack_own : Text::stack_all);
  if (ui.tool("stack:fold", tools.cut_right(std::min(tools.w, ui.label_width(fold))).inset(0, ui.px(3)), fold,
              tr(Text::stack_fold_hint), pane.fold_library))
    app.command("fold_library", {{"on", !pane.fold_library}});
}

// What the stack is of, and how much of it is not on record.
void draw_stack_heading(App& app, Rect& area, const Stack& stack) {
  Ui& ui = app.ui;
  Rect title = area.cut_top(ui.px(22)).inset(ui.px(10), 0);
  ui.text_in(title, ui.sans, 12, ui.theme.dim,
             stack_title(stack) + (stack.host.empty() ? "" : "   " + tr(Text::host_named, {{"name", stack.host}})),
             Ellipsis::middle);
  if (stack.missing > 0) {
    Rect note = area.cut_top(ui.px(20));
    ui.fill(note, ui.theme.warnsoft);
    ui.text_in(note.inset(ui.px(10), 0), ui.sans, 12, ui.theme.warn,
               tr(Text::stack_missing, {{"n", stack.missing}, {"total", stack.missing + stack.frames.size()}}));
  }
}

void draw_frames(App& app, Rect area) {
  Ui& ui = app.ui;
  const auto items = items_of(app);
  const float h = ui.bar(20);
  const double total = static_cast<double>(items.size());
  const double visible = static_cast<double>(area.h / h);
  auto& pane = app.stack_pane;
  if (pane.reveal) {
    for (std::size_t i = 0; i < items.size(); ++i)
      if (static_cast<std::int64_t>(items[i].frame) == pane.frame && items[i].folded == 0) {
        const auto at = static_cast<double>(i);
        if (at < pane.first || at + 1 > pane.first + visible) pane.first = at - visible / 2;
      }
    pane.reveal = false;
  }
  pane.first = std::clamp(pane.first - static_cast<double>(ui.wheel(area).y) * 3, 0.0, std::max(0.0, total - visible));
  ui.scrollbar("stack:scroll", total > visible ? area.cut_right(ui.px(12)) : Rect{}, total, visible, pane.first);
  ImGui::PushClipRect(area.min(), area.max(), true);
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Rect row{area.x, area.y + static_cast<float>(static_cast<double>(i) - pane.first) * h, area.w, h};
    if (row.bottom() <= area.y || row.y >= area.bottom()) continue;
    items[i].folded > 0 ? draw_folded(app, row, items[i]) : draw_frame_row(app, row, items[i].frame);
  }
  ImGui::PopClipRect();
}

}  // namespace

void draw_stack_trace(App& app, Rect area) {
  const Rect tools = draw_pane_header(app, Pane::stack, area, tr(Text::pane_stack), "");
  if (app.overview.run < 0) return;
  draw_stack_tools(app, tools);
  const Stack& stack = app.selection.stack;
  if (!stack.exists) {
    draw_empty(app, area, tr(Text::stack_pick));
    return;
  }
  draw_stack_heading(app, area, stack);
  if (stack.frames.empty()) {
    draw_empty(app, area, tr(Text::stack_none));
    return;
  }
  draw_frames(app, area);
}

}  // namespace nanlens::viewer
