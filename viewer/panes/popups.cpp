// What lies above the panes: palette, keys, diagnostics, licences, and small choosers.
#include <algorithm>
#include <cctype>
#include <iterator>
#include <utility>

#include "app/commands.hpp"
#include "panes/overlay.hpp"
#include "panes/panes.hpp"
#include "widgets/format.hpp"
#include "widgets/licences.hpp"

namespace nanlens::viewer {

namespace {

void draw_help(App& app, const Rect& window) {
  overlay(app, tr(Text::help_title), centered(window, app.ui.px(720), app.ui.px(640)), [&](Rect inside) {
    Ui& ui = app.ui;
    std::vector<const CommandEntry*> keyed;
    for (const CommandInfo& c : command_list())
      if (!c.entry->keys.empty()) keyed.push_back(c.entry);
    const std::string notes = tr(Text::help_mouse) + std::string("\n") + tr(Text::help_filter);
    const float height = ui.paragraph_height(ui.sans, 12, notes, inside.w - ui.px(28)) + ui.px(16);
    const Rect foot = inside.cut_bottom(std::min(height, inside.h / 2)).inset(ui.px(14), ui.px(6));
    ui.paragraph(foot, ui.sans, 12, ui.theme.dim, notes);
    list(
        app, inside.inset(ui.px(14), ui.px(6)), keyed.size(), ui.px(22),
        [&](std::size_t i, Rect row) {
          const Rect key = row.cut_left(ui.px(110));
          ui.text_in(key, ui.mono, 12, ui.theme.link, keyed[i]->keys);
          ui.text_in(row, ui.sans, 13, ui.theme.text, tr(keyed[i]->title));
        },
        no_line);
  });
}

void draw_diagnostics(App& app, const Rect& window) {
  const auto& faults = app.diagnostics.list;
  overlay(app, tr(Text::diagnostics_title), centered(window, app.ui.px(860), app.ui.px(460)), [&](Rect inside) {
    Ui& ui = app.ui;
    if (faults.empty()) {
      draw_empty(app, inside, tr(Text::diagnostics_none));
      return;
    }
    Rect foot = inside.cut_bottom(ui.px(40)).inset(ui.px(14), ui.px(6));
    if (ui.button("diagnostics:copy", foot.cut_right(ui.label_width(tr(Text::diagnostics_copy)) + ui.px(14)),
                  tr(Text::diagnostics_copy)))
      app.command("copy", {{"what", "diagnostics"}});
    ui.text_in(foot, ui.sans, 12, ui.theme.dim, tr(Text::diagnostics_note));
    list(
        app, inside.inset(ui.px(14), ui.px(6)), faults.size(), ui.px(40),
        [&](std::size_t i, Rect row) {
          const Fault& f = faults[i];
          Rect top = row.cut_top(ui.px(18));
          const std::string place = f.file.empty() ? "" : tr(Text::diagnostics_at, {{"offset", f.offset}});
          ui.text_in(top.cut_right(ui.text_width(ui.mono, 12, place) + ui.px(4)), ui.mono, 12, ui.theme.dim, place,
                     Ellipsis::right, true);
          ui.text_in(top, ui.mono, 12, ui.theme.warn, f.file.empty() ? tr(Text::diagnostics_run) : f.file,
                     Ellipsis::left);
          ui.text_in(row.cut_top(ui.px(18)), ui.sans, 12, ui.theme.text, f.message);
        },
        no_line);
  });
}

void draw_licences(App& app, const Rect& window) {
  overlay(app, tr(Text::licences_title), centered(window, app.ui.px(720), app.ui.px(560)), [&](Rect inside) {
    Ui& ui = app.ui;
    Rect area = inside.inset(ui.px(14), ui.px(8));
    const std::string_view text = licences_text();
    std::vector<std::string_view> lines;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      lines.push_back(text.substr(at, end - at));
      at = end + 1;
    }
    list(
        app, area, lines.size(), ui.px(16),
        [&](std::size_t i, const Rect& row) { ui.text_in(row, ui.mono, 11, ui.theme.text, lines[i]); }, no_line);
  });
}

void draw_runs(App& app, const Rect& window) {
  const auto& runs = app.overview.runs;
  const float h = app.ui.px(44);
  overlay(
      app, tr(Text::runs_title), centered(window, app.ui.px(640), app.ui.px(44) + h * static_cast<float>(runs.size())),
      [&](const Rect& inside) {
        Ui& ui = app.ui;
        list(
            app, inside, runs.size(), h,
            [&](std::size_t i, const Rect& row) {
              const RunInfo& r = runs[i];
              const Hit hit = ui.item("run:" + std::to_string(i), row);
              if (static_cast<std::int32_t>(i) == app.overview.run)
                ui.fill(row, ui.theme.focus);
              else if (hit.hovered)
                ui.fill(row, ui.theme.badge);
              Rect inner = row.inset(ui.px(14), ui.px(3));
              ui.bold_in(inner.cut_top(ui.px(19)), 13, ui.theme.text,
                         r.run_id.empty() ? tr(Text::run_without_id) : r.run_id);
              ui.text_in(
                  inner, ui.sans, 12, r.num_alerts > 0 ? ui.theme.bad : ui.theme.dim,
                  tr(Text::runs_facts, {{"alerts", r.num_alerts},
                                        {"rows", r.num_traces},
                                        {"executions", r.num_executions},
                                        {"start", r.start > 0 ? format_wall_time(r.start) : tr(Text::runs_no_start)}}));
              if (hit.clicked) app.command("select_run", {{"run", i}});
            },
            every_line);
      });
}

void draw_columns(App& app, const Rect& window) {
  const std::size_t columns = std::size(row_columns) - (app.several_ranks() ? 0 : 1);  // that of ranks is the last
  overlay(app, tr(Text::columns_title),
          centered(window, app.ui.px(340), app.ui.px(34) + app.ui.px(28) * static_cast<float>(columns)),
          [&](const Rect& inside) {
            Ui& ui = app.ui;
            list(
                app, inside, columns, ui.px(28),
                [&](std::size_t i, const Rect& row) {
                  const std::string id = row_columns[i];
                  const bool hidden = app.rows_pane.hidden.contains(id);
                  const bool forced = app.rows_pane.forced.contains(id);
                  const Hit hit = ui.item("column:" + id, row);
                  if (hit.hovered) ui.fill(row, ui.theme.badge);
                  Rect inner = row.inset(ui.px(14), 0);
                  ui.text_in(inner.cut_right(ui.px(120)), ui.sans, 12, ui.theme.dim,
                             tr(hidden   ? Text::columns_hidden
                                : forced ? Text::columns_always
                                         : Text::columns_room),
                             Ellipsis::right, true);
                  ui.text_in(inner, ui.sans, 13, ui.theme.text, (hidden ? "☐  " : "☑  ") + id);
                  if (hit.clicked)
                    app.command("columns", hidden   ? Json{{"show", {id}}}
                                           : forced ? Json{{"hide", {id}}}
                                                    : Json{{"show", {id}}});
                },
                every_line);
          });
}

void draw_ops_of_line(App& app, const Rect& window) {
  const LineMark* mark = nullptr;
  for (const LineMark& m : app.source.marks)
    if (m.line == app.popup_line) mark = &m;
  if (mark == nullptr) {
    app.close_popup();
    return;
  }
  const float h = app.ui.px(24);
  const std::string title =
      tr(Text::ops_of_line, {{"n", mark->ops}, {"place", place_text(app.source.path, mark->line)}});
  overlay(app, title.c_str(),
          centered(window, app.ui.px(520),
                   app.ui.px(40) + h * static_cast<float>(std::min<std::size_t>(16, mark->list.size()))),
          [&](const Rect& inside) {
            Ui& ui = app.ui;
            list(
                app, inside, mark->list.size(), h,
                [&](std::size_t i, const Rect& row) {
                  const OpCard& card = mark->list[i];
                  const Hit hit = ui.item("op:line:" + std::to_string(i), row);
                  if (hit.hovered) ui.fill(row, ui.theme.badge);
                  Rect inner = row.inset(ui.px(14), 0);
                  ui.text_in(inner.cut_left(ui.px(16)), ui.sans, 11, ui.theme.bad, card.bad ? "▲" : "");
                  ui.text_in(inner.cut_right(ui.px(150)), ui.mono, 12, ui.theme.dim, card.op_type, Ellipsis::right,
                             true);
                  ui.text_in(inner, ui.mono, 12, ui.theme.link, card.op_name, Ellipsis::left);
                  if (!hit.clicked) return;
                  app.close_popup();
                  app.command("focus_op", {{"graph_id", mark->graph_ids[i]}, {"op_name", card.op_name}});
                },
                every_line);
          });
}

}  // namespace

void begin_popup(App& app, const Rect& rect) {
  ImGuiWindowClass bare;
  bare.ViewportFlagsOverrideSet = ImGuiViewportFlags_NoDecoration | ImGuiViewportFlags_NoTaskBarIcon;
  ImGui::SetNextWindowClass(&bare);
  if (!app.popup_of) ImGui::SetNextWindowViewport(ImGui::GetMainViewport()->ID);
  ImGui::SetNextWindowPos(rect.min());
  ImGui::SetNextWindowSize({rect.w, rect.h});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 1);
  ImGui::PushStyleColor(ImGuiCol_WindowBg, app.ui.theme.raised);
  ImGui::PushStyleColor(ImGuiCol_Border, app.ui.theme.dim);
}

void draw_palette(App& app, const Rect& window);

void draw_popups(App& app, const Rect& window) {
  // One row for each popup.
  constexpr std::pair<Popup, void (*)(App&, const Rect&)> popups[] = {
      {Popup::help, draw_help},         {Popup::diagnostics, draw_diagnostics},
      {Popup::licences, draw_licences}, {Popup::runs, draw_runs},
      {Popup::columns, draw_columns},   {Popup::causes, draw_causes},
      {Popup::settings, draw_settings}, {Popup::ops_of_line, draw_ops_of_line},
      {Popup::palette, draw_palette},   {Popup::mute, draw_mute},
      {Popup::share, draw_share},       {Popup::values, draw_values},
      {Popup::rule, draw_rule_editor}};
  static_assert(std::size(popups) + 1 == popup_ids.size());
  const Popup shown = app.popup;
  for (const auto& [popup, draw] : popups)
    if (popup == shown) draw(app, window);
}

namespace {

// A button in a window of its own, so that what lies below does not get its clicks. True: it was clicked.
bool draw_undo(App& app, std::size_t number, const Rect& rect) {
  begin_popup(app, rect);
  ImGui::Begin(("##notice" + std::to_string(number)).c_str(), nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                   ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoFocusOnAppearing);
  const bool clicked = app.ui.button("notice:undo:" + std::to_string(number), rect, tr(Text::notice_undo));
  ImGui::End();
  ImGui::PopStyleColor(2);
  ImGui::PopStyleVar();
  return clicked;
}

void draw_notice(const Ui& ui, const Rect& box, const std::string& text) {
  ImDrawList* const draw = ImGui::GetForegroundDrawList();
  draw->AddRectFilled(box.min(), box.max(), ui.theme.text, ui.px(5));
  const std::string shown = ui.fit(ui.sans, 13, text, box.w - ui.px(24), Ellipsis::right);
  draw->AddText(ui.sans, ui.px(13), {box.x + ui.px(14), box.y + ui.px(8)}, ui.theme.bg, shown.c_str());
}

}  // namespace

void draw_toasts(App& app, const Rect& window) {
  Ui& ui = app.ui;
  float y = window.bottom() - ui.px(34);
  std::size_t undone = app.toasts.size();
  for (std::size_t i = app.toasts.size(); i-- > 0; y -= ui.px(38)) {
    Toast& toast = app.toasts[i];
    const float room = toast.undo.empty() ? 0 : ui.label_width(tr(Text::notice_undo)) + ui.px(20);
    const float width = std::min(window.w * 0.8f, ui.text_width(ui.sans, 13, toast.text) + ui.px(28) + room);
    const Rect box{window.right() - width - ui.px(12), y - ui.px(34), width, ui.px(32)};
    draw_notice(ui, {box.x, box.y, box.w - room, box.h}, toast.text);
    if (room > 0 && draw_undo(app, i, {box.right() - room, box.y, room, box.h})) undone = i;
    toast.held = box.contains(ImGui::GetIO().MousePos);
    if (toast.held) toast.until = app.now + toast_seconds;
  }
  if (undone == app.toasts.size()) return;
  const Toast toast = app.toasts[undone];
  app.toasts.erase(app.toasts.begin() + static_cast<std::ptrdiff_t>(undone));
  run_or_tell(app, toast.undo.c_str(), toast.undo_arguments);
}

}  // namespace nanlens::viewer
