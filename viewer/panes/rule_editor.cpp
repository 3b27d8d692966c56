// The rule that is written, and what it finds while it is.
#include <algorithm>
#include <cmath>

#include "app/rules.hpp"
#include "engine/rule_faults.hpp"
#include "panes/overlay.hpp"
#include "panes/panes.hpp"

namespace nanlens::viewer {

namespace {

constexpr float padding = 6;  // of a field, left of its text
constexpr float label_width = 96;
constexpr float label_width_of_phone = 70;

Rect cut_label(const Ui& ui, Rect& row) { return row.cut_left(ui.px(ui.finger ? label_width_of_phone : label_width)); }

void save(App& app) { (void)app.command("save_rule"); }  // what is wrong stands below the fields

template <std::size_t n>
void draw_field(App& app, Rect& inside, const char* id, const char* label, char (&text)[n], const char* hint,
                bool is_code) {
  Ui& ui = app.ui;
  Rect row = inside.cut_top(ui.bar(26));
  ui.text_in(cut_label(ui, row), ui.sans, 13, ui.theme.text, label);
  const std::string name = std::string("rule:") + id;
  ui.mark(name, row);
  ImGui::SetCursorScreenPos(row.min());
  ImGui::SetNextItemWidth(row.w);
  ImGui::PushFont(is_code ? ui.mono : ui.sans, ui.px(13));
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {ui.px(padding), std::floor((row.h - ImGui::GetFontSize()) / 2)});
  const bool wrong = is_code && !app.rules.draft.error.empty();
  if (wrong) ImGui::PushStyleColor(ImGuiCol_Border, ui.theme.bad);
  const std::string before = text;
  if (ImGui::InputTextWithHint(("##" + name).c_str(), hint, text, n, ImGuiInputTextFlags_EnterReturnsTrue)) save(app);
  if (before != text) app.rule_editor.fault.clear();
  if (wrong) ImGui::PopStyleColor();
  ImGui::PopStyleVar();
  ImGui::PopFont();
  inside.cut_top(ui.px(6));
}

void draw_levels(App& app, Rect& inside) {
  Ui& ui = app.ui;
  Rect row = inside.cut_top(ui.bar(26));
  ui.text_in(cut_label(ui, row), ui.sans, 13, ui.theme.text, tr(Text::rule_level_label));
  for (const auto& [level, label] : {std::pair{RuleLevel::error, Text::rule_error},
                                     {RuleLevel::warning, Text::rule_warning},
                                     {RuleLevel::note, Text::rule_note}}) {
    const float width = std::min(row.w, ui.bar_width(ui.label_width(tr(label)) + ui.px(20)));
    const Rect at = row.cut_left(width);
    if (ui.button(std::string("rule:level:") + level_word(level), at, tr(label), app.rule_editor.level == level))
      app.command("rule_text", {{"level", level_word(level)}});
    row.cut_left(ui.px(6));
  }
  inside.cut_top(ui.px(6));
}

// What it finds, or what is wrong with it.
std::string finding_text(const App& app, bool& wrong) {
  const RuleDraft& draft = app.rules.draft;
  const std::string& asked = app.view.rules.draft;
  if (!app.rule_editor.fault.empty()) {
    wrong = true;
    return app.rule_editor.fault;
  }
  if (asked.empty()) return {};
  if (draft.text != asked) return tr(Text::rule_judging);
  if (!draft.error.empty()) {
    wrong = true;
    return rule_fault_text(draft.text, draft.begin, draft.end, draft.error);
  }
  if (draft.state == RuleState::judging)
    return tr(Text::rule_judging_share, {{"p", static_cast<std::int64_t>(100 * draft.done)}});
  if (!draft.problem.empty()) return tr(Text::rule_not_judged, {{"reason", draft.problem}});
  std::string text = !draft.holds ? tr(Text::rule_holds_nowhere)
                     : draft.places <= 1 && draft.rows == 0
                         ? tr(Text::rule_holds_total, {{"n", draft.rows}})
                         : tr(Text::rule_holds, {{"rows", draft.rows}, {"places", draft.places}});
  if (draft.unjudged > 0) text += "; " + tr(Text::rule_unjudged, {{"n", draft.unjudged}});
  return text;
}

// A caret under the place that can't be read, as far as that is in view.
void draw_caret(const App& app, const Rect& line, float left) {
  const RuleDraft& draft = app.rules.draft;
  const Ui& ui = app.ui;
  const std::string& asked = app.view.rules.draft;
  if (draft.text != asked || draft.error.empty() || draft.in_name) return;
  const std::string conditions = app.rule_editor.conditions;
  const std::size_t begins = asked.find(':') + 2;
  if (draft.begin < begins || draft.begin - begins > conditions.size()) return;
  const std::size_t begin = draft.begin - begins;
  const std::size_t end = std::min<std::size_t>(std::max(draft.end, draft.begin + 1) - begins, conditions.size() + 1);
  const float from = left + ui.text_width(ui.mono, 13, conditions.substr(0, begin));
  const std::string carets(end - begin, '^');
  if (from + ui.text_width(ui.mono, 13, "^") > line.right()) return;
  ImGui::PushClipRect(line.min(), line.max(), true);
  ui.text({from, line.y - ui.px(1)}, ui.mono, 13, ui.theme.bad, carets);
  ImGui::PopClipRect();
}

void draw_finding(App& app, Rect& inside) {
  Ui& ui = app.ui;
  bool wrong = false;
  const std::string text = finding_text(app, wrong);
  const Rect line = inside.cut_top(ui.px(34));
  Rect at = line;
  (void)cut_label(ui, at);
  if (wrong) draw_caret(app, at, at.x + ui.px(padding));
  at.cut_top(ui.px(12));
  ui.mark("rule:found", at);
  ui.text_in(at, ui.sans, 13, wrong ? ui.theme.bad : ui.theme.dim, text);
  if (text.size() > 40 && at.contains(ImGui::GetIO().MousePos)) ui.tooltip(text);
}

void draw_first_ways(App& app, Rect row) {
  Ui& ui = app.ui;
  const auto way = [&](const char* id, const char* label, bool primary) {
    const float width = std::min(row.w, ui.bar_width(ui.label_width(label) + ui.px(12)));
    const bool chosen = ui.button(std::string("rule:") + id, row.cut_left(width), label, primary);
    row.cut_left(ui.px(8));
    return chosen;
  };
  if (way("save", tr(Text::rule_save), true)) save(app);
  if (way("copy", tr(Text::rule_copy), false)) run_or_tell(app, "copy_rule");
  if (app.rule_editor.file < 0) {
    if (way("standard", tr(Text::rule_standard), false)) run_or_tell(app, "standard_rules");
    return;
  }
  const auto& editor = app.rule_editor;
  const Json where = {{"file", editor.file}, {"line", editor.line + 1}, {"text", editor.text}};
  Json turned = where;
  turned["on"] = editor.off;  // as the button says, whatever became of it meanwhile
  if (way("turn", tr(editor.off ? Text::rule_turn_on : Text::rule_turn_off), false))
    run_or_tell(app, "turn_rule", turned);
  if (way("remove", tr(Text::rule_remove), false)) run_or_tell(app, "remove_rule", where);
}

// Where it is kept: of a rule that is there, its own text.
std::string place_words(const App& app) {
  const auto& texts = app.rules_pane.texts;
  const auto file = static_cast<std::size_t>(std::max(app.rule_editor.file, 0));
  std::string path = app.platform.rules_file ? app.platform.rules_file() : "";
  if (app.rule_editor.file >= 0 && file < texts.size()) path = texts[file].path;
  return path.empty() ? tr(Text::rule_place_here) : tr(Text::rule_place, {{"place", path}});
}

}  // namespace

void draw_rule_editor(App& app, const Rect& window) {
  Ui& outer = app.ui;
  const float width = centered(window, outer.px(720), 0).w;
  const float text_width = width - outer.px(32);
  const std::string place = place_words(app);
  const bool here = app.rule_editor.file < 0 ? !app.platform.rules_file || app.platform.rules_file().empty() : false;
  const float note = outer.paragraph_height(outer.sans, 12, place, text_width) + outer.px(6);
  const float help = outer.paragraph_height(outer.sans, 12, tr(Text::rule_help), text_width) + outer.px(10);
  const float height = outer.bar(34) + 5 * outer.bar(26) + note + help + outer.px(34 + 24 + 32) +
                       (here || app.platform.is_page ? outer.bar(26) + outer.px(8) : 0);
  const char* const title = tr(app.rule_editor.file < 0 ? Text::rule_title_new : Text::rule_title_edit);
  overlay(app, title, centered(window, width, height), [&](Rect inside) {
    Ui& ui = app.ui;
    auto& editor = app.rule_editor;
    inside = inside.inset(ui.px(16), ui.px(10));
    ImGui::PushID(app.rules_pane.num_given);
    draw_field(app, inside, "name", tr(Text::rule_name_label), editor.name, "", false);
    draw_levels(app, inside);
    if (std::exchange(editor.take_keyboard, false)) ImGui::SetKeyboardFocusHere();
    draw_field(app, inside, "conditions", tr(Text::rule_conditions_label), editor.conditions,
               tr(Text::rule_conditions_hint), true);
    inside.y -= ui.px(6);
    draw_finding(app, inside);
    inside.cut_top(ui.px(4));
    draw_field(app, inside, "reason", tr(Text::rule_reason_label), editor.reason, tr(Text::rule_reason_hint), false);
    ImGui::PopID();
    inside.cut_top(ui.paragraph(inside, ui.sans, 12, ui.theme.dim, tr(Text::rule_help)) + ui.px(10));
    draw_first_ways(app, inside.cut_top(ui.bar(28)));
    inside.cut_top(ui.px(8));
    ui.mark("rule:place", inside);
    inside.cut_top(ui.paragraph(inside, ui.sans, 12, ui.theme.dim, place) + ui.px(6));
    if (!here && !app.platform.is_page) return;
    const char* const label = tr(Text::rule_download);
    Rect row = inside.cut_top(ui.bar(26));
    if (ui.button("rule:file", row.cut_left(ui.bar_width(ui.label_width(label) + ui.px(12))), label, false))
      run_or_tell(app, "save_rules");
  });
}

}  // namespace nanlens::viewer
