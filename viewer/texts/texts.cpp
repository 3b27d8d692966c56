#include "texts.hpp"

#include <atomic>
#include <vector>

#include "numbers.hpp"
#include "translations.hpp"

namespace nanlens::viewer {

namespace {

constexpr std::size_t at(Text id) { return static_cast<std::size_t>(id); }

constexpr std::string_view ids[] = {
#define X(id, english) #id,
#include "strings.def"
#undef X
};
constexpr std::size_t num_texts = std::size(ids);

constexpr const char* english[] = {
#define X(id, english) english,
#include "strings.def"
#undef X
};

#define X(id, translated) {Text::id, translated},
constexpr Translations<num_texts> translations = {pattern::table_of<num_texts, Text>({
#include "strings_de.def"
                                                  }),
                                                  pattern::table_of<num_texts, Text>({
#include "strings_ja.def"
                                                  }),
                                                  pattern::table_of<num_texts, Text>({
#include "strings_ko.def"
                                                  }),
                                                  pattern::table_of<num_texts, Text>({
#include "strings_zh_tw.def"
                                                  }),
                                                  pattern::table_of<num_texts, Text>({
#include "strings_pt_br.def"
                                                  })};
#undef X

// The plural rules are those of the CLDR. Japanese, Korean and Chinese have one form; the others one for one thing and
// one for other numbers, and in Brazil nothing is counted as one thing is.
std::size_t always_the_same(double) { return 0; }
std::size_t one_or_other(double n) { return n == 1 ? 0 : 1; }
std::size_t up_to_one_or_other(double n) { return n >= 0 && n < 2 ? 0 : 1; }

void add_accented(std::string& out, char c) {
  constexpr std::string_view plain = "AEIOUaeioucnyCNYdD";
  constexpr std::string_view accented[] = {"Å", "É", "Î", "Ö", "Û", "å", "é", "î", "ö",
                                           "û", "ç", "ñ", "ý", "Ç", "Ñ", "Ý", "ð", "Ð"};
  const std::size_t known = plain.find(c);
  if (known == std::string_view::npos)
    out += c;
  else
    out += accented[known];
}

// Placeholders stay; the words of plural forms get their accents too.
std::string pseudo_text(std::string_view text) {
  std::string out = "[";
  bool name = false;  // within a placeholder, before its forms
  std::size_t letters = 0;
  for (const char c : text) {
    if (c == '{') name = true;
    if (name) {
      out += c;
    } else {
      add_accented(out, c);
      ++letters;
    }
    if (c == '|' || c == '}') name = false;
  }
  for (std::size_t i = 0; i < letters * 4 / 10; ++i) out += "·";
  return out + "]";
}

bool is_number(std::string_view id) { return id.starts_with("number_") || id.starts_with("unit_"); }

const std::vector<std::string>& pseudo() {
  static const std::vector<std::string> texts = [] {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < num_texts; ++i) {
      all.push_back(is_number(ids[i]) ? english[i] : pseudo_text(english[i]));
    }
    return all;
  }();
  return texts;
}

const char* text_of(Tongue tongue, Text id) {
  if (tongue == Tongue::pseudo) return pseudo()[at(id)].c_str();
  const char* const text = translated(translations, tongue, at(id));
  return text != nullptr ? text : english[at(id)];
}

// Signs and keys mean the same in every language; so do the names that TensorFlow's files have for what they hold.
bool has_words(std::string_view id) {
  return !is_number(id) && id != "badge_bad" && id != "column_dtype" && id != "column_index";
}

std::string formatted(const TextArg& value, std::string_view format) {
  if (!value.is_number) return std::string(value.text);
  if (format == "count") return format_count(value.number);
  if (format == "full") return format_full_count(value.number);
  if (format == "short") return format_short_count(value.number);
  if (format == "bytes") return format_bytes(value.number);
  if (format == "time") return format_time(value.number);
  if (format == "duration") return format_duration(value.number);
  const std::string digits = std::to_string(value.number);
  return digits.substr(0, digits.find('.'));
}

// Read by the thread of the interface and by the engine's.
std::atomic<Tongue> chosen = Tongue::english;

}  // namespace

void set_tongue(Tongue tongue) { chosen.store(tongue, std::memory_order_relaxed); }
Tongue tongue() { return chosen.load(std::memory_order_relaxed); }

PluralRule plural_rule(Tongue tongue) {
  switch (tongue) {
    case Tongue::japanese:
    case Tongue::korean:
    case Tongue::chinese: return always_the_same;
    case Tongue::portuguese: return up_to_one_or_other;
    default: return one_or_other;
  }
}

const char* tr(Tongue tongue, Text id) { return text_of(tongue, id); }
const char* tr(Text id) { return text_of(tongue(), id); }

std::string tr(Text id, std::initializer_list<TextArg> values) { return tr(tongue(), id, values); }

std::string tr(Tongue tongue, Text id, std::initializer_list<TextArg> values) {
  const std::string_view text = text_of(tongue, id);
  std::string out;
  std::size_t done = 0;
  for (auto s = pattern::next_slot(text, 0); s.begin != std::string_view::npos; s = pattern::next_slot(text, s.end)) {
    out += text.substr(done, s.begin - done);
    done = s.end;
    const auto* const value =
        std::find_if(values.begin(), values.end(), [&](const TextArg& v) { return v.name == s.name; });
    if (value == values.end())
      out += text.substr(s.begin, s.end - s.begin);
    else
      out += s.forms.empty() ? formatted(*value, s.format)
                             : std::string(pattern::form(s.forms, plural_rule(tongue)(value->number)));
  }
  return out.append(text.substr(done));
}

std::vector<std::string_view> missing_texts(Tongue tongue) {
  std::vector<std::string_view> missing = missing_of<num_texts>(translations, tongue, ids);
  std::erase_if(missing, [](std::string_view id) { return !has_words(id); });
  return missing;
}

}  // namespace nanlens::viewer
