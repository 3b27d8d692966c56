// Opening, following, copying.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "app/commands.hpp"
#include "engine/export.hpp"
#include "widgets/format.hpp"

namespace nanlens::viewer {

/// A friend of App.
struct SessionCommands {
  static Result open_logdir(App& app, const Json& a) {
    if (const std::string path = text(a, "path"); !path.empty()) {
      if (app.platform.is_page) return fail("A page can't open a path: drop the logdir on it.");
      app.open({path});
      return {};
    }
    if (!app.platform.pick) return fail(tr(Text::no_pick));
    app.platform.pick(flag(a, "folder", true));
    return {};
  }
  static Result open_sample(App& app, const Json&) {
    if (!app.platform.open_sample) return fail(tr(Text::no_sample));
    app.platform.open_sample();
    return {};
  }
  static Result close_logdir(App& app, const Json&) {
    app.prepare_open();
    app.overview.loading = false;
    app.send(Close{});
    app.send(app.view);
    return {};
  }
  static Result select_run(App& app, const Json& a) {
    auto index = integer(a, "run");
    if (const std::string id = text(a, "run"); !id.empty())
      for (std::size_t i = 0; i < app.overview.runs.size(); ++i)
        if (app.overview.runs[i].run_id == id) index = static_cast<std::int64_t>(i);
    if (!index || *index < 0 || static_cast<std::size_t>(*index) >= app.overview.runs.size())
      return fail("There is no such run.");
    app.send(SelectRun{app.overview.runs[static_cast<std::size_t>(*index)].key});
    app.close_popup();
    return {};
  }
  static Result reload(App& app, const Json&) {
    app.send(Reload{});
    return {};
  }
  static Result cancel(App& app, const Json&) {
    if (!app.overview.loading && app.exporting.empty()) return fail(tr(Text::nothing_read));
    app.send(Cancel{});
    if (!app.exporting.empty()) app.toast(tr(Text::export_stopped));
    app.exporting.clear();
    return {};
  }
  static Result follow(App& app, const Json& a) {
    app.follow = flag(a, "on", !app.follow);
    if (app.platform.follow) app.platform.follow(app.follow);
    if (app.follow && !app.platform.can_follow) return fail(tr(Text::no_follow));
    return {};
  }
  static std::string stack_text(const App& app) {
    std::string out;
    for (const Frame& f : app.selection.stack.frames)
      out += f.path + ":" + std::to_string(f.line) + " " + f.function + "\n";
    return out;
  }
  static std::string row_text(const App& app, std::int64_t index, bool json) {
    for (const Row& row : app.rows.rows) {
      if (static_cast<std::int64_t>(row.index) != index) continue;
      if (!json) return row.op_name + ":" + std::to_string(row.slot);
      return viewer::row_text(row, false);
    }
    return {};
  }
  // The rows that are selected together, a line each.
  static std::string range_text(const App& app) {
    std::string out;
    for (std::size_t i = 0; i < app.rows.rows.size(); ++i)
      if (app.rows_pane.in_range(static_cast<std::int64_t>(app.rows.first + i)))
        out += viewer::row_text(app.rows.rows[i], false) + "\n";
    return out;
  }
  static std::string source_text(const App& app) {
    const auto& pane = app.source_pane;
    std::string out;
    const std::int32_t begin = pane.select_begin > 0  ? std::min(pane.select_begin, pane.select_end)
                               : app.tab() != nullptr ? std::max(1, app.tab()->line)
                                                      : 1;
    const std::int32_t end = pane.select_begin > 0 ? std::max(pane.select_begin, pane.select_end) : begin;
    for (std::int32_t line = begin; line <= end && static_cast<std::size_t>(line) <= app.source.lines.size(); ++line)
      out += app.source.lines[static_cast<std::size_t>(line - 1)] + "\n";
    return out;
  }
  static Result copy(App& app, const Json& a) {
    std::string what = text(a, "what");
    if (what.empty()) what = app.active == Pane::source ? "source" : app.active == Pane::stack ? "stack" : "row";
    std::string copied;
    Text done = Text::copied_row;
    const std::int64_t index = integer(a, "index").value_or(app.selection.focus.trace);
    if (what == "stack") {
      copied = stack_text(app);
      done = Text::copied_stack;
    } else if (what == "source") {
      copied = source_text(app);
      done = Text::copied_source;
    } else if (what == "name") {
      copied = row_text(app, index, false);
      done = Text::copied_name;
    } else if (what == "row" && app.rows_pane.range_begin >= 0 && !a.contains("index")) {
      copied = range_text(app);
      done = Text::copied_rows;
    } else if (what == "row") {
      copied = row_text(app, index, true);
    } else if (what == "diagnostics") {
      for (const Fault& f : app.diagnostics.list)
        copied += f.file + " at " + std::to_string(f.offset) + ": " + f.message + "\n";
      done = Text::copied_diagnostics;
    } else if (what == "example") {
      copied = text(a, "text");
      done = Text::copied_example;
    } else {
      return fail("what must be row, name, stack, source or diagnostics.");
    }
    if (copied.empty()) return fail(tr(Text::nothing_to_copy));
    if (app.platform.copy) app.platform.copy(copied);
    app.toast(tr(done));
    return {};
  }
  static Result export_list(App& app, const Json& a) {
    const std::string what = text(a, "what", "rows");
    const std::string format = text(a, "format", "jsonl");
    if (what != "rows" && what != "alerts" && what != "report" && what != "values")
      return fail("what must be rows, alerts, report or values.");
    if (what == "values" && app.popup != Popup::values) return fail(tr(Text::values_none));
    if (format != "jsonl" && format != "csv") return fail("format must be jsonl or csv.");
    if (app.overview.run < 0) return fail(tr(Text::no_run));
    if (!app.platform.save_list) return fail(tr(Text::no_save));
    app.send(Export{what, format == "csv", app.selection.focus, app.values_pane.of});
    app.exporting = tr(Text::export_begun);
    return {};
  }
  static Result copy_link(App& app, const Json&) {
    const std::string link = app.link();
    if (app.platform.copy) app.platform.copy(app.platform.link_text ? app.platform.link_text(link) : link);
    app.toast(tr(Text::copied_link));
    return {};
  }
  // The picture is taken of the next frame; a path that is not given is chosen by the platform.
  static Result screenshot(App& app, const Json& a) {
    if (!app.platform.screenshot) return fail(tr(Text::no_screenshot));
    app.platform.screenshot(text(a, "path"));
    return {};
  }
  static Result quit(App& app, const Json&) {
    if (!app.platform.quit) return fail(tr(Text::no_quit));
    app.platform.quit();
    return {};
  }
};

const CommandTable& session_commands() {
  using C = SessionCommands;
  static const CommandTable all = {
      {"open_logdir",
       C::open_logdir,
       {{Text::cmd_open_folder, "Ctrl+O"}, {Text::cmd_open_files, "", R"({"folder":false})"}}},
      {"open_sample", C::open_sample, {{Text::cmd_open_sample}}},
      {"close_logdir", C::close_logdir, {{Text::cmd_close_logdir}}},
      {"select_run", C::select_run},
      {"reload", C::reload, {{Text::cmd_reload}}},
      {"cancel", C::cancel},
      {"follow", C::follow, {{Text::cmd_follow}}},
      {"copy", C::copy, {{Text::cmd_copy, "Ctrl+C"}}},
      {"copy_link", C::copy_link, {{Text::cmd_copy_link, "Ctrl+Shift+C"}}},
      {"export",
       C::export_list,
       {{Text::cmd_export_rows, "", R"({"what":"rows"})"},
        {Text::cmd_export_rows_csv, "", R"({"what":"rows","format":"csv"})"},
        {Text::cmd_export_alerts, "", R"({"what":"alerts"})"},
        {Text::cmd_export_alerts_csv, "", R"({"what":"alerts","format":"csv"})"},
        {Text::cmd_export_report, "", R"({"what":"report"})"}}},
      {"screenshot", C::screenshot, {{Text::cmd_screenshot}}},
      {"quit", C::quit, {{Text::cmd_quit, "Ctrl+Q"}}},
  };
  return all;
}

}  // namespace nanlens::viewer
