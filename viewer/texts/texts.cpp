#include "texts.hpp"

#include <atomic>
#include <vector>

#include "numbers.hpp"
#include "pattern.hpp"

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

// A text that a translation lacks is English.
constexpr std::array<const char*, num_texts> german = [] {
  std::array<const char*, num_texts> texts{};
  std::copy(std::begin(english), std::end(english), texts.begin());
#define X(id, translated) texts[at(Text::id)] = translated;
#include "strings_de.def"
#undef X
  return texts;
}();

// Both languages have two forms, for one and for other numbers.
constexpr std::size_t num_forms = 2;
std::size_t form_of(double n) { return n == 1 ? 0 : 1; }

#define X(id, english) static_assert(pattern::well_formed(english, num_forms), "strings.def: " #id);
#include "strings.def"
#undef X
#define X(id, translated)                                                                             \
  static_assert(pattern::well_formed(translated, num_forms) &&                                        \
                    pattern::slots_within(translated, english[static_cast<std::size_t>(Text::id)]) && \
                    pattern::slots_within(english[static_cast<std::size_t>(Text::id)], translated),   \
                "strings_de.def: the placeholders of " #id " are not those of strings.def");
#include "strings_de.def"
#undef X

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

const std::vector<std::string>& pseudo() {
  static const std::vector<std::string> texts = [] {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < num_texts; ++i) {
      const bool number = ids[i].starts_with("number_") || ids[i].starts_with("unit_");
      all.push_back(number ? english[i] : pseudo_text(english[i]));
    }
    return all;
  }();
  return texts;
}

const char* text_of(Tongue tongue, Text id) {
  switch (tongue) {
    case Tongue::german: return german[at(id)];
    case Tongue::pseudo: return pseudo()[at(id)].c_str();
    case Tongue::english: break;
  }
  return english[at(id)];
}

std::string formatted(const TextArg& value, std::string_view format) {
  if (!value.is_number) return std::string(value.text);
  if (format == "count") return format_count(value.number);
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
      out +=
          s.forms.empty() ? formatted(*value, s.format) : std::string(pattern::form(s.forms, form_of(value->number)));
  }
  return out.append(text.substr(done));
}

}  // namespace nanlens::viewer
