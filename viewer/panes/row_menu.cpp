// What a right click on a row, or a long press, offers.
#include "app/commands.hpp"
#include "engine/badges.hpp"
#include "panes/panes.hpp"

namespace nanlens::viewer {

namespace {

// An entry; true if it was chosen.
bool entry(App& app, const std::string& id, const std::string& label, const char* keys = nullptr) {
  const bool chosen = ImGui::MenuItem(label.c_str(), keys);
  const ImVec2 min = ImGui::GetItemRectMin();
  const ImVec2 max = ImGui::GetItemRectMax();
  app.ui.mark("menu:" + id, {min.x, min.y, max.x - min.x, max.y - min.y});
  return chosen;
}

// Filters that keep the rows that are like this one.
void filter_entries(App& app, const Row& row) {
  const auto filter = [&](const char* id, const std::string& label, const std::string& query) {
    if (entry(app, id, label)) app.command("filter", {{"query", query}});
  };
  filter("type", tr(Text::menu_only_type, {{"type", row.op_type}}), "type:" + row.op_type);
  filter("op", tr(Text::menu_only_op, {{"op", row.op_name}}), "op:\"" + row.op_name + "\"");
  if (!row.is_execution)
    filter("graph", tr(Text::menu_only_graph, {{"graph", row.graph_name}}), "graph:\"" + row.graph_name + "\"");
  if (const Badge* const dtype = find_badge(row.badges, BadgeKind::dtype))
    filter("dtype", tr(Text::menu_only_dtype, {{"dtype", dtype->text}}), "dtype:" + dtype->text);
  if (!row.is_execution && row.execution >= 0)
    filter("call", tr(Text::menu_only_call), "exec=" + std::to_string(row.execution));
}

// Its op's alerts are muted, or no more.
void expected_entry(App& app, const Row& row) {
  // As AlertList::site calls it.
  const std::string site = row.is_execution ? row.op_type : row.graph_name + "/" + row.op_name;
  const bool marked = app.alerts_pane.expected.contains(site);
  if (entry(app, "expected", tr(marked ? Text::menu_not_expected : Text::menu_expected), keys_of("mark_expected")))
    app.command("mark_expected", {{"scope", site}, {"on", !marked}});
}

// The line of nanlens.mutes for its cause: of the selected row, whose cause is known.
void mute_entry(App& app, const Row& row) {
  if (!app.is_focused(row) || app.selection.conditions.empty() || !app.selection.muted_by.empty()) return;
  if (entry(app, "mute", tr(Text::menu_mute))) app.command("mute");
}

// Of the selected row, of which it is known what was in memory when it was made.
void values_entries(App& app, const Row& row) {
  const auto& seen = app.selection.seen;
  if (!app.is_focused(row)) return;
  for (std::size_t k = 0; k < seen.size(); ++k) {
    if (!seen[k].stored) continue;
    const std::string name = seen_name(seen[k]);
    if (entry(app, "values:" + std::to_string(k), tr(Text::menu_values, {{"tensor", name}})))
      app.command("show_values", {{"index", k}});
  }
}

void draw_entries(App& app, const Row& row) {
  if (entry(app, "name", tr(Text::menu_copy_name))) app.command("copy", {{"what", "name"}, {"index", row.index}});
  if (entry(app, "row", tr(Text::menu_copy_row))) app.command("copy", {{"what", "row"}, {"index", row.index}});
  ImGui::Separator();
  filter_entries(app, row);
  ImGui::Separator();
  if (!row.is_execution && entry(app, "pin", tr(Text::menu_pin), keys_of("pin")))
    app.command("pin", {{"trace", row.index}});
  if (row.bad) expected_entry(app, row);
  if (row.bad) mute_entry(app, row);
  values_entries(app, row);
  ImGui::Separator();
  if (entry(app, "source", tr(Text::menu_source))) {
    app.command(row.is_execution ? "focus_execution" : "focus_trace", {{"index", row.index}});
    app.command("activate_pane", {{"pane", "source_code"}});
  }
  if (entry(app, "link", tr(Text::menu_copy_link))) app.command("copy_link");
}

}  // namespace

void context_menu(App& app, const std::string& id, const std::function<void()>& entries) {
  const Ui& ui = app.ui;
  constexpr float text = 13;
  const float between = ui.finger ? ui.px(Ui::finger_size - text) : ui.px(4);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui.px(8), ui.px(6)});
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {ui.px(8), between});
  if (ImGui::BeginPopup(id.c_str())) {
    app.menu_open = true;
    if (app.close_menu) ImGui::CloseCurrentPopup();
    ImGui::PushFont(ui.sans, ui.px(text));
    entries();
    ImGui::PopFont();
    ImGui::EndPopup();
  }
  ImGui::PopStyleVar(2);
}

void row_menu(App& app, const std::string& id, const Row& row, bool open) {
  if (open) ImGui::OpenPopup(id.c_str());
  context_menu(app, id, [&] { draw_entries(app, row); });
}

}  // namespace nanlens::viewer
