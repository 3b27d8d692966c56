// Rules: written from the filter, edited, turned off, removed, handed out.
#include <algorithm>
#include <cstring>

#include "app/commands.hpp"
#include "app/rules.hpp"
#include "engine/rule_faults.hpp"
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
    const auto& texts = app.rules_pane.texts;
    const auto file = integer(a, "file");
    const auto line = integer(a, "line");
    if (!file || !line || *file < 0 || *line < 1) return find_rule(texts, text(a, "name", app.rule_editor.of));
    const auto file_at = static_cast<std::size_t>(*file);
    const auto line_at = static_cast<std::size_t>(*line - 1);
    return a.contains("text") ? rule_written(texts, text(a, "text"), file_at, line_at)
                              : rule_at(texts, file_at, line_at);
  }
  // One that was seen, but is no longer there, was changed by somebody else.
  static Result no_such(const Json& a) { return fail(tr(a.contains("text") ? Text::rule_gone : Text::rule_no_such)); }
  static Result taken(const WrittenRule& other) {
    return fail(tr(other.off ? Text::rule_name_of_off : Text::rule_name_taken, {{"name", other.name}}));
  }
  // "rule 3", or whichever number is free.
  static std::string free_name(const App& app) {
    const std::vector<std::string> names = rule_names(app.rules_pane.texts);
    for (std::size_t n = 1;; ++n) {
      std::string name = tr(Text::rule_default_name, {{"n", n}});
      if (std::find(names.begin(), names.end(), name) == names.end()) return name;
    }
  }
  static void show_texts(App& app) {
    ++app.rules_pane.num_given;
    app.rule_editor.take_keyboard = true;
  }
  static Result open_editor(App& app) {
    show_texts(app);
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
    if (!rule) return no_such(a);
    App::RuleEditor editor;
    if (!put(editor.name, rule->name) || !put(editor.conditions, rule->conditions) || !put(editor.reason, rule->reason))
      return fail(tr(Text::text_too_long));
    editor.level = rule->level;
    editor.file = static_cast<std::int32_t>(rule->file);
    editor.line = rule->line;
    editor.of = rule->name;
    editor.text = rule->text;
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
    if (a.contains("name") || a.contains("conditions") || a.contains("reason")) show_texts(app);
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
    Json where = {{"rule", rule}};
    if (editor.file < 0)
      where["new"] = true;
    else
      where.update({{"file", editor.file}, {"line", editor.line + 1}, {"text", editor.text}});
    const RuleParts was = parts_in(editor.text);
    const bool changed = editor.file < 0 ||
                         rule != rule_of_parts(was.name, static_cast<RuleLevel>(was.level), was.conditions, was.reason);
    if (changed)
      if (const Result result = put_rule(app, where); !result.ok) return wrong(result.message);
    app.close_popup();
    return {};
  }
  // The rule that must not be there beside one of this name, which is new, or stands in place of another one.
  static std::optional<WrittenRule> in_the_way(const App& app, const std::string& name, bool off,
                                               const WrittenRule* replaced) {
    auto named = find_rule(app.rules_pane.texts, name);
    if (!named || replaced == nullptr) return named;
    if (named->file == replaced->file && named->line == replaced->line) return std::nullopt;
    // One that keeps its name may be one of several of which no other is on.
    if (replaced->name == name && (off || named->off)) return std::nullopt;
    return named;
  }
  // A rule as it is written, in place of the one in a line, or of the same name unless it is new; else at the end of a
  // text. One that is off is not in the place of one that is on, nor the reverse.
  static Result put_rule(App& app, const Json& a) {
    if (app.overview.run < 0) return fail(tr(Text::no_run));
    const auto lines = lines_of(text(a, "rule"));
    if (lines.size() > 1)
      return fail(tr(Text::filter_bad_part, {{"part", lines[1]}, {"reason", tr(Text::rule_one_line)}}));
    const std::string given = lines.empty() ? "" : one_line(lines.front());
    const std::string rule(rule_in(given));
    if (const std::string why = why_unreadable(rule); !why.empty()) return fail(why);
    const std::string name = parts_in(rule).name;
    std::optional<WrittenRule> replaced;
    if (a.contains("line")) {
      replaced = rule_of(app, a);
      if (!replaced) return no_such(a);
    }
    const bool off = flag(a, "off", replaced ? replaced->off : is_off(given));
    if (!replaced && !flag(a, "new", false)) {
      replaced = find_rule(app.rules_pane.texts, name);
      if (replaced && replaced->off != off) return taken(*replaced);
    }
    if (const auto other = in_the_way(app, name, off, replaced ? &*replaced : nullptr)) return taken(*other);
    const std::size_t file = replaced ? replaced->file : app.text_for_rules();
    const std::string& all = app.rules_pane.texts[file].text;
    const std::string line = (off ? std::string(rule_off) : "") + rule;
    app.rules_pane.reveal_end = !replaced;
    return app.change_rules(file,
                            replaced ? with_line(all, replaced->line, line) : with_line_before(all, all.size(), line));
  }
  static Result remove_rule(App& app, const Json& a) {
    const auto rule = rule_of(app, a);
    if (!rule) return no_such(a);
    const RulesText& of = app.rules_pane.texts[rule->file];
    const Json undo = {{"whole", rule->whole}, {"name", of.name}, {"path", of.path}, {"line", rule->line + 1}};
    if (const Result result = app.change_rules(rule->file, without_line(of.text, rule->line)); !result.ok)
      return result;
    if (app.popup == Popup::rule) app.close_popup();
    app.toast(tr(Text::rule_removed, {{"name", rule->name.empty() ? rule->text : rule->name}}), "restore_rule", undo);
    return {};
  }
  // A line that was removed, where it stood, whatever came there meanwhile.
  static Result restore_rule(App& app, const Json& a) {
    const std::string whole = text(a, "whole");
    const std::string_view rule = rule_in(whole);
    if (rule.empty() || whole.find('\n') != std::string::npos) return fail(tr(Text::rule_no_such));
    auto& texts = app.rules_pane.texts;
    const auto other = find_rule(texts, parts_in(rule).name);
    if (!is_off(whole) && other && !other->off) return taken(*other);
    const auto of = std::find_if(texts.begin(), texts.end(), [&](const RulesText& t) {
      return t.name == text(a, "name") && t.path == text(a, "path");
    });
    const std::size_t file = of == texts.end() ? app.text_for_rules() : static_cast<std::size_t>(of - texts.begin());
    const auto line = static_cast<std::size_t>(std::max<std::int64_t>(integer(a, "line").value_or(1), 1) - 1);
    return app.change_rules(file, with_line_before(texts[file].text, line, whole));
  }
  static Result turn_rule(App& app, const Json& a) {
    const auto rule = rule_of(app, a);
    if (!rule) return no_such(a);
    const bool on = flag(a, "on", rule->off);
    if (on && rule->off)
      if (const auto other = find_rule(app.rules_pane.texts, rule->name); other && !other->off) return taken(*other);
    const std::string line = on ? rule->whole.substr(rule_off.size()) : std::string(rule_off) + rule->whole;
    const std::string& all = app.rules_pane.texts[rule->file].text;
    if (on == rule->off)
      if (Result result = app.change_rules(rule->file, with_line(all, rule->line, line)); !result.ok) return result;
    if (app.popup == Popup::rule) app.rule_editor.off = !on;
    return {};
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
  // Those whose names are taken are left out.
  static Result standard_rules(App& app, const Json&) {
    if (app.overview.run < 0) return fail(tr(Text::no_run));
    std::size_t added = 0;
    const std::string rules = standard_rules_beside(app.rules_pane.texts, added);
    if (added == 0) return fail(tr(Text::rule_standard_there));
    const std::size_t file = app.text_for_rules();
    std::string all = app.rules_pane.texts[file].text;
    if (!all.empty()) all += all.ends_with('\n') ? "\n" : "\n\n";
    if (const Result result = app.change_rules(file, all + rules); !result.ok) return result;
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
      {"restore_rule", C::restore_rule},
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
