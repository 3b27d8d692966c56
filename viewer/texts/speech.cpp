#include "speech.hpp"

#include "pattern.hpp"

namespace nanlens::viewer {

namespace {

using causes::Saying;
using causes::Speech;
using SayingTable = std::array<const char*, causes::num_sayings>;

struct SayingTranslation {
  Saying id;
  const char* text;
};

// What a translation lacks is null. A text that stands there twice ends the build.
template <std::size_t n>
constexpr SayingTable said(const SayingTranslation (&translations)[n]) {
  SayingTable table{};
  for (const SayingTranslation& t : translations) {
    const char*& text = table[static_cast<std::size_t>(t.id)];
    if (text != nullptr) throw "a text stands in a table twice";
    text = t.text;
  }
  return table;
}

#define X(id, translated) {Saying::id, translated},
constexpr SayingTable sayings_de = said({
#include "sayings_de.def"
});
constexpr SayingTable sayings_ja = said({
#include "sayings_ja.def"
});
constexpr SayingTable sayings_ko = said({
#include "sayings_ko.def"
});
constexpr SayingTable sayings_zh_tw = said({
#include "sayings_zh_tw.def"
});
constexpr SayingTable sayings_pt_br = said({
#include "sayings_pt_br.def"
});
#undef X

#define X(id, translated)                                                               \
  static_assert(pattern::translates(translated, causes::english_speech[Saying::id], 2), \
                "sayings_de.def or sayings_pt_br.def: the names in " #id " are not those of sayings.inl");
#include "sayings_de.def"
#include "sayings_pt_br.def"
#undef X
#define X(id, translated)                                                                \
  static_assert(pattern::translates(translated, causes::english_speech[Saying::id], 1),  \
                "sayings_ja.def, sayings_ko.def or sayings_zh_tw.def: the names in " #id \
                " are not those of "                                                     \
                "sayings.inl");
#include "sayings_ja.def"
#include "sayings_ko.def"
#include "sayings_zh_tw.def"
#undef X

const SayingTable* said_in(Tongue tongue) {
  switch (tongue) {
    case Tongue::german: return &sayings_de;
    case Tongue::japanese: return &sayings_ja;
    case Tongue::korean: return &sayings_ko;
    case Tongue::chinese: return &sayings_zh_tw;
    case Tongue::portuguese: return &sayings_pt_br;
    default: return nullptr;
  }
}

// What the table lacks is English; how it counts and writes numbers is as the other texts do.
Speech speech_in(Tongue tongue) {
  Speech speech = causes::english_speech;
  const SayingTable* const table = said_in(tongue);
  for (std::size_t i = 0; table != nullptr && i < table->size(); ++i)
    if ((*table)[i] != nullptr) speech.texts[i] = (*table)[i];
  speech.form = plural_rule(tongue);
  speech.group = tr(tongue, Text::number_group);
  speech.point = tr(tongue, Text::number_point);
  return speech;
}

}  // namespace

const Speech& speech_of(Tongue tongue) {
  static const std::array<Speech, tongue_tags.size()> all = [] {
    std::array<Speech, tongue_tags.size()> speeches;
    for (std::size_t i = 0; i < speeches.size(); ++i) speeches[i] = speech_in(static_cast<Tongue>(i));
    return speeches;
  }();
  return all[static_cast<std::size_t>(tongue)];
}

std::vector<std::string_view> missing_sayings(Tongue tongue) {
  std::vector<std::string_view> missing;
  const SayingTable* const table = said_in(tongue);
  for (std::size_t i = 0; table != nullptr && i < table->size(); ++i)
    if ((*table)[i] == nullptr) missing.push_back(causes::saying_ids[i]);
  return missing;
}

}  // namespace nanlens::viewer
