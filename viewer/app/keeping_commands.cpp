// What is kept, or handed on: marks of what is expected, the recording as one file, the values of a tensor.
#include <algorithm>
#include <cstring>

#include "app/commands.hpp"

namespace nanlens::viewer {

/// A friend of App.
struct KeepingCommands {
  // The line that mutes a cause, or that of what is selected, to be completed with a reason.
  static Result mute(App& app, const Json& a) {
    std::string conditions = app.selection.conditions;
    std::string muted_by = app.selection.muted_by;
    if (const auto index = integer(a, "cause")) {
      const auto& causes = app.explanation.causes;
      if (*index < 0 || static_cast<std::size_t>(*index) >= causes.size()) return fail("There is no such cause.");
      conditions = causes[static_cast<std::size_t>(*index)].conditions;
      muted_by = causes[static_cast<std::size_t>(*index)].muted_by;
    }
    if (!muted_by.empty()) return fail(tr(Text::mute_is_muted, {{"place", muted_by}}));
    if (conditions.empty()) return fail(tr(Text::mute_select));
    app.mute_pane.conditions = conditions;
    app.mute_pane.reason[0] = '\0';
    app.mute_pane.take_keyboard = true;
    app.mute_pane.confirming = false;
    app.close_popup();
    app.toggle_popup(Popup::mute);
    return {};
  }
  static Result mute_reason(App& app, const Json& a) {
    std::string reason = text(a, "text");
    std::replace_if(reason.begin(), reason.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
    if (reason.size() >= sizeof app.mute_pane.reason) return fail(tr(Text::text_too_long));
    std::memcpy(app.mute_pane.reason, reason.c_str(), reason.size() + 1);
    return {};
  }
  // What can be done with the line: "copy", "save" a file of all lines that were made, "write" it into the logdir.
  static Result keep_mute(App& app, const Json& a) {
    App::MutePane& pane = app.mute_pane;
    const std::string to = choice(a, {"copy", "save", "write"});
    if (to.empty()) return fail("to must be copy, save or write.");
    if (app.popup != Popup::mute || pane.conditions.empty()) return fail(tr(Text::mute_select));
    if (std::string_view(pane.reason).find_first_not_of(' ') == std::string_view::npos) {
      pane.take_keyboard = true;
      return fail(tr(Text::mute_needs_reason));
    }
    const Result result = to == "write" ? write_mute(app) : hand_out(app, to == "copy");
    if (!result.ok || app.mute_pane.confirming) return result;
    app.close_popup();
    return result;
  }
  static Result hand_out(App& app, bool copy) {
    App::MutePane& pane = app.mute_pane;
    if (copy) {
      if (app.platform.copy) app.platform.copy(pane.line());
      app.toast(tr(Text::mute_copied));
      return {};
    }
    if (!app.platform.save_list) return fail(tr(Text::no_save));
    pane.written += pane.line() + "\n";
    Exported part;
    part.what = "mutes";
    part.first = part.complete = true;
    part.text = pane.written;
    const std::string place = app.platform.save_list("nanlens.mutes", part);
    if (place.empty()) return fail(tr(Text::export_failed, {{"name", "nanlens.mutes"}}));
    app.toast(tr(Text::mute_saved, {{"place", place}}));
    return {};
  }
  // Asked for twice, it is written; then the logdir is looked at again, with its marks.
  static Result write_mute(App& app) {
    App::MutePane& pane = app.mute_pane;
    const std::string file = app.platform.mutes_file ? app.platform.mutes_file() : "";
    if (file.empty()) return fail(tr(Text::mute_no_file));
    pane.confirming = !pane.confirming;
    if (pane.confirming) return {};
    if (!app.platform.add_mute(file, pane.line())) return fail(tr(Text::export_failed, {{"name", file}}));
    app.toast(tr(Text::mute_written, {{"place", file}}));
    app.send(Reload{});
    return {};
  }
  static Result share(App& app, const Json&) {
    if (!app.platform.share) return fail(tr(Text::no_share));
    if (app.overview.run < 0) return fail(tr(Text::no_run));
    app.toggle_popup(Popup::share);
    return {};
  }
  static Result write_share(App& app, const Json& a) {
    if (!app.platform.share) return fail(tr(Text::no_share));
    if (app.overview.run < 0) return fail(tr(Text::no_run));
    if (app.share_pane.writing) return fail(tr(Text::share_writing));
    ShareWish wish;
    wish.around_cause = flag(a, "around_cause", app.share_pane.around_cause);
    wish.no_source = flag(a, "no_source", app.share_pane.no_source);
    if (app.platform.is_page && (wish.around_cause || wish.no_source)) return fail(tr(Text::share_page_limits));
    if (!wish.around_cause) wish.view = app.link();  // rows have other numbers then
    if (const std::string why = app.platform.share(wish); !why.empty()) return fail(why);
    app.share_pane.writing = true;
    if (app.popup == Popup::share) app.close_popup();
    app.toast(tr(Text::share_writing));
    return {};
  }
  // Of a tensor that was seen when the selected event was made: by its place in the list, or the first that is stored.
  static Result show_values(App& app, const Json& a) {
    const auto& seen = app.selection.seen;
    const auto count = static_cast<std::int64_t>(seen.size());
    std::int64_t at = integer(a, "index").value_or(-1);
    for (std::int64_t i = 0; at < 0 && i < count && !a.contains("index"); ++i)
      if (seen[static_cast<std::size_t>(i)].stored) at = i;
    if (at < 0 || at >= count || !seen[static_cast<std::size_t>(at)].stored) return fail(tr(Text::values_none));
    app.values_pane = {};
    app.values_pane.of = static_cast<std::int32_t>(at);
    app.close_popup();
    app.toggle_popup(Popup::values);
    return {};
  }
  static Result values_slice(App& app, const Json& a) {
    const auto slice = integer(a, "slice");
    if (app.popup != Popup::values || !slice || *slice < 0 || *slice >= app.heat_map.slices)
      return fail("There is no such slice.");
    app.values_pane.slice = *slice;
    return {};
  }
};

void App::shared(bool ok, const std::string& text) {
  share_pane.writing = false;
  toast(ok ? tr(Text::share_done, {{"place", text}}) : tr(Text::share_failed, {{"reason", text}}));
}

const CommandTable& keeping_commands() {
  using C = KeepingCommands;
  static const CommandTable all = {
      {"mute", C::mute, {{Text::cmd_mute}}}, {"mute_reason", C::mute_reason},
      {"keep_mute", C::keep_mute},           {"share", C::share, {{Text::cmd_share}}},
      {"write_share", C::write_share},       {"show_values", C::show_values, {{Text::cmd_values}}},
      {"values_slice", C::values_slice},
  };
  return all;
}

}  // namespace nanlens::viewer
