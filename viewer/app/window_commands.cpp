// Panes, theme and what lies above the panes.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "app/commands.hpp"
#include "app/json_text.hpp"
#include "widgets/format.hpp"

namespace nanlens::viewer {

/// A friend of App.
struct WindowCommands {
  static Result activate_pane(App& app, const Json& a) {
    const auto pane = pane_of(a);
    if (!pane) return fail("There is no such pane.");
    app.active = *pane;
    app.layout.raise(*pane);
    if (app.layout.maximized && !app.layout.detached(*pane)) app.layout.maximized = pane;
    return {};
  }
  static Result maximize_pane(App& app, const Json& a) {
    const auto pane = pane_of(a);
    if (!pane) return fail("There is no such pane.");
    app.active = *pane;
    app.layout.detach(*pane, false);
    app.layout.raise(*pane);
    app.layout.maximized = pane;
    return {};
  }
  static Result restore_panes(App& app, const Json&) {
    app.layout.maximized.reset();
    return {};
  }
  static Result reset_layout(App& app, const Json&) {
    app.layout.reset();
    return {};
  }
  // Beside another pane, as a tab of it, or without one at the window's edge.
  static Result move_pane(App& app, const Json& a) {
    const Pane pane = pane_of(a).value_or(app.active);
    const std::string side = choice(a, {"left", "right", "top", "bottom", "tab"});
    if (side.empty()) return fail("side must be left, right, top, bottom or tab.");
    const auto target = pane_of({{"pane", text(a, "to")}});
    if (a.contains("to") && !target) return fail("There is no such pane to go to.");
    const auto at = std::find(side_ids.begin(), side_ids.end(), side) - side_ids.begin();
    if (!app.layout.move(pane, target, static_cast<Side>(at))) return fail(tr(Text::pane_stays));
    app.active = pane;
    return {};
  }
  static Result detach_pane(App& app, const Json& a) {
    if (!app.platform.can_detach) return fail(tr(Text::no_detach));
    const Pane pane = pane_of(a).value_or(app.active);
    app.layout.detach(pane, true);
    app.layout.maximized.reset();
    return {};
  }
  static Result dock_pane(App& app, const Json& a) {
    const Pane pane = pane_of(a).value_or(app.active);
    if (!app.layout.detached(pane)) return fail(tr(Text::pane_stays));
    app.layout.detach(pane, false);
    app.layout.raise(pane);
    return {};
  }
  static Result set_splitter(App& app, const Json& a) {
    const auto at = number(a, "at");
    for (std::size_t i = 0; i < Layout::ids.size(); ++i)
      if (text(a, "id") == Layout::ids[i] && at && *at > 0 && *at < 1) {
        app.layout.at[i] = static_cast<float>(*at);
        return {};
      }
    return fail("id must be a splitter's and at between 0 and 1.");
  }
  static Result theme(App& app, const Json& a) {
    std::string name = choice(a, {"light", "dark", "contrast", "system"});
    if (name.empty() && !a.empty()) return fail("The themes are light, dark, contrast and system.");
    if (name.empty()) name = app.ui.theme.bg == theme_of(ThemeName::dark).bg ? "light" : "dark";
    app.theme_choice = name;
    return {};
  }
  static Result language(App& app, const Json& a) {
    const std::string tag = text(a, "tag");
    const auto* const found = std::find(tongue_tags.begin(), tongue_tags.end(), tag);
    if (tag != "system" && found == tongue_tags.end())
      return fail("tag must be en, de, ja, ko, zh-TW, pt-BR, xx or system.");
    app.language_choice = tag;
    set_tongue(tag == "system" ? app.system_tongue_ : static_cast<Tongue>(found - tongue_tags.begin()));
    app.wake();
    return {};
  }
  static Result scale(App& app, const Json& a) {
    const double percent =
        number(a, "percent").value_or(static_cast<double>(app.user_scale) * 100 + number(a, "by").value_or(0));
    if (!(percent >= 50 && percent <= 300)) return fail("percent must be 50 to 300.");
    app.user_scale = static_cast<float>(percent / 100);
    return {};
  }
  static Result full_screen(App& app, const Json&) {
    if (!app.platform.full_screen) return fail(tr(Text::no_full_screen));
    app.full_screen = app.platform.full_screen();
    return {};
  }
  template <Popup popup>
  static Result toggle(App& app, const Json&) {
    app.toggle_popup(popup);
    return {};
  }
  static Result palette(App& app, const Json& a) {
    const std::string start = text(a, "text");
    if (start.size() >= sizeof app.palette.text) return fail(tr(Text::text_too_long));
    std::memcpy(app.palette.text, start.c_str(), start.size() + 1);
    app.palette.cursor = 0;
    app.palette.take_keyboard = true;
    app.popup = Popup::none;
    app.toggle_popup(Popup::palette);
    return {};
  }
  static Result show_verdict(App& app, const Json& a) {
    const std::uint64_t key = app.run().key;
    if (app.overview.run < 0) return fail(tr(Text::no_run));
    app.verdict_closed = flag(a, "on", app.verdict_closed == key) ? 0 : key;
    return {};
  }
  static Result show_remedy(App& app, const Json&) {
    if (app.overview.verdict.cause.remedy.empty()) return fail(tr(Text::no_remedy));
    app.remedy_shown = !app.remedy_shown;
    return {};
  }
  static Result escape(App& app, const Json&) {
    if (app.layout.dragged)
      app.layout.dragged.reset();
    else if (app.menu_open)
      app.close_menu = true;
    else if (app.popup != Popup::none)
      app.close_popup();
    else if (app.overview.loading || !app.exporting.empty())
      return app.command("cancel");
    else if (app.rows_pane.range_begin >= 0)
      return app.command("select_range");
    else if (app.rows.sorting)
      return app.command("sort");
    else if (app.source_pane.finding)
      app.source_pane.finding = false;
    else if (app.rows_pane.filter[0] != '\0' || app.rows_pane.only_bad)
      return app.command("clear_filter");
    else if (app.layout.maximized)
      app.layout.maximized.reset();
    else if (app.has_focus())
      return app.command("clear_selection");
    return {};
  }
};

namespace {

// Its number is the pane's key.
std::vector<CommandEntry> of_each_pane(const std::string& modifier, Text PaneInfo::* title) {
  std::vector<CommandEntry> entries;
  for (std::size_t i = 0; i < num_panes; ++i) {
    const Json arguments = {{"pane", pane_ids[i]}};
    entries.push_back({pane_infos[i].*title, modifier + std::to_string(i + 1), json_text(arguments)});
  }
  return entries;
}

}  // namespace

const CommandTable& window_commands() {
  using C = WindowCommands;
  static const CommandTable all = {
      {"activate_pane", C::activate_pane, of_each_pane("", &PaneInfo::go)},
      {"maximize_pane", C::maximize_pane, of_each_pane("Shift+", &PaneInfo::maximize)},
      {"restore_panes", C::restore_panes, {{Text::cmd_restore_panes, "Esc"}}},
      {"reset_layout", C::reset_layout, {{Text::cmd_reset_layout}}},
      {"move_pane",
       C::move_pane,
       {{Text::cmd_pane_left, "", R"({"side":"left"})"},
        {Text::cmd_pane_right, "", R"({"side":"right"})"},
        {Text::cmd_pane_top, "", R"({"side":"top"})"},
        {Text::cmd_pane_bottom, "", R"({"side":"bottom"})"}}},
      {"detach_pane", C::detach_pane, {{Text::cmd_detach_pane}}},
      {"dock_pane", C::dock_pane, {{Text::cmd_dock_pane}}},
      {"set_splitter", C::set_splitter},
      {"theme",
       C::theme,
       {{Text::cmd_theme, "Shift+T"},
        {Text::cmd_theme_contrast, "", R"({"name":"contrast"})"},
        {Text::cmd_theme_system, "", R"({"name":"system"})"}}},
      {"language",
       C::language,
       {{Text::cmd_language_system, "", R"({"tag":"system"})"},
        {Text::cmd_language_en, "", R"({"tag":"en"})"},
        {Text::cmd_language_de, "", R"({"tag":"de"})"},
        {Text::cmd_language_ja, "", R"({"tag":"ja"})"},
        {Text::cmd_language_ko, "", R"({"tag":"ko"})"},
        {Text::cmd_language_zh_tw, "", R"({"tag":"zh-TW"})"},
        {Text::cmd_language_pt_br, "", R"({"tag":"pt-BR"})"}}},
      {"scale",
       C::scale,
       {{Text::cmd_larger, "Ctrl++", R"({"by":10})"},
        {Text::cmd_smaller, "Ctrl+−", R"({"by":-10})"},
        {Text::cmd_normal, "Ctrl+0", R"({"percent":100})"}}},
      {"full_screen", C::full_screen, {{Text::cmd_full_screen, "F11"}}},
      {"palette",
       C::palette,
       {{Text::cmd_palette, "Ctrl+P"},
        {Text::cmd_palette_commands, "Ctrl+Shift+P", R"({"text":">"})"},
        {Text::cmd_palette_row, ":", R"({"text":":"})"}}},
      {"help", C::toggle<Popup::help>, {{Text::cmd_help, "? F1"}}},
      {"show_causes", C::toggle<Popup::causes>, {{Text::cmd_show_causes, "C"}}},
      {"show_remedy", C::show_remedy, {{Text::cmd_show_remedy}}},
      {"show_verdict", C::show_verdict, {{Text::cmd_show_verdict}}},
      {"show_runs", C::toggle<Popup::runs>, {{Text::cmd_show_runs, "R"}}},
      {"show_diagnostics", C::toggle<Popup::diagnostics>, {{Text::cmd_show_diagnostics}}},
      {"show_licences", C::toggle<Popup::licences>, {{Text::cmd_show_licences}}},
      {"show_settings", C::toggle<Popup::settings>, {{Text::cmd_show_settings}}},
      {"escape", C::escape},
  };
  return all;
}

}  // namespace nanlens::viewer
