// The palette: one box for commands, rows, executions, ops in view and source files.
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>

#include <nanlens/query/lower_case.hpp>

#include "app/commands.hpp"
#include "app/json_text.hpp"
#include "panes/overlay.hpp"
#include "panes/panes.hpp"
#include "widgets/format.hpp"

namespace nanlens::viewer {

namespace {

struct Choice {
  std::string title;
  std::string note;
  std::string command;
  Json arguments;
  int score = 0;
  std::size_t order = 0;
};

// Exact, prefix, start of a word, part, letters in order; 0: no match.
int score_of(const std::string& text, const std::string& wanted) {
  if (wanted.empty()) return 1;
  const std::string t = query::lower_case(text);
  if (t == wanted) return 6;
  if (t.starts_with(wanted)) return 5;
  const std::size_t at = t.find(wanted);
  if (at != std::string::npos) return std::isalnum(static_cast<unsigned char>(t[at - 1])) == 0 ? 4 : 3;
  std::size_t k = 0;
  for (const char c : t)
    if (k < wanted.size() && c == wanted[k]) ++k;
  return k == wanted.size() ? 2 : 0;
}

void add_commands(std::vector<Choice>& choices, const std::string& wanted) {
  for (const CommandInfo& c : command_list())
    if (const Text title = c.entry->title;
        const int score = std::max(score_of(tr(title), wanted), score_of(tr(Tongue::english, title, {}), wanted)))
      choices.push_back({tr(title), c.entry->keys, std::string(c.command), json_of(c.entry->arguments), score});
}

// A graph, an op, what ran eagerly, or a file with the line that was asked for.
void add_found(const App& app, std::vector<Choice>& choices, const Found& f) {
  const std::int32_t line = app.palette.line();
  const bool graphs_only = app.palette.text[0] == '@';
  const bool graph = f.path.empty() && f.op_name.empty() && f.execution < 0;
  if ((graphs_only && !graph) || (line > 0 && f.path.empty())) return;
  const int score = std::max(2, score_of(f.title, query::lower_case(app.palette.name())));
  if (f.execution >= 0)
    choices.push_back({f.title, f.note, "focus_execution", {{"index", f.execution}}, score});
  else if (f.path.empty())
    choices.push_back({f.title, f.note, "focus_op", {{"graph_id", f.graph_id}, {"op_name", f.op_name}}, score});
  else
    choices.push_back({line > 0 ? f.title + ":" + std::to_string(line) : f.title,
                       f.note,
                       "focus_source",
                       {{"host", f.host}, {"path", f.path}, {"line", std::max(1, line)}},
                       line > 0 ? score + 2 : score});
}

// What the engine found of the run, and rows in view.
void add_items(const App& app, std::vector<Choice>& choices, const std::string& text) {
  const std::string wanted = query::lower_case(text);
  if (wanted.empty()) return;
  if (app.search.text == app.palette.name())
    for (const Found& f : app.search.list) add_found(app, choices, f);
  for (const Row& row : app.rows.rows) {
    const std::string name = row.op_name + ":" + std::to_string(row.slot);
    if (name.find(text) != std::string::npos && text.find(':') != std::string::npos)
      choices.push_back({name,
                         tr(row.is_execution ? Text::execution_numbered : Text::row_numbered, {{"index", row.index}}),
                         row.is_execution ? "focus_execution" : "focus_trace",
                         {{"index", row.index}},
                         score_of(name, wanted)});
  }
  if (text[0] != '@')
    choices.push_back({tr(Text::palette_filter, {{"text", text}}), "Enter", "filter", {{"query", text}}, 2});
}

std::vector<Choice> choices_of(const App& app) {
  const std::string text = app.palette.text;
  std::vector<Choice> choices;
  if (!text.empty() && (text[0] == ':' || text[0] == '#')) {
    const bool row = text[0] == ':';
    if (text.size() > 1 && std::isdigit(static_cast<unsigned char>(text[1])) != 0)
      choices.push_back({tr(row ? Text::palette_row : Text::palette_execution, {{"index", text.substr(1)}}),
                         "Enter",
                         row ? "focus_trace" : "focus_execution",
                         {{"index", std::atoll(text.c_str() + 1)}},
                         6});
    return choices;
  }
  if (!text.empty() && text[0] == '>') {
    const std::size_t begin = text.find_first_not_of(' ', 1);
    add_commands(choices, begin == std::string::npos ? "" : query::lower_case(text.substr(begin)));
  } else {
    add_commands(choices, query::lower_case(text));
    add_items(app, choices, text);
  }
  for (std::size_t i = 0; i < choices.size(); ++i) choices[i].order = i;
  std::sort(choices.begin(), choices.end(), [](const Choice& a, const Choice& b) {
    return a.score != b.score ? a.score > b.score : a.order < b.order;
  });
  if (choices.size() > 50) choices.resize(50);
  return choices;
}

void accept(App& app, const Choice& choice) {
  app.close_popup();
  const Result result = app.command(choice.command, choice.arguments);
  if (!result.ok) app.toast(result.message);
}

constexpr std::size_t lines_shown = 12;

// True when Enter was pressed.
bool draw_input(App& app, const Rect& input, std::size_t num_choices) {
  Ui& ui = app.ui;
  auto& pane = app.palette;
  ui.mark("palette:input", input);
  if (pane.take_keyboard) ImGui::SetKeyboardFocusHere();
  pane.take_keyboard = false;
  ImGui::SetCursorScreenPos(input.min());
  ImGui::SetNextItemWidth(input.w);
  ImGui::PushFont(ui.sans, ui.px(14));
  const std::string before = pane.text;
  const bool enter = ImGui::InputTextWithHint("##text", tr(Text::palette_hint), pane.text, sizeof pane.text,
                                              ImGuiInputTextFlags_EnterReturnsTrue);
  ImGui::PopFont();
  if (before != pane.text) pane.cursor = 0;
  if (ImGui::IsKeyPressed(ImGuiKey_DownArrow)) ++pane.cursor;
  if (ImGui::IsKeyPressed(ImGuiKey_UpArrow) && pane.cursor > 0) --pane.cursor;
  pane.cursor = num_choices == 0 ? 0 : std::min(pane.cursor, num_choices - 1);
  return enter;
}

// The choice that was clicked; null if none was.
const Choice* draw_choices(App& app, Rect inside, const std::vector<Choice>& choices, float line) {
  Ui& ui = app.ui;
  const std::size_t cursor = app.palette.cursor;
  const Choice* clicked = nullptr;
  const std::size_t first = cursor >= lines_shown ? cursor - lines_shown + 1 : 0;
  for (std::size_t i = first; i < choices.size() && i < first + lines_shown; ++i) {
    const Rect row = inside.cut_top(line);
    const Hit hit = ui.item("palette:" + std::to_string(i), row);
    if (i == cursor)
      ui.fill(row, ui.theme.focus, ui.px(3));
    else if (hit.hovered)
      ui.fill(row, ui.theme.badge, ui.px(3));
    Rect inner = row.inset(ui.px(8), 0);
    ui.text_in(inner.cut_right(ui.text_width(ui.mono, 12, choices[i].note) + ui.px(4)), ui.mono, 12, ui.theme.dim,
               choices[i].note, Ellipsis::right, true);
    ui.text_in(inner, ui.sans, 13, ui.theme.text, choices[i].title);
    if (hit.clicked) clicked = &choices[i];
  }
  if (choices.empty()) ui.text_in(inside.inset(ui.px(8), 0), ui.sans, 13, ui.theme.dim, tr(Text::palette_none));
  return clicked;
}

}  // namespace

void draw_palette(App& app, const Rect& window) {
  Ui& ui = app.ui;
  const std::vector<Choice> choices = choices_of(app);
  const float line = ui.px(26);
  const auto lines = static_cast<float>(std::clamp<std::size_t>(choices.size(), 1, lines_shown));
  const float width = std::min(ui.px(620), window.w * 0.92f);
  const Rect rect{window.x + (window.w - width) / 2, window.y + ui.px(44), width, ui.px(46) + line * lines};
  begin_popup(app, rect);
  ImGui::Begin("##palette", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                   ImGuiWindowFlags_NoNav);
  ui.mark("popup", rect);
  Rect inside = rect.inset(ui.px(8));
  const bool enter = draw_input(app, inside.cut_top(ui.px(26)), choices.size());
  inside.cut_top(ui.px(4));
  const Choice* chosen = draw_choices(app, inside, choices, line);
  if (chosen == nullptr && enter && !choices.empty()) chosen = &choices[app.palette.cursor];
  const bool away = ImGui::IsMouseClicked(ImGuiMouseButton_Left) && !rect.contains(ImGui::GetIO().MousePos);
  ImGui::End();
  ImGui::PopStyleColor(2);
  ImGui::PopStyleVar();
  if (chosen != nullptr)
    accept(app, *chosen);
  else if (away)
    app.close_popup();
}

}  // namespace nanlens::viewer
