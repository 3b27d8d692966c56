// Rules: written from the filter, edited, turned off, removed, handed out.
#include <algorithm>
#include <cstring>

#include <nanlens/query/standard_rules.hpp>

#include "app/commands.hpp"
#include "app/rules.hpp"
#include "engine/rules_text.hpp"

namespace nanlens::viewer {

namespace {

template <std::size_t n>
bool put(char (&field)[n], const std::string& text) {
  if (text.size() >= n) return false;
  std::memcpy(field, text.c_str(), text.size() + 1);
  return true;
}

std::optional<RuleLevel> level_in(const Json& a) {
  const std::string word = text(a, "level");
  for (const RuleLevel level : {RuleLevel::error, RuleLevel::warning, RuleLevel::note})
    if (word == level_word(level)) return level;
  return std::nullopt;
}

}  // namespace

/// A friend of App.
struct RuleCommands {
  static std::optional<WrittenRule> rule_of(const App& app, const Json& a) {
    const auto file = integer(a, "file");
    const auto line = integer(a, "line");
    if (file && line && *file >= 0 && *line >= 1)
      return rule_at(app.rules_pane.texts, static_cast<std::size_t>(*file), static_cast<std::size_t>(*line - 1));
    return find_rule(app.rules_pane.texts, text(a, "name", app.rule_editor.of));
  }
  // "rule 3", or whichever number is free.
  static std::string free_name(const App& app) {
    const std::vector<std::string> names = rule_names(app.rules_pane.texts);
    for (std::size_t n = 1;; ++n) {
      std::string name = tr(Text::rule_default_name, {{"n", n}});
      if (std::find(names.begin(), names.end(), name) == names.end()) return name;
    }
  }
  static Result open_editor(App& app) {
    app.rule_editor.take_keyboard = true;
    app.rule_editor.fault.clear();
    app.close_popup();
    app.toggle_popup(Popup::rule);
    app.ui.stops.cursor = KeyStops::nowhere;
    return {};
  }
  // From the filter, unless it is told what it asks.
  static Result add_rule(App& app, const Json& a) {
    if (app.overview.run < 0) return fail(tr(Text::no_run));
    std::string filter = app.rows_pane.filter;
    if (app.rows_pane.only_bad) filter += filter.empty() ? "bad" : " bad";
    app.rule_editor = {};
    Json parts = a;
    if (!parts.contains("conditions")) parts["conditions"] = filter;
    if (!parts.contains("name")) parts["name"] = free_name(app);
    if (const Result result = rule_text(app, parts); !result.ok) return result;
    return open_editor(app);
  }
  static Result edit_rule(App& app, const Json& a) {
    const auto rule = rule_of(app, a);
    if (!rule) return fail(tr(Text::rule_no_such));
    App::RuleEditor editor;
    if (!put(editor.name, rule->name) || !put(editor.conditions, rule->conditions) || !put(editor.reason, rule->reason))
      return fail(tr(Text::text_too_long));
    editor.level = rule->level;
    editor.file = static_cast<std::int32_t>(rule->file);
    editor.line = rule->line;
    editor.of = rule->name;
    editor.off = rule->off;
    app.rule_editor = std::move(editor);
    return open_editor(app);
  }
  // What is written in the editor.
  static Result rule_text(App& app, const Json& a) {
    auto& editor = app.rule_editor;
    App::RuleEditor next = editor;
    if (!put(next.name, text(a, "name", editor.name)) ||
        !put(next.conditions, text(a, "conditions", editor.conditions)) ||
        !put(next.reason, text(a, "reason", editor.reason)))
      return fail(tr(Text::text_too_long));
    if (a.contains("level") && !level_in(a)) return fail("level must be error, warning or note.");
    next.level = level_in(a).value_or(editor.level);
    next.fault.clear();
    editor = std::move(next);
    return {};
  }
  static Result save_rule(App& app, const Json&) {
    auto& editor = app.rule_editor;
    if (app.popup != Popup::rule) return fail(tr(Text::rule_no_such));
    const auto wrong = [&](const std::string& why) {
      editor.fault = why;
      return fail(why);
    };
    const std::string rule = editor.rule();
    if (rule.empty()) return wrong(tr(Text::rule_says_nothing));
    const RuleDraft& draft = app.rules.draft;
    if (draft.text == app.view.rules.draft && !draft.error.empty()) return wrong(draft.error);
    const Json where =
        editor.file < 0 ? Json{{"rule", rule}} : Json{{"rule", rule}, {"file", editor.file}, {"line", editor.line + 1}};
    if (const Result result = put_rule(app, where); !result.ok) return wrong(result.message);
    app.close_popup();
    return {};
  }
  // A rule as it is written, in place of the one in a line or of the same name; else at the end of a text.
  static Result put_rule(App& app, const Json& a) {
    if (app.overview.run < 0) return fail(tr(Text::no_run));
    const std::string rule(rule_in(text(a, "rule")));
    const WrittenRule parts = parts_of_rule(rule);
    if (parts.name.empty() || rule.find('\n') != std::string::npos) return fail(tr(Text::rule_no_name));
    if (parts.conditions.empty()) return fail(tr(Text::rule_says_nothing));
    const auto named = find_rule(app.rules_pane.texts, parts.name);
    const auto replaced = a.contains("line") ? rule_of(app, a) : named;
    if (a.contains("line") && !replaced) return fail(tr(Text::rule_no_such));
    if (named && !named->off && !(replaced->file == named->file && replaced->line == named->line))
      return fail(tr(Text::rule_name_taken, {{"name", parts.name}}));
    const std::size_t file = replaced ? replaced->file : app.text_for_rules();
    auto lines = lines_of(app.rules_pane.texts[file].text);
    const std::string line = (flag(a, "off", replaced && replaced->off) ? std::string(rule_off) : "") + rule;
    if (replaced)
      lines[replaced->line] = line;
    else
      lines.push_back(line);
    app.rules_pane.reveal_end = !replaced;
    return app.change_rules(file, text_of_lines(lines));
  }
  static Result remove_rule(App& app, const Json& a) {
    const auto rule = rule_of(app, a);
    if (!rule) return fail(tr(Text::rule_no_such));
    auto lines = lines_of(app.rules_pane.texts[rule->file].text);
    lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(rule->line));
    if (const Result result = app.change_rules(rule->file, text_of_lines(lines)); !result.ok) return result;
    if (app.popup == Popup::rule) app.close_popup();
    app.toast(tr(Text::rule_removed, {{"name", rule->name}}), "put_rule", {{"rule", rule->text}, {"off", rule->off}});
    return {};
  }
  static Result turn_rule(App& app, const Json& a) {
    const auto rule = rule_of(app, a);
    if (!rule) return fail(tr(Text::rule_no_such));
    const bool on = flag(a, "on", rule->off);
    if (on && rule->off)
      if (const auto other = find_rule(app.rules_pane.texts, rule->name); other && !other->off)
        return fail(tr(Text::rule_name_taken, {{"name", rule->name}}));
    auto lines = lines_of(app.rules_pane.texts[rule->file].text);
    lines[rule->line] = (on ? std::string() : std::string(rule_off)) + rule->text;
    const Result result = app.change_rules(rule->file, text_of_lines(lines));
    if (result.ok && app.popup == Popup::rule) app.rule_editor.off = !on;
    return result;
  }
  static Result copy_rule(App& app, const Json& a) {
    const auto rule = rule_of(app, a);
    const bool written = app.popup == Popup::rule && !a.contains("name") && !a.contains("line");
    const std::string what = written ? app.rule_editor.rule() : rule ? rule->text : "";
    if (what.empty()) return fail(tr(written ? Text::rule_says_nothing : Text::rule_no_such));
    if (app.platform.copy) app.platform.copy("--rule " + quoted(what));
    app.toast(tr(Text::rule_copied));
    return {};
  }
  // With their comments, those aside whose names are taken.
  static Result standard_rules(App& app, const Json&) {
    if (app.overview.run < 0) return fail(tr(Text::no_run));
    const std::vector<std::string> names = rule_names(app.rules_pane.texts);
    const std::size_t file = app.text_for_rules();
    std::string all = app.rules_pane.texts[file].text;
    if (!all.empty() && !all.ends_with('\n')) all += '\n';
    std::size_t added = 0;
    for (const std::string& line : lines_of(query::standard_rules)) {
      const std::string_view rule = rule_in(line);
      if (rule.empty()) continue;
      if (std::find(names.begin(), names.end(), parts_of_rule(rule).name) != names.end()) continue;
      all += line + "\n";
      ++added;
    }
    if (added == 0) return fail(tr(Text::rule_standard_there));
    if (const Result result = app.change_rules(file, all); !result.ok) return result;
    if (app.popup == Popup::rule) app.close_popup();
    app.toast(tr(Text::rule_standard_added, {{"n", added}}));
    return {};
  }
  static Result save_rules(App& app, const Json&) {
    if (!app.platform.save_list) return fail(tr(Text::no_save));
    Exported part;
    part.what = "rules";
    part.first = part.complete = true;
    for (const RulesText& text : app.rules_pane.texts) {
      part.text += text.text;
      if (!part.text.empty() && !part.text.ends_with('\n')) part.text += '\n';
    }
    if (part.text.empty()) return fail(tr(Text::rule_no_such));
    const std::string place = app.platform.save_list(report::rules_name, part);
    if (place.empty()) return fail(tr(Text::export_failed, {{"name", report::rules_name}}));
    app.toast(tr(Text::rule_downloaded, {{"place", place}}));
    return {};
  }
  static Result fold_rules(App& app, const Json& a) {
    const std::string key = text(a, "key");
    auto& unfolded = app.rules_pane.unfolded;
    if (!a.contains("key"))
      app.rules_pane.folded = flag(a, "on", !app.rules_pane.folded);
    else if (flag(a, "on", unfolded.contains(key)))
      unfolded.erase(key);
    else
      unfolded.insert(key);
    return {};
  }
  // dir 0: its first one.
  static Result next_rule_hit(App& app, const Json& a) {
    if (app.overview.run < 0) return fail(tr(Text::no_run));
    Select wish;
    wish.kind = IntentKind::rule_step;
    wish.rule = text(a, "name");
    wish.index = integer(a, "dir").value_or(1);
    if (!wish.rule.empty() && !find_rule(app.rules_pane.texts, wish.rule)) return fail(tr(Text::rule_no_such));
    app.select(std::move(wish));
    return {};
  }
  static Result focus_rule_hit(App& app, const Json& a) {
    Select wish;
    wish.kind = IntentKind::focus;
    wish.focus.trace = integer(a, "trace").value_or(-1);
    wish.focus.execution = integer(a, "execution").value_or(-1);
    wish.focus.slot = static_cast<std::int32_t>(integer(a, "slot").value_or(-1));
    if (wish.focus.trace < 0 && wish.focus.execution < 0) return fail("trace or execution is needed.");
    if (wish.focus.trace >= 0) wish.focus.slot = -1;
    app.select(std::move(wish));
    return {};
  }
};

const CommandTable& rule_commands() {
  using C = RuleCommands;
  static const CommandTable all = {
      {"add_rule", C::add_rule, {{Text::cmd_add_rule, "+"}}},
      {"edit_rule", C::edit_rule},
      {"rule_text", C::rule_text},
      {"save_rule", C::save_rule},
      {"put_rule", C::put_rule},
      {"remove_rule", C::remove_rule},
      {"turn_rule", C::turn_rule},
      {"copy_rule", C::copy_rule},
      {"standard_rules", C::standard_rules, {{Text::cmd_standard_rules}}},
      {"save_rules", C::save_rules, {{Text::cmd_save_rules}}},
      {"fold_rules", C::fold_rules},
      {"next_rule_hit",
       C::next_rule_hit,
       {{Text::cmd_next_rule_hit, "H"}, {Text::cmd_previous_rule_hit, "Shift+H", R"({"dir":-1})"}}},
      {"focus_rule_hit", C::focus_rule_hit},
  };
  return all;
}

}  // namespace nanlens::viewer
