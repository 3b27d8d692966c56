#include "fault_words.hpp"

#include "translations.hpp"

namespace nanlens::viewer {

namespace {

using reader::FaultId;

#define X(id, translated) {FaultId::id, translated},
constexpr Translations<reader::num_faults> faults = {pattern::table_of<reader::num_faults, FaultId>({
#include "faults_de.def"
                                                     }),
                                                     pattern::table_of<reader::num_faults, FaultId>({
#include "faults_ja.def"
                                                     }),
                                                     pattern::table_of<reader::num_faults, FaultId>({
#include "faults_ko.def"
                                                     }),
                                                     pattern::table_of<reader::num_faults, FaultId>({
#include "faults_zh_tw.def"
                                                     }),
                                                     pattern::table_of<reader::num_faults, FaultId>({
#include "faults_pt_br.def"
                                                     })};
#undef X

}  // namespace

std::string fault_words(const reader::Fault& fault, Tongue tongue) {
  static const std::array<reader::FaultTexts, tongue_tags.size()> all = [] {
    std::array<reader::FaultTexts, tongue_tags.size()> texts;
    texts.fill(reader::english_faults);
    for (std::size_t i = 0; i < texts.size(); ++i)
      for (std::size_t id = 0; id < reader::num_faults; ++id)
        if (const char* const text = translated(faults, static_cast<Tongue>(i), id); text != nullptr)
          texts[i][id] = text;
    return texts;
  }();
  return reader::words(fault, all[static_cast<std::size_t>(tongue)]);
}

std::vector<std::string_view> missing_faults(Tongue tongue) {
  std::vector<std::string_view> missing = missing_of<reader::num_faults>(faults, tongue, reader::fault_ids);
  std::erase(missing, "none");
  return missing;
}

}  // namespace nanlens::viewer
