// Sentences about causes in every language: complete, without holes, and with the numbers of the English ones.
#include <doctest/doctest.h>

#include <set>
#include <string>

#include "../causes/generated_causes.hpp"
#include "texts/speech.hpp"

using namespace nanlens;
using viewer::Tongue;

namespace {

// Whole numbers, without what separates thousands.
std::set<std::string> numbers_in(const std::string& text, const causes::Speech& speech) {
  std::set<std::string> numbers;
  std::string digits;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const bool digit = i < text.size() && text[i] >= '0' && text[i] <= '9';
    const bool group = !digits.empty() && i + 1 < text.size() && text.substr(i, 1) == speech.group &&
                       text[i + 1] >= '0' && text[i + 1] <= '9';
    if (digit) digits += text[i];
    if (digit || group || digits.empty()) continue;
    numbers.insert(digits);
    digits.clear();
  }
  return numbers;
}

// Why a text can't be shown; empty if it can.
std::string fault_of(const std::string& text) {
  if (text.empty()) return "empty";
  if (text.find_first_of("{}|") != std::string::npos) return "placeholder";
  if (text.front() == ' ') return "blank in front";
  for (const char* wrong : {"  ", " .", " ,", " ;", " :", " )", "( ", "()", "..", "。。", "。.", "；；", " 。", "（）"})
    if (text.find(wrong) != std::string::npos) return std::string("'") + wrong + "'";
  return {};
}

constexpr Tongue translations[] = {Tongue::german, Tongue::japanese, Tongue::korean, Tongue::chinese,
                                   Tongue::portuguese};

}  // namespace

TEST_CASE("every language can say everything") {
  for (const Tongue tongue : translations) {
    CAPTURE(viewer::tongue_tags[static_cast<std::size_t>(tongue)]);
    for (const std::string_view id : viewer::missing_sayings(tongue)) FAIL_CHECK("missing: ", id);
  }
}

TEST_CASE("thousands of generated causes in every language: no hole, and the numbers of the English sentence") {
  std::set<std::string> faults;
  std::size_t turn = 0;
  std::size_t sentences = 0;
  test::for_each_cause([&](const causes::CauseFacts& f) {
    if (++turn % 17 != 0) return;  // all in all they would take as long as five of the English test
    const causes::Words english = causes::word(f);
    for (const Tongue tongue : translations) {
      const causes::Speech& speech = viewer::speech_of(tongue);
      const causes::Words words = causes::word(f, speech);
      ++sentences;
      for (const auto& [text, original] : {std::pair{words.text, english.text}, {words.remedy, english.remedy}}) {
        std::string fault = fault_of(text);
        if (fault.empty() && numbers_in(text, speech) != numbers_in(original, causes::english_speech))
          fault = "other numbers than: " + original;
        if (!fault.empty() && faults.size() < 50) faults.insert(text + "  <- " + fault);
      }
    }
  });
  for (const std::string& fault : faults) FAIL_CHECK(fault);
  CHECK(sentences > 15'000);
}
