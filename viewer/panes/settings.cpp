// What stays from one session to the next, in one place.
#include <cmath>
#include <string>

#include "panes/overlay.hpp"
#include "panes/panes.hpp"

namespace nanlens::viewer {

namespace {

struct Setting {
  const char* label;
  const char* value;
  bool chosen;
};

// A line with its name on the left and its choices on the right.
template <class Chosen>
void draw_choices(App& app, Rect& area, const char* name, std::initializer_list<Setting> choices, Chosen&& chosen) {
  Ui& ui = app.ui;
  // On a phone the name has a line of its own.
  if (ui.finger) ui.text_in(area.cut_top(ui.px(22)).inset(ui.px(16), 0), ui.sans, 13, ui.theme.text, name);
  Rect row = ui.finger ? area.cut_top(ui.bar(40) + ui.px(4)).inset(ui.px(16), ui.px(2))
                       : area.cut_top(ui.px(40)).inset(ui.px(16), ui.px(6));
  if (!ui.finger) ui.text_in(row.cut_left(ui.px(250)), ui.sans, 13, ui.theme.text, name);
  for (const Setting& choice : choices) {
    const float w = ui.bar_width(ui.text_width(ui.sans, 13, choice.label) + ui.px(ui.finger ? 14.0f : 22.0f));
    if (ui.button(std::string("settings:") + choice.value, row.cut_left(w), choice.label, choice.chosen))
      chosen(choice.value);
    row.cut_left(ui.px(6));
  }
}

void draw_looks(App& app, Rect& inside) {
  draw_choices(app, inside, tr(Text::settings_colours),
               {{tr(Text::settings_system), "system", app.theme_choice == "system"},
                {tr(Text::settings_light), "light", app.theme_choice == "light"},
                {tr(Text::settings_dark), "dark", app.theme_choice == "dark"},
                {tr(Text::settings_contrast), "contrast", app.theme_choice == "contrast"}},
               [&](const char* value) { app.command("theme", {{"name", value}}); });
  const std::string percent = std::to_string(std::lround(app.user_scale * 100)) + " %";
  draw_choices(app, inside, tr(Text::settings_text),
               {{"−", "smaller", false}, {percent.c_str(), "normal", false}, {"+", "larger", false}},
               [&](std::string_view value) {
                 if (value == "normal")
                   app.command("scale", {{"percent", 100}});
                 else
                   app.command("scale", {{"by", value == "larger" ? 10 : -10}});
               });
  const float h = app.rows_pane.row_height;
  draw_choices(app, inside, tr(Text::settings_rows),
               {{tr(Text::settings_compact), "compact", h < 20},
                {tr(Text::settings_comfortable), "comfortable", h >= 20 && h < 26},
                {tr(Text::settings_touch), "touch", h >= 26}},
               [&](const char* value) { app.command("density", {{"name", value}}); });
}

void draw_habits(App& app, Rect& inside) {
  draw_choices(app, inside, tr(Text::settings_frames),
               {{tr(Text::settings_folded), "folded", app.stack_pane.fold_library},
                {tr(Text::settings_shown), "shown", !app.stack_pane.fold_library}},
               [&](std::string_view value) { app.command("fold_library", {{"on", value == "folded"}}); });
  draw_choices(
      app, inside, tr(Text::settings_growing),
      {{tr(Text::settings_followed), "follow", app.follow}, {tr(Text::settings_not_followed), "still", !app.follow}},
      [&](std::string_view value) {
        const Result result = app.command("follow", {{"on", value == "follow"}});
        if (!result.ok) app.toast(result.message);
      });
}

// In two lines, as there are many; each by its own name, so that those who can't read the rest find theirs.
void draw_languages(App& app, Rect& inside) {
  const auto named = [&](Tongue which) -> Setting {
    const auto at = static_cast<std::size_t>(which);
    return {tongue_names[at], tongue_tags[at], app.language_choice == tongue_tags[at]};
  };
  const auto choose = [&](const char* value) { app.command("language", {{"tag", value}}); };
  draw_choices(app, inside, tr(Text::settings_language),
               {{tr(Text::settings_system), "language", app.language_choice == "system"},
                named(Tongue::english),
                named(Tongue::german),
                named(Tongue::portuguese)},
               [&](const char* value) { choose(std::string_view(value) == "language" ? "system" : value); });
  draw_choices(app, inside, "", {named(Tongue::japanese), named(Tongue::korean), named(Tongue::chinese)}, choose);
}

}  // namespace

void draw_settings(App& app, const Rect& window) {
  overlay(app, tr(Text::settings_title), centered(window, app.ui.px(740), app.ui.px(app.ui.finger ? 540.0f : 330.0f)),
          [&](Rect inside) {
            inside.cut_top(app.ui.px(6));
            draw_looks(app, inside);
            draw_habits(app, inside);
            draw_languages(app, inside);
          });
}

}  // namespace nanlens::viewer
