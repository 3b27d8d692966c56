// What a right click on a row, or a long press, offers.
#include "engine/badges.hpp"
#include "panes/panes.hpp"

namespace nanlens::viewer {

namespace {

// Filters that keep the rows that are like this one.
void filter_entries(App& app, const Row& row) {
  const auto entry = [&](const std::string& label, const std::string& query) {
    if (ImGui::MenuItem(label.c_str())) app.command("filter", {{"query", query}});
  };
  entry(tr(Text::menu_only_type, {{"type", row.op_type}}), "type:" + row.op_type);
  entry(tr(Text::menu_only_graph, {{"graph", row.graph_name}}), "graph:\"" + row.graph_name + "\"");
  if (const Badge* const dtype = find_badge(row.badges, BadgeKind::dtype))
    entry(tr(Text::menu_only_dtype, {{"dtype", dtype->text}}), "dtype:" + dtype->text);
  if (row.execution >= 0) entry(tr(Text::menu_only_call), "exec=" + std::to_string(row.execution));
}

}  // namespace

void row_menu(App& app, const std::string& id, const Row& row, bool open) {
  Ui& ui = app.ui;
  if (open) ImGui::OpenPopup(id.c_str());
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui.px(8), ui.px(6)});
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, menu_spacing(ui));
  if (ImGui::BeginPopup(id.c_str())) {
    app.menu_open = true;
    if (app.close_menu) ImGui::CloseCurrentPopup();
    ImGui::PushFont(ui.sans, ui.px(13));
    if (ImGui::MenuItem(tr(Text::menu_copy_name))) app.command("copy", {{"what", "name"}, {"index", row.index}});
    if (ImGui::MenuItem(tr(Text::menu_copy_row))) app.command("copy", {{"what", "row"}, {"index", row.index}});
    filter_entries(app, row);
    if (ImGui::MenuItem(tr(Text::menu_pin), "P")) app.command("pin", {{"trace", row.index}});
    if (ImGui::MenuItem(tr(Text::menu_source))) {
      app.command("focus_trace", {{"index", row.index}});
      app.command("activate_pane", {{"pane", "source_code"}});
    }
    if (ImGui::MenuItem(tr(Text::menu_copy_link))) app.command("copy_link");
    ImGui::PopFont();
    ImGui::EndPopup();
  }
  ImGui::PopStyleVar(2);
}

}  // namespace nanlens::viewer
