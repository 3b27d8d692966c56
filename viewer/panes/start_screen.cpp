#include <algorithm>

#include "panes/panes.hpp"
#include "widgets/format.hpp"

namespace nanlens::viewer {

namespace {

constexpr const char* cpp_example =
    "#include <nanlens/nanlens.hpp>\n\n"
    "using enum nanlens::TensorDebugMode;\n"
    "nanlens::enable_dump_debug_info({.logdir = \"/tmp/run\",\n"
    "    .tensor_debug_mode = full_health,\n"
    "    .circular_buffer_size = -1});\n"
    "auto y = nanlens::op(\"MatMul\", x * w, x, w);";
constexpr const char* python_example =
    "import tensorflow as tf\n\n"
    "tf.debugging.experimental.enable_dump_debug_info(\n"
    "    \"/tmp/run\", tensor_debug_mode=\"FULL_HEALTH\",\n"
    "    circular_buffer_size=-1)";
constexpr const char* run_example = "nanlens run --logdir /tmp/run -- python3 train.py";
constexpr const char* run_title = "PyTorch, ONNX Runtime, ggml";
constexpr float run_height = 58;  // a title and one line

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

// How many alerts and rows it had, and when that was; as far as it is known.
std::string facts_of(const Recent& recent) {
  std::string facts;
  if (recent.alerts >= 0 && recent.rows >= 0)
    facts = tr(recent.alerts == 0 ? Text::start_recent_clean : Text::start_recent_facts,
               {{"alerts", recent.alerts}, {"rows", recent.rows}});
  if (recent.when > 0) facts += (facts.empty() ? "" : " · ") + format_wall_time(recent.when);
  return facts;
}

void draw_recent(App& app, Rect area) {
  Ui& ui = app.ui;
  ui.bold_in(area.cut_top(ui.px(24)), 13, ui.theme.text, tr(Text::start_recent));
  for (std::size_t i = 0; i < app.platform.recent.size() && area.h > ui.px(20); ++i) {
    const Recent& recent = app.platform.recent[i];
    Rect line = area.cut_top(ui.bar(20));
    if (const std::string facts = facts_of(recent); !facts.empty() && !ui.finger) {
      const Rect place = line.cut_right(std::min(line.w * 0.6F, ui.text_width(ui.sans, 12, facts) + ui.px(10)));
      ui.mark("recent:facts:" + std::to_string(i), place);
      ui.text_in(place, ui.sans, 12, recent.alerts > 0 ? ui.theme.bad : ui.theme.dim, facts, Ellipsis::right, true);
    }
    if (ui.link("recent:" + std::to_string(i), line, ui.mono, 12, recent.path, Ellipsis::left))
      app.command("open_logdir", {{"path", recent.path}});
  }
}

void draw_title(App& app, Rect& column) {
  Ui& ui = app.ui;
  const std::string title = tr(Text::start_title);
  const float size = ui.finger ? 16.0f : 22.0f;
  const Rect head = column.cut_top(ui.px(40));
  const float width = ui.text_width(ui.sans, size, title);
  ui.bold_in({head.x + std::max(0.0f, (head.w - width) / 2), head.y, head.w, head.h}, size, ui.theme.text, title);
  column.cut_top(ui.px(8));
}

// A link was followed, and waits for its logdir.
void draw_linked(App& app, Rect& column) {
  const std::string run = app.linked_run();
  if (run.empty()) return;
  Ui& ui = app.ui;
  const std::string text = tr(run == "?" ? Text::start_link : Text::start_link_run, {{"run", run}});
  const float height = ui.paragraph_height(ui.sans, 13, text, column.w - ui.px(24)) + ui.px(14);
  const Rect note = column.cut_top(std::min(height, column.h * 0.3f));
  ui.mark("linked", note);
  ui.fill(note, ui.theme.func, ui.px(4));
  ui.paragraph(note.inset(ui.px(12), ui.px(6)), ui.sans, 13, ui.theme.onfunc, text);
  column.cut_top(ui.px(10));
}

void draw_error(App& app, Rect& column) {
  Ui& ui = app.ui;
  const std::string& error = app.overview.error;
  if (error.empty()) return;
  const float height = ui.paragraph_height(ui.sans, 13, error, column.w - ui.px(24)) + ui.px(14);
  const Rect note = column.cut_top(std::min(height, column.h * 0.3f));
  ui.mark("error", note);
  ui.fill(note, ui.theme.warnsoft, ui.px(4));
  ui.paragraph(note.inset(ui.px(12), ui.px(6)), ui.sans, 13, ui.theme.warn, error);
  column.cut_top(ui.px(10));
}

// "Open a folder" and "Open files": side by side, on a phone one above the other.
void draw_pick_buttons(App& app, Rect area) {
  Ui& ui = app.ui;
  const float words = std::max(ui.label_width(tr(Text::start_folder)), ui.label_width(tr(Text::start_files)));
  const float gap = ui.px(14);
  const float width = ui.finger ? area.w : std::max(ui.px(150), words + ui.px(14));
  const float height = ui.bar(32);
  const float left = ui.finger ? area.x : area.x + (area.w - 2 * width - gap) / 2;
  const Rect folder{left, area.y, width, height};
  const Rect files = ui.finger ? Rect{left, area.y + height + ui.px(8), width, height}
                               : Rect{left + width + gap, area.y, width, height};
  if (ui.button("start:folder", folder, tr(Text::start_folder), true)) app.command("open_logdir");
  if (ui.button("start:files", files, tr(Text::start_files))) app.command("open_logdir", {{"folder", false}});
}

void draw_drop_zone(App& app, Rect& column) {
  Ui& ui = app.ui;
  const Rect zone = column.cut_top(ui.px(ui.finger && app.platform.pick ? 176.0f : 130.0f));
  ui.mark("drop", zone);
  ui.fill(zone, ui.theme.panel, ui.px(8));
  ui.frame(zone, ui.theme.link, ui.px(8), 1.5f);
  const std::string drop = tr(Text::start_drop);
  Rect inner = zone.inset(ui.px(16), ui.px(18));
  const Rect line = inner.cut_top(ui.px(34));
  const float width = ui.text_width(ui.sans, 15, drop);
  if (ui.finger)
    ui.paragraph(line, ui.sans, 13, ui.theme.text, drop);
  else
    ui.text_in({line.x + std::max(0.0f, (line.w - width) / 2), line.y, line.w, line.h}, ui.sans, 15, ui.theme.text,
               drop);
  inner.cut_top(ui.px(ui.finger ? 8.0f : 14.0f));
  if (app.platform.pick) {
    draw_pick_buttons(app, inner);
  } else {
    const std::string hint = tr(Text::start_command);
    ui.text_in(
        {inner.x + std::max(0.0f, (inner.w - ui.text_width(ui.mono, 13, hint)) / 2), inner.y, inner.w, ui.px(30)},
        ui.mono, 13, ui.theme.dim, hint);
  }
  column.cut_top(ui.px(ui.finger ? 12.0f : 16.0f));
}

void draw_examples(App& app, Rect& column) {
  Ui& ui = app.ui;
  const std::string how = tr(Text::start_no_logdir);
  const float height = ui.paragraph_height(ui.sans, 13, how, column.w);
  ui.paragraph(column.cut_top(height + ui.px(8)), ui.sans, 13, ui.theme.dim, how);
  if (ui.finger) {  // one above the other, as far as there is room
    constexpr float example = 150;
    if (column.h < ui.px(example)) return;
    draw_example(app, column.cut_top(ui.px(example)), "cpp", "C++", cpp_example);
    column.cut_top(ui.px(8));
    if (column.h < ui.px(example)) return;
    draw_example(app, column.cut_top(ui.px(example)), "python", "Python, TensorFlow", python_example);
    column.cut_top(ui.px(8));
    if (column.h >= ui.px(run_height))
      draw_example(app, column.cut_top(ui.px(run_height)), "run", run_title, run_example);
    return;
  }
  Rect examples = column.cut_top(ui.px(130));
  draw_example(app, examples.cut_left((examples.w - ui.px(20)) / 2), "cpp", "C++", cpp_example);
  examples.cut_left(ui.px(20));
  draw_example(app, examples, "python", "Python, TensorFlow", python_example);
  column.cut_top(ui.px(12));
  if (column.h >= ui.px(run_height + 12) + ui.bar(28)) {  // the foot goes first
    draw_example(app, column.cut_top(ui.px(run_height)), "run", run_title, run_example);
    column.cut_top(ui.px(12));
  }
}

void draw_foot(App& app, Rect& column) {
  Ui& ui = app.ui;
  Rect foot = column.cut_top(ui.bar(28));
  if (app.platform.open_sample) {
    const float width = std::max(ui.px(130), ui.label_width(tr(Text::start_sample)) + ui.px(14));
    if (ui.button("start:sample", foot.cut_right(width), tr(Text::start_sample))) app.command("open_sample");
    foot.cut_right(ui.px(14));
  }
  if (ui.link("licences", foot.cut_right(ui.label_width(tr(Text::licences_title))), ui.sans, 12,
              tr(Text::licences_title), Ellipsis::right, true))
    app.command("show_licences");
  const char* const text = tr(app.platform.is_page ? Text::start_private_page : Text::start_private);
  if (ui.finger)
    ui.paragraph(column.cut_top(ui.px(34)), ui.sans, 12, ui.theme.dim, text);
  else
    ui.text_in(foot, ui.sans, 12, ui.theme.dim, text);
}

}  // namespace

void draw_start_screen(App& app, Rect area) {
  Ui& ui = app.ui;
  ui.fill(area, ui.theme.bg);
  const float width = std::min(area.w - ui.px(ui.finger ? 24.0f : 40.0f), ui.px(760));
  const float top = ui.finger ? ui.px(8) : std::max(ui.px(16), area.h * 0.07f);
  Rect column{area.x + (area.w - width) / 2, area.y + top, width, area.h - top};
  draw_title(app, column);
  draw_error(app, column);
  draw_linked(app, column);
  draw_drop_zone(app, column);
  if (ui.finger) draw_foot(app, column);
  if (!app.platform.recent.empty()) {
    const auto lines = static_cast<float>(std::min<std::size_t>(5, app.platform.recent.size()));
    draw_recent(app, column.cut_top(ui.px(28) + ui.bar(20) * lines));
    column.cut_top(ui.px(12));
  }
  draw_examples(app, column);
  if (!ui.finger) draw_foot(app, column);
}

}  // namespace nanlens::viewer
