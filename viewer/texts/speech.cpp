#include "speech.hpp"

#include "translations.hpp"

namespace nanlens::viewer {

namespace {

using causes::Saying;
using causes::Speech;
#define X(id, translated) {Saying::id, translated},
constexpr Translations<causes::num_sayings> said = {pattern::table_of<causes::num_sayings, Saying>({
#include "sayings_de.def"
                                                    }),
                                                    pattern::table_of<causes::num_sayings, Saying>({
#include "sayings_ja.def"
                                                    }),
                                                    pattern::table_of<causes::num_sayings, Saying>({
#include "sayings_ko.def"
                                                    }),
                                                    pattern::table_of<causes::num_sayings, Saying>({
#include "sayings_zh_tw.def"
                                                    }),
                                                    pattern::table_of<causes::num_sayings, Saying>({
#include "sayings_pt_br.def"
                                                    })};
#undef X

// What the table lacks is English; how it counts and writes numbers is as the other texts do.
Speech speech_in(Tongue tongue) {
  Speech speech = causes::english_speech;
  for (std::size_t i = 0; i < causes::num_sayings; ++i)
    if (const char* const text = translated(said, tongue, i); text != nullptr) speech.texts[i] = text;
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
  return missing_of<causes::num_sayings>(said, tongue, causes::saying_ids);
}

}  // namespace nanlens::viewer
