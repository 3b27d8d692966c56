// Texts: languages, placeholders, plural forms, numbers.
#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "../support/logdir_generator.hpp"
#include "engine/badges.hpp"
#include "placeholders.hpp"
#include "report/muted_causes.hpp"
#include "session.hpp"
#include "texts/numbers.hpp"
#include "texts/pattern.hpp"
#include "texts/texts.hpp"
#include "widgets/format.hpp"

using namespace nanlens::viewer;
namespace reader = nanlens::reader;

namespace {

/// A language until the end of a test.
class Speaking {
 public:
  explicit Speaking(Tongue tongue) { set_tongue(tongue); }
  ~Speaking() { set_tongue(Tongue::english); }
};

}  // namespace

TEST_CASE("placeholders are filled, words follow their number") {
  CHECK(tr(Text::alerts_total, {{"n", 1}}) == "1 tensor with NaN or infinity");
  CHECK(tr(Text::alerts_total, {{"n", 1234}}) == "1,234 tensors with NaN or infinity");
  CHECK(tr(Text::alerts_total, {{"n", 0}}) == "0 tensors with NaN or infinity");
  CHECK(tr(Text::execution_numbered, {{"index", 12345}}) == "execution #12345");
  CHECK(tr(Text::filter_bad_part, {{"part", "{n}"}, {"reason", "x"}}) == "Can't read “{n}”: x");
  CHECK(tr(Text::run_named, {}) == "run {id}");
}

TEST_CASE("a translation has its own words and separators; what it lacks is English") {
  const Speaking german(Tongue::german);
  CHECK(std::string(tr(Text::pane_alerts)) == "Alarme");
  CHECK(tr(Text::alerts_total, {{"n", 1234}}) == "1.234 Tensoren mit NaN oder Unendlich");
  CHECK(format_time(123.46) == "+2:03,5");
  CHECK(format_bytes(1.5e9) == "1,5\u00a0GB");
  CHECK(std::string(tr(Text::column_dtype)) == "dtype");
  CHECK(tr(Tongue::english, Text::alerts_total, {{"n", 2}}) == "2 tensors with NaN or infinity");
  CHECK(format_badge(missing_badge(Missing::not_recorded)) == "nicht aufgezeichnet");
  CHECK(missing_badge(Missing::not_recorded).text == "not recorded");
}

TEST_CASE("every language has every text") {
  for (std::size_t i = 0; i < tongue_tags.size(); ++i) {
    CAPTURE(tongue_tags[i]);
    for (const std::string_view id : missing_texts(static_cast<Tongue>(i)))
      FAIL_CHECK("missing in strings_", tongue_tags[i], ".def: ", id);
  }
}

TEST_CASE("words and numbers follow the rules of each language") {
  const auto counted = [](Tongue tongue, double n) {
    const Speaking speaking(tongue);
    return tr(Text::alerts_total, {{"n", n}});
  };
  CHECK(counted(Tongue::portuguese, 0) == "0 tensor com NaN ou infinito");
  CHECK(counted(Tongue::portuguese, 1) == "1 tensor com NaN ou infinito");
  CHECK(counted(Tongue::portuguese, 1234) == "1.234 tensores com NaN ou infinito");
  CHECK(counted(Tongue::german, 0) == "0 Tensoren mit NaN oder Unendlich");
  CHECK(counted(Tongue::japanese, 1) == "NaN または無限大を含むテンソル 1 個");
  CHECK(counted(Tongue::japanese, 1234) == "NaN または無限大を含むテンソル 1,234 個");
  CHECK(counted(Tongue::korean, 1234) == "NaN 또는 무한대가 있는 텐서 1,234개");
  CHECK(counted(Tongue::chinese, 1234) == "1,234 個張量含 NaN 或無限大");
}

TEST_CASE("a locale chooses its language, and one without a table none") {
  CHECK(tongue_of("de_AT.UTF-8") == Tongue::german);
  CHECK(tongue_of("ja_JP.eucJP") == Tongue::japanese);
  CHECK(tongue_of("ko") == Tongue::korean);
  CHECK(tongue_of("pt-PT") == Tongue::portuguese);
  CHECK(tongue_of("ca_ES@valencia") == std::nullopt);
  for (const char* traditional : {"zh_TW", "zh-Hant", "zh-Hant-HK", "zh_HK.Big5", "zh-MO"})
    CHECK(tongue_of(traditional) == Tongue::chinese);
  for (const char* none : {"zh_CN.UTF-8", "zh", "zh-Hans-HK", "C", "POSIX", "", "fr_FR"})
    CHECK(tongue_of(none) == std::nullopt);
  const auto with = [](const char* name, const char* value) {
    for (const char* const other : {"LC_ALL", "LC_MESSAGES", "LANG"}) unsetenv(other);
    setenv(name, value, 1);
    setenv("LANG", "pt_BR", 0);
    return tongue_of_environment();
  };
  CHECK(with("LC_ALL", "ja_JP.UTF-8") == Tongue::japanese);
  CHECK(with("LC_MESSAGES", "ko_KR") == Tongue::korean);
  CHECK(with("LC_ALL", "") == Tongue::portuguese);
  CHECK(with("LC_ALL", "C") == Tongue::english);
}

TEST_CASE("the pseudo-language is longer, marks its texts and keeps placeholders") {
  const Speaking pseudo(Tongue::pseudo);
  CHECK(std::string(tr(Text::pane_alerts)) == "[Ålérts··]");
  CHECK(tr(Text::graph_ops, {{"n", 1}}) == "[1 öp···]");
  CHECK(format_count(1234567) == "1,234,567");
}

TEST_CASE("times are rounded before they are split") {
  CHECK(format_time(59.9994) == "+59.999\u00a0s");
  CHECK(format_time(119.97) == "+2:00.0");
  CHECK(format_time(3723) == "+1:02:03");
  CHECK(format_time(9e10) == "+25000000:00:00");
  CHECK(format_time(-1.5) == "\u22121.500\u00a0s");
}

TEST_CASE("what a table must not hold is found") {
  CHECK(pattern::well_formed("{n:count} {n|row|rows} of {name}", 2));
  CHECK(!pattern::well_formed("{n", 2));
  CHECK(!pattern::well_formed("{}", 2));
  CHECK(!pattern::well_formed("{n:furlongs}", 2));
  CHECK(!pattern::well_formed("{n|row}", 2));
  CHECK(!pattern::well_formed("{n|row|rows|rowz}", 2));
  CHECK(pattern::slots_within("{a} {b|x|y}", "{b} {a:count} {c}"));
  CHECK(!pattern::slots_within("{a} {d}", "{a}"));
  CHECK(pattern::form("one|few|other", 2) == "other");
}

TEST_CASE("the engine answers in the view's language") {
  nanlens::test::Session s(nanlens::test::open_directory);
  const Speaking restore(Tongue::english);
  s.open(std::string(NANLENS_GOLDEN_DIR) + "/core.FULL_HEALTH");
  s.view.tongue = Tongue::german;
  s.view.filter = "nan>";
  s.show();
  CHECK(s.rows.filter_error == "hier fehlt eine Zahl");
  s.select(IntentKind::trace, 1000000000);
  CHECK(s.selection.notice == "Es gibt keine Zeile 1000000000.");
}

TEST_CASE("what was said in another language before is said anew, and nothing before the view asks for it") {
  std::map<std::string, std::string> files;
  for (const int rank : {0, 1})
    files.merge(nanlens::test::generated_files({.calls = 4, .bad_every = 7, .id_prefix = "r" + std::to_string(rank)},
                                               "tfdbg_events.1700000000.host.rank" + std::to_string(rank)));
  nanlens::test::Session s([&](const std::string&, std::string&) {
    auto storage = std::make_unique<nanlens::reader::MemoryStorage>();
    for (const auto& [name, bytes] : files) storage->put(name, bytes);
    return storage;
  });
  const Speaking restore(Tongue::english);
  s.view.alerts_by = "rank";
  s.open("job");
  s.view.filter = "nan>";
  s.show();
  s.select(IntentKind::first_bad);
  const std::string cause = s.selection.cause;
  const std::string headline = s.explanation.causes.at(0).sentence;
  const std::string key = s.alerts.lines.at(0).key;
  REQUIRE_FALSE(cause.empty());
  const std::string number = s.alerts.lines[0].text.substr(std::string("rank ").size());
  REQUIRE(s.alerts.lines[0].text == "rank " + number);
  CHECK(s.rows.filter_error == "a number is missing here");
  // As the window's thread does it, a moment before the engine hears of it.
  set_tongue(Tongue::german);
  s.select(IntentKind::first_bad);
  CHECK(s.selection.cause == cause);
  s.view.tongue = Tongue::german;
  s.show();
  CHECK(s.selection.cause != cause);
  CHECK(s.explanation.causes.at(0).sentence != headline);
  CHECK(s.overview.verdict.cause.sentence == s.explanation.causes[0].sentence);
  CHECK(s.rows.filter_error == "hier fehlt eine Zahl");
  CHECK(s.alerts.lines.at(0).text == "Rang " + number);
  CHECK(s.alerts.lines[0].key == key);
}

TEST_CASE("marks beyond the third are counted in the language of what they are told in") {
  nanlens::report::Mute mark;
  mark.file = "nanlens.mutes";
  mark.line = 4;
  const std::vector<const nanlens::report::Mute*> marks(5, &mark);
  const std::string three = "nanlens.mutes:4, nanlens.mutes:4, nanlens.mutes:4";
  CHECK(nanlens::report::mark_words(marks, false, Tongue::english) == three + " and 2 more lines");
  CHECK(nanlens::report::mark_words(marks, false, Tongue::german) == three + " und 2 weitere Zeilen");
}
