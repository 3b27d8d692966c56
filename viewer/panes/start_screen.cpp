#include <algorithm>

#include "panes/panes.hpp"
#include "widgets/format.hpp"

namespace nanlens::viewer {

namespace {

constexpr const char* cpp_example =
    "#include <nanlens/nanlens.hpp>\n\n"
    "nanlens::enable_dump_debug_info({.logdir = \"/tmp/run\",\n"
    "    .tensor_debug_mode = nanlens::TensorDebugMode::full_health,\n"
    "    .circular_buffer_size = -1});\n"
    "auto y = nanlens::op(\"MatMul\", x * w, x, w);";
constexpr const char* python_example =
    "import tensorflow as tf\n\n"
    "tf.debugging.experimental.enable_dump_debug_info(\n"
    "    \"/tmp/run\", tensor_debug_mode=\"FULL_HEALTH\",\n"
    "    circular_buffer_size=-1)";

void draw_example(App& app, Rect area, const char* id, const char* title, const char* code) {
  Ui& ui = app.ui;
  Rect head = area.cut_top(ui.px(24));
  ui.bold_in(head, 13, ui.theme.text, title);
  const char* const copy = tr(Text::start_copy);
  if (ui.tool(std::string("example:") + id, head.cut_right(ui.label_width(copy)).inset(0, ui.px(2)), copy,
              tr(Text::start_copy_hint)))
    app.command("copy", {{"what", "example"}, {"text", code}});
  ui.fill(area, ui.theme.panel, ui.px(4));
  ui.paragraph(area.inset(ui.px(10), ui.px(8)), ui.mono, 12, ui.theme.text, code);
}

void draw_recent(App& app, Rect area) {
  Ui& ui = app.ui;
  ui.bold_in(area.cut_top(ui.px(24)), 13, ui.theme.text, tr(Text::start_recent));
  for (std::size_t i = 0; i < app.platform.recent.size() && area.h > ui.px(20); ++i) {
    const std::string path = app.platform.recent[i];
    if (ui.link("recent:" + std::to_string(i), area.cut_top(ui.px(20)), ui.mono, 12, path, Ellipsis::left))
      app.command("open_logdir", {{"path", path}});
  }
}

}  // namespace

void draw_start_screen(App& app, Rect area) {
  Ui& ui = app.ui;
  ui.fill(area, ui.theme.bg);
  const float width = std::min(area.w - ui.px(40), ui.px(760));
  Rect column{area.x + (area.w - width) / 2, area.y + std::max(ui.px(16), area.h * 0.07f), width, area.h};
  const std::string title = tr(Text::start_title);
  Rect head = column.cut_top(ui.px(40));
  const float title_width = ui.text_width(ui.sans, 22, title);
  ui.bold_in({head.x + std::max(0.0f, (head.w - title_width) / 2), head.y, head.w, head.h}, 22, ui.theme.text, title);
  column.cut_top(ui.px(14));
  if (!app.overview.error.empty()) {
    Rect note = column.cut_top(ui.px(46));
    ui.mark("error", note);
    ui.fill(note, ui.theme.warnsoft, ui.px(4));
    ui.paragraph(note.inset(ui.px(12), ui.px(6)), ui.sans, 13, ui.theme.warn, app.overview.error);
    column.cut_top(ui.px(10));
  }
  const Rect zone = column.cut_top(ui.px(130));
  ui.mark("drop", zone);
  ui.fill(zone, ui.theme.panel, ui.px(8));
  ui.frame(zone, ui.theme.link, ui.px(8), 1.5f);
  const std::string drop = tr(Text::start_drop);
  const float drop_width = ui.text_width(ui.sans, 15, drop);
  Rect inner = zone.inset(ui.px(16), ui.px(18));
  const Rect line = inner.cut_top(ui.px(34));
  ui.text_in({line.x + std::max(0.0f, (line.w - drop_width) / 2), line.y, line.w, line.h}, ui.sans, 15, ui.theme.text,
             drop);
  inner.cut_top(ui.px(14));
  if (app.platform.pick) {
    const float words = std::max(ui.label_width(tr(Text::start_folder)), ui.label_width(tr(Text::start_files)));
    const float button = std::max(ui.px(150), words + ui.px(14));
    const float left = inner.x + (inner.w - 2 * button - ui.px(14)) / 2;
    if (ui.button("start:folder", {left, inner.y, button, ui.px(32)}, tr(Text::start_folder), true))
      app.command("open_logdir");
    if (ui.button("start:files", {left + button + ui.px(14), inner.y, button, ui.px(32)}, tr(Text::start_files)))
      app.command("open_logdir", {{"folder", false}});
  } else {
    const std::string hint = tr(Text::start_command);
    ui.text_in({inner.x + (inner.w - ui.text_width(ui.mono, 13, hint)) / 2, inner.y, inner.w, ui.px(30)}, ui.mono, 13,
               ui.theme.dim, hint);
  }
  column.cut_top(ui.px(22));
  if (!app.platform.recent.empty()) {
    draw_recent(app, column.cut_top(ui.px(28) + ui.px(20) * static_cast<float>(
                                                                std::min<std::size_t>(5, app.platform.recent.size()))));
    column.cut_top(ui.px(12));
  }
  ui.text_in(column.cut_top(ui.px(24)), ui.sans, 13, ui.theme.dim, tr(Text::start_no_logdir));
  Rect examples = column.cut_top(ui.px(140));
  const float half = (examples.w - ui.px(20)) / 2;
  draw_example(app, examples.cut_left(half), "cpp", "C++", cpp_example);
  examples.cut_left(ui.px(20));
  draw_example(app, examples, "python", "Python, TensorFlow", python_example);
  column.cut_top(ui.px(18));
  Rect foot = column.cut_top(ui.px(28));
  if (app.platform.open_sample) {
    if (ui.button("start:sample",
                  foot.cut_right(std::max(ui.px(130), ui.label_width(tr(Text::start_sample)) + ui.px(14))),
                  tr(Text::start_sample)))
      app.command("open_sample");
    foot.cut_right(ui.px(14));
  }
  if (ui.link("licences", foot.cut_right(ui.label_width(tr(Text::licences_title))), ui.sans, 12,
              tr(Text::licences_title), Ellipsis::right, true))
    app.command("show_licences");
  ui.text_in(foot, ui.sans, 12, ui.theme.dim,
             tr(app.platform.is_page ? Text::start_private_page : Text::start_private));
}

}  // namespace nanlens::viewer
