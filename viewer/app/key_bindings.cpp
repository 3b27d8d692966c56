#include "app/key_bindings.hpp"

#include <algorithm>
#include <charconv>

#include "app/json_text.hpp"

namespace nanlens::viewer {

namespace {

bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

ImGuiKey key_after(ImGuiKey first, int steps) { return static_cast<ImGuiKey>(first + steps); }

// Signs with Ctrl, on the keypad too.
std::array<ImGuiKey, 2> sign_keys(std::string_view name) {
  if (name == "+") return {ImGuiKey_Equal, ImGuiKey_KeypadAdd};
  if (name == "−") return {ImGuiKey_Minus, ImGuiKey_KeypadSubtract};
  return {};
}

// Arrows with Alt. Alone they move.
ImGuiKey arrow_key(std::string_view name) {
  return name == "←" ? ImGuiKey_LeftArrow : name == "→" ? ImGuiKey_RightArrow : ImGuiKey_None;
}

// The character that Shift makes of one, where a command is named by the key.
char shifted(char c) { return c == '.' ? '>' : c == ',' ? '<' : c; }

// Commands that go a step, of which a person may wish many.
bool moves(std::string_view command) {
  constexpr std::array names{"cause_step",    "next_input",        "next_consumer", "next_hit", "next_rule_hit",
                             "timeline_zoom", "timeline_pan_page", "scale",         "back",     "forward"};
  return std::find(names.begin(), names.end(), command) != names.end();
}

int function_number(std::string_view name) {
  int number = 0;
  if (name.size() < 2 || name.front() != 'F') return 0;
  std::from_chars(name.data() + 1, name.data() + name.size(), number);
  return number;
}

bool same_key(const KeyBinding& a, const KeyBinding& b) {
  return a.kind == b.kind && a.keys == b.keys && a.character == b.character;
}

}  // namespace

KeyBinding parse_key(std::string_view name) {
  using Kind = KeyBinding::Kind;
  KeyBinding b;
  const bool control = take(name, "Ctrl+");
  const bool alt = take(name, "Alt+");
  b.shift = take(name, "Shift+");
  const char c = name.size() == 1 ? name.front() : '\0';
  if (c >= 'A' && c <= 'Z')
    b.keys[0] = key_after(ImGuiKey_A, c - 'A');
  else if (c >= '0' && c <= '9')
    b.keys[0] = key_after(ImGuiKey_0, c - '0');
  else if (const int number = function_number(name); number > 0)
    b.keys[0] = key_after(ImGuiKey_F1, number - 1);
  else if (control)
    b.keys = sign_keys(name);
  else if (alt)
    b.keys[0] = arrow_key(name);
  else if (c != '\0')
    b.character = static_cast<unsigned char>(b.shift ? shifted(c) : c);
  b.kind = control                     ? Kind::control
           : alt                       ? Kind::alt
           : b.character != 0          ? Kind::character
           : b.keys[0] == ImGuiKey{}   ? Kind::none
           : function_number(name) > 0 ? Kind::function
                                       : Kind::plain;
  return b;
}

const std::vector<KeyBinding>& key_bindings() {
  static const std::vector<KeyBinding> all = [] {
    std::vector<KeyBinding> bindings;
    for (const CommandInfo& info : command_list()) {
      std::string_view names = info.entry->keys;
      while (!names.empty()) {
        const std::size_t end = std::min(names.find(' '), names.size());
        KeyBinding b = parse_key(names.substr(0, end));
        b.command = info.command;
        b.goes_on = moves(b.command);
        b.arguments = json_of(info.entry->arguments);
        if (b.kind != KeyBinding::Kind::none) bindings.push_back(std::move(b));
        names.remove_prefix(std::min(end + 1, names.size()));
      }
    }
    for (KeyBinding& b : bindings)
      b.any_shift = std::none_of(bindings.begin(), bindings.end(),
                                 [&](const KeyBinding& other) { return same_key(b, other) && other.shift != b.shift; });
    return bindings;
  }();
  return all;
}

}  // namespace nanlens::viewer
