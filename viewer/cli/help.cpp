#include "help.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <string_view>

#include "language.hpp"
#include "open.hpp"

namespace nanlens::cli {

namespace {

using viewer::Tongue;

/// "why --row" is an option of a command, "--lang" one of several commands, "why" a command.
struct HelpText {
  std::string_view key;
  const char* text;
};

#define X(key, text) {key, text},
constexpr HelpText help_de[] = {
#include "texts/help_de.def"
};
constexpr HelpText help_ja[] = {
#include "texts/help_ja.def"
};
constexpr HelpText help_ko[] = {
#include "texts/help_ko.def"
};
constexpr HelpText help_zh_tw[] = {
#include "texts/help_zh_tw.def"
};
constexpr HelpText help_pt_br[] = {
#include "texts/help_pt_br.def"
};
#undef X

std::span<const HelpText> help_texts() {
  switch (viewer::tongue()) {
    case Tongue::german: return help_de;
    case Tongue::japanese: return help_ja;
    case Tongue::korean: return help_ko;
    case Tongue::chinese: return help_zh_tw;
    case Tongue::portuguese: return help_pt_br;
    default: return {};
  }
}

// Null: it stays English.
const char* help_text(std::string_view key) {
  const auto texts = help_texts();
  const auto found = std::find_if(texts.begin(), texts.end(), [&](const HelpText& text) { return text.key == key; });
  return found == texts.end() ? nullptr : found->text;
}

std::string or_english(std::string_view key, std::string english) {
  const char* const text = help_text(key);
  return text == nullptr ? std::move(english) : text;
}

// In columns of a terminal, where ideographs, kana and hangul take two.
std::size_t columns_of(std::string_view text) {
  constexpr unsigned char begins_wide = 0xe3;  // from U+3000 on
  std::size_t columns = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xc0) != 0x80) columns += byte >= begins_wide ? 2 : 1;
  }
  return columns;
}

// CLI11's own pads by bytes.
class HelpFormatter final : public CLI::Formatter {
 public:
  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    std::string line = "  " + make_option_name(option, is_positional) + make_option_opts(option);
    const std::string description = make_option_desc(option);
    if (description.empty()) return line + "\n";
    const std::size_t columns = columns_of(line);
    line +=
        columns < column_width_ ? std::string(column_width_ - columns, ' ') : "\n" + std::string(column_width_, ' ');
    return line + description + "\n";
  }
};

void translate(CLI::App& command) {
  const std::string name = command.get_name();
  command.description(or_english(name.empty() ? "app" : name, command.get_description()));
  command.footer(
      or_english(name + " footer", or_english("footer", command.get_footer())));  // inherited, if it has none
  for (CLI::Option* const option : command.get_options()) {
    const auto& long_names = option->get_lnames();
    const std::string option_name = long_names.empty() ? option->get_name() : "--" + long_names.front();
    option->description(or_english(name + " " + option_name, or_english(option_name, option->get_description())));
    const std::string type = option->get_type_name();  // followed by what its values are checked for
    if (!type.empty()) option->type_name(or_english(type.substr(0, type.find(':')), type.substr(0, type.find(':'))));
    if (!option->get_group().empty()) option->group(or_english("options", option->get_group()));
  }
}

// What the names in braces of an English message stand for. False: it is another message. A name that a message begins
// with has no blank: other messages end alike.
bool matches(std::string_view pattern, std::string_view message,
             std::vector<std::pair<std::string, std::string>>& values) {
  values.clear();
  while (!pattern.empty()) {
    const std::size_t open = pattern.find('{');
    const std::string_view literal = pattern.substr(0, open);
    if (!message.starts_with(literal)) return false;
    message.remove_prefix(literal.size());
    if (open == std::string_view::npos) return message.empty();
    const std::size_t close = pattern.find('}', open);
    const std::string_view name = pattern.substr(open, close + 1 - open);
    const bool leads = open == 0 && values.empty();
    pattern.remove_prefix(close + 1);
    const std::string_view next = pattern.substr(0, pattern.find('{'));
    const std::size_t end = next.empty() ? message.size() : message.find(next);
    if (end == std::string_view::npos || (leads && message.substr(0, end).find(' ') != std::string_view::npos))
      return false;
    values.emplace_back(name, message.substr(0, end));
    message.remove_prefix(end);
  }
  return message.empty();
}

// What stands for a name may be a message, too.
std::string translated_error(const std::string& message) {
  constexpr std::string_view mark = "error:";
  std::vector<std::pair<std::string, std::string>> values;
  for (const HelpText& text : help_texts()) {
    if (!text.key.starts_with(mark) || !matches(text.key.substr(mark.size()), message, values)) continue;
    std::string out = text.text;
    for (const auto& [name, value] : values)
      if (const std::size_t at = out.find(name); at != std::string::npos)
        out.replace(at, name.size(), translated_error(value));
    return out;
  }
  return message;
}

// What --lang was given; empty where it was not.
std::string language_in(const std::vector<std::string>& words) {
  constexpr std::string_view option = "--lang";
  for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    if (words[i] == option && i + 1 < words.size()) return words[i + 1];
    if (words[i].starts_with("--lang=")) return words[i].substr(option.size() + 1);
  }
  return {};
}

std::string wrong_use(const CLI::App* app, const CLI::Error& error) {
  const std::string english = CLI::FailureMessage::simple(app, error);
  std::string out;
  for (std::size_t begin = 0; begin < english.size();) {
    const std::size_t end = std::min(english.find('\n', begin), english.size());
    out += translated_error(english.substr(begin, end - begin)) + "\n";
    begin = end + 1;
  }
  return out;
}

}  // namespace

viewer::Tongue translate_help(CLI::App& app, const std::vector<std::string>& words) {
  try {
    speak(language_in(words), true);
  } catch (const Failure&) {  // there is no such language: the command says so, if it speaks
  }
  const auto formatter = std::make_shared<HelpFormatter>();
  app.formatter(formatter);
  for (CLI::App* const command : app.get_subcommands([](const CLI::App*) { return true; }))
    command->formatter(formatter);
  for (const auto& [label, key] : {std::pair{"Usage", "usage"},
                                   {"Positionals", "positionals"},
                                   {"OPTIONS", "OPTIONS"},
                                   {"SUBCOMMAND", "SUBCOMMAND"},
                                   {"REQUIRED", "REQUIRED"},
                                   {"Needs", "Needs"},
                                   {"Excludes", "Excludes"}})
    if (const char* const text = help_text(key); text != nullptr) formatter->label(label, text);
  translate(app);
  for (CLI::App* const command : app.get_subcommands([](const CLI::App*) { return true; })) {
    command->group(or_english("subcommands", command->get_group()));
    translate(*command);
  }
  app.failure_message(&wrong_use);
  const Tongue tongue = viewer::tongue();
  viewer::set_tongue(Tongue::english);
  return tongue;
}

std::string failure_words(const std::string& message) { return translated_error(message); }

}  // namespace nanlens::cli
