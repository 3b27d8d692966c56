// Tables of texts in every language: complete, without holes, and with a word beside every number.
#include <doctest/doctest.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nanlens/causes/speech.hpp>
#include <nanlens/query/rule.hpp>
#include <nanlens/query/standard_rules.hpp>

#include "placeholders.hpp"
#include "texts/fault_words.hpp"
#include "texts/pattern.hpp"
#include "texts/rule_reasons.hpp"
#include "texts/texts.hpp"

using namespace nanlens;
using viewer::Text;
using viewer::Tongue;

namespace {

constexpr std::pair<Text, std::string_view> all_texts[] = {
#define X(id, english) {Text::id, #id},
#include "texts/strings.def"
#undef X
};

constexpr Tongue tongues[] = {Tongue::english, Tongue::german,  Tongue::japanese,
                              Tongue::korean,  Tongue::chinese, Tongue::portuguese};

std::size_t double_blanks(std::string_view text) {
  std::size_t n = 0;
  for (std::size_t at = text.find("  "); at != std::string_view::npos; at = text.find("  ", at + 2)) ++n;
  return n;
}

// Is there a letter outside of the braces, or a word that a number chooses?
bool has_word(std::string_view text) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0xc3;
  };
  std::size_t done = 0;
  using viewer::pattern::next_slot;
  for (auto slot = next_slot(text, 0); slot.begin != std::string_view::npos; slot = next_slot(text, slot.end)) {
    const std::string_view before = text.substr(done, slot.begin - done);
    if (!slot.forms.empty() || std::any_of(before.begin(), before.end(), is_letter)) return true;
    done = slot.end;
  }
  const std::string_view rest = text.substr(done);
  return std::any_of(rest.begin(), rest.end(), is_letter);
}

// All that faults may name.
reader::Fault fault_of(std::size_t id) {
  reader::Fault fault(static_cast<reader::FaultId>(id), {{"n", 1234567}, {"most", 89}});
  for (const char* const name : {"name", "graph", "input", "version", "expected"}) fault.values.emplace_back(name, "a");
  fault.reason.emplace_back(reader::FaultId::it_shrank);
  fault.told = "told";
  return fault;
}

// What is written in the tables: in German and Portuguese numbers choose one of two forms, elsewhere there is but one.
using viewer::pattern::Translation;
#define X(id, text) {Text::id, text},
constexpr Translation<Text> texts_of_two_forms[] = {
#include "texts/strings_de.def"
#include "texts/strings_pt_br.def"
};
constexpr Translation<Text> texts_of_one_form[] = {
#include "texts/strings_ja.def"
#include "texts/strings_ko.def"
#include "texts/strings_zh_tw.def"
};
#undef X
#define X(id, text) {causes::Saying::id, text},
constexpr Translation<causes::Saying> sayings_of_two_forms[] = {
#include "texts/sayings_de.def"
#include "texts/sayings_pt_br.def"
};
constexpr Translation<causes::Saying> sayings_of_one_form[] = {
#include "texts/sayings_ja.def"
#include "texts/sayings_ko.def"
#include "texts/sayings_zh_tw.def"
};
#undef X
#define X(id, text) {reader::FaultId::id, text},
constexpr Translation<reader::FaultId> fault_texts[] = {
#include "texts/faults_de.def"
#include "texts/faults_ja.def"
#include "texts/faults_ko.def"
#include "texts/faults_pt_br.def"
#include "texts/faults_zh_tw.def"
};
#undef X

std::string_view original(Text id) { return viewer::tr(Tongue::english, id); }
std::string_view original(causes::Saying id) { return causes::english_speech[id]; }
std::string_view original(reader::FaultId id) { return reader::english_faults[static_cast<std::size_t>(id)]; }

template <class Id>
void check_placeholders(std::span<const Translation<Id>> translations, std::size_t forms) {
  for (const Translation<Id>& t : translations) {
    const std::string_view text = t.text;
    CAPTURE(text);
    CHECK(viewer::pattern::translates(text, original(t.id), forms));
  }
}

}  // namespace

TEST_CASE("translations have the placeholders of their originals, and as many forms as their language") {
  for (const auto& [id, name] : all_texts) {
    CAPTURE(name);
    CHECK(viewer::pattern::well_formed(original(id), 2));
  }
  check_placeholders<Text>(texts_of_two_forms, 2);
  check_placeholders<Text>(texts_of_one_form, 1);
  check_placeholders<causes::Saying>(sayings_of_two_forms, 2);
  check_placeholders<causes::Saying>(sayings_of_one_form, 1);
  check_placeholders<reader::FaultId>(fault_texts, 1);
}

TEST_CASE("no translation has blanks or bare numbers where the English text has none") {
  for (const auto& [id, name] : all_texts)
    for (const Tongue tongue : tongues) {
      const std::string_view english = viewer::tr(Tongue::english, id);
      const std::string_view text = viewer::tr(tongue, id);
      CAPTURE(name);
      CAPTURE(text);
      CHECK(double_blanks(text) <= double_blanks(english));
      CHECK(text.empty() == english.empty());
      CHECK((text.starts_with(' ') == english.starts_with(' ') && text.ends_with(' ') == english.ends_with(' ')));
      // What chooses a word by a number counts things: they are named in every language.
      CHECK((has_word(text) || english.find('|') == std::string_view::npos));
    }
}

TEST_CASE("every language can tell every fault, with what it names") {
  for (const Tongue tongue : tongues) {
    CAPTURE(viewer::tongue_tags[static_cast<std::size_t>(tongue)]);
    for (const std::string_view id : viewer::missing_faults(tongue)) FAIL_CHECK("missing: ", id);
    for (std::size_t id = 1; id < reader::num_faults; ++id) {
      const std::string text = viewer::fault_words(fault_of(id), tongue);
      const std::string english = viewer::fault_words(fault_of(id), Tongue::english);
      CAPTURE(text);
      CHECK(!text.empty());
      CHECK(text.find_first_of("{}") == std::string::npos);
      CHECK(double_blanks(text) == 0);
      for (const char* const value : {"1234567", "89", "\"a\"", "told"})
        CHECK((text.find(value) == std::string::npos) == (english.find(value) == std::string::npos));
    }
  }
}

TEST_CASE("rules that ship say in every language why they matter; other rules what is written") {
  std::vector<query::Rule> rules;
  REQUIRE(!query::parse_rules(query::standard_rules, rules));
  for (const Tongue tongue : tongues) {
    viewer::set_tongue(tongue);
    CAPTURE(viewer::tongue_tags[static_cast<std::size_t>(tongue)]);
    for (const query::Rule& rule : rules) {
      CAPTURE(rule.reason);
      CHECK((viewer::rule_reason(rule.reason) == rule.reason) == (tongue == Tongue::english));
    }
    CHECK(viewer::rule_reason("of ours") == "of ours");
  }
  viewer::set_tongue(Tongue::english);
}

TEST_CASE("a fault names what it is about in quotes, and why") {
  using reader::FaultId;
  CHECK(words(reader::Fault(FaultId::graph_missing, {{"name", "g\"1"}})) ==
        "graph \"g\"1\" is referred to but not on record");
  const std::string cut = words(reader::Fault(FaultId::op_missing, {{"name", std::string(1000, 'x')}}));
  CHECK(cut == "op \"" + std::string(200, 'x') + "…\" (1000 bytes) has traces but its creation is not on record");
  const reader::Fault told = reader::fault_because(FaultId::cant_open, reader::told_fault("there is no such file"));
  CHECK(words(told) == "the file can't be opened: there is no such file");
  CHECK(viewer::fault_words(told, Tongue::german) == "die Datei lässt sich nicht öffnen: es gibt keine solche Datei");
  const reader::Fault other = reader::fault_because(FaultId::cant_open, reader::told_fault("Permission denied"));
  CHECK(viewer::fault_words(other, Tongue::german) == "die Datei lässt sich nicht öffnen: Permission denied");
}
