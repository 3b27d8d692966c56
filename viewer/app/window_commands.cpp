// Panes, theme and what lies above the panes.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "app/commands.hpp"
#include "widgets/format.hpp"

namespace nanlens::viewer {

/// A friend of App.
struct WindowCommands {
  static Result activate_pane(App& app, const Json& a) {
    const auto pane = pane_of(a);
    if (!pane) return fail("There is no such pane.");
    app.active = *pane;
    if (*pane == Pane::graph) app.layout.show_graph_tab = true;
    if (*pane == Pane::rows) app.layout.show_graph_tab = false;
    if (app.layout.maximized) app.layout.maximized = *pane;
    return {};
  }
  static Result maximize_pane(App& app, const Json& a) {
    const auto pane = pane_of(a);
    if (!pane) return fail("There is no such pane.");
    app.active = *pane;
    app.layout.maximized = *pane;
    return {};
  }
  static Result restore_panes(App& app, const Json&) {
    app.layout.maximized.reset();
    return {};
  }
  static Result reset_layout(App& app, const Json&) {
    app.layout = Layout{};
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
    if (found == tongue_tags.end()) return fail("tag must be en, de or xx.");
    set_tongue(static_cast<Tongue>(found - tongue_tags.begin()));
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
  static Result open_popup(App& app, Popup popup) {
    app.popup = app.popup == popup ? Popup::none : popup;
    app.popup_first = 0;
    return {};
  }
  static Result palette(App& app, const Json& a) {
    const std::string start = text(a, "text");
    if (start.size() >= sizeof app.palette.text) return fail(tr(Text::text_too_long));
    std::memcpy(app.palette.text, start.c_str(), start.size() + 1);
    app.palette.cursor = 0;
    app.palette.take_keyboard = true;
    app.popup = Popup::palette;
    return {};
  }
  static Result help(App& app, const Json&) { return open_popup(app, Popup::help); }
  static Result show_causes(App& app, const Json&) { return open_popup(app, Popup::causes); }
  static Result show_remedy(App& app, const Json&) {
    if (app.overview.verdict.cause.remedy.empty()) return fail(tr(Text::no_remedy));
    app.remedy_shown = !app.remedy_shown;
    return {};
  }
  static Result show_runs(App& app, const Json&) { return open_popup(app, Popup::runs); }
  static Result show_diagnostics(App& app, const Json&) { return open_popup(app, Popup::diagnostics); }
  static Result show_licences(App& app, const Json&) { return open_popup(app, Popup::licences); }
  static Result show_settings(App& app, const Json&) { return open_popup(app, Popup::settings); }
  static Result escape(App& app, const Json&) {
    if (app.menu_open)
      app.close_menu = true;
    else if (app.popup != Popup::none)
      app.popup = Popup::none;
    else if (app.overview.loading || !app.exporting.empty())
      return app.command("cancel");
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

const CommandTable& window_commands() {
  using C = WindowCommands;
  static const CommandTable all = {
      {"activate_pane", C::activate_pane},
      {"maximize_pane", C::maximize_pane},
      {"restore_panes", C::restore_panes},
      {"reset_layout", C::reset_layout},
      {"set_splitter", C::set_splitter},
      {"theme", C::theme},
      {"language", C::language},
      {"scale", C::scale},
      {"palette", C::palette},
      {"help", C::help},
      {"show_causes", C::show_causes},
      {"show_remedy", C::show_remedy},
      {"show_runs", C::show_runs},
      {"show_diagnostics", C::show_diagnostics},
      {"show_licences", C::show_licences},
      {"show_settings", C::show_settings},
      {"escape", C::escape},
  };
  return all;
}

}  // namespace nanlens::viewer
