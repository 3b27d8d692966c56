// How numbers and names are shown, and how source text is taken apart.
#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <vector>

#include "engine/badges.hpp"
#include "engine/run_index.hpp"
#include "widgets/format.hpp"
#include "widgets/health_bar.hpp"
#include "widgets/syntax.hpp"

namespace viewer = nanlens::viewer;
using viewer::BadgeKind;
using viewer::Language;
using viewer::TokenKind;

namespace {

// "keyword", "plain" … of each token with its text, blanks left out.
std::string describe(Language language, const std::string& line, viewer::LineState& state) {
  std::string out;
  for (const auto& t : viewer::tokenize(language, line, state)) {
    const std::string text = line.substr(t.begin, t.end - t.begin);
    if (text.find_first_not_of(' ') == std::string::npos) continue;
    constexpr const char* names[] = {"p", "k", "l", "c"};
    out += (out.empty() ? "" : " ") + std::string(names[static_cast<std::size_t>(t.kind)]) + "[" + text + "]";
  }
  return out;
}

}  // namespace

TEST_CASE("counts, bytes and times") {
  CHECK(viewer::format_count(0) == "0");
  CHECK(viewer::format_count(392000) == "392,000");
  CHECK(viewer::format_count(9999999) == "9,999,999");
  CHECK(viewer::format_count(12345678) == "12.3\u00a0M");
  CHECK(viewer::format_count(1.2e9) == "1.20\u00a0G");
  CHECK(viewer::format_short_count(99999) == "99,999");
  CHECK(viewer::format_short_count(392000) == "392\u00a0k");
  CHECK(viewer::format_bytes(786e6) == "786\u00a0MB");
  CHECK(viewer::format_bytes(999) == "999\u00a0B");
  CHECK(viewer::format_time(0.897) == "+0.897\u00a0s");
  CHECK(viewer::format_time(123.4) == "+2:03.4");
  CHECK(viewer::format_time(3723) == "+1:02:03");
  CHECK(viewer::format_duration(1.24e-3) == "1.24\u00a0ms");
}

TEST_CASE("numbers of damaged records are no reason to make others up") {
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(viewer::format_count(1e300) == "1e+288\u00a0T");
  CHECK(viewer::format_count(-infinity) == "-inf");
  CHECK(viewer::format_time(1e300) == "+1e+300\u00a0s");
  CHECK(viewer::format_time(-infinity) == "\u2212inf\u00a0s");
  CHECK(viewer::format_wall_time(1e300) == "1e+300\u00a0s");
  CHECK(viewer::format_wall_time(1e10).starts_with("2286-"));
  CHECK(viewer::format_badge({BadgeKind::rank, infinity, {}}) == "infD");
  const auto text = [](nanlens::TensorDebugMode mode, std::vector<double> values) {
    return viewer::format_badges(viewer::badges_of(static_cast<std::int32_t>(mode), values, nullptr));
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::string nothing = viewer::format_badges({viewer::missing_badge(viewer::Missing::not_checked)});
  CHECK(text(nanlens::TensorDebugMode::shape, {0, 1, 2, 6, infinity, 3, 0, 0, 0, 0}) == nothing);
  CHECK(text(nanlens::TensorDebugMode::shape, {0, 1, nan, 6, 2, 3, 0, 0, 0, 0}) == nothing);
  CHECK(text(nanlens::TensorDebugMode::shape, {0, 1e300, 2, 6, 2, 3, 0, 0, 0, 0}).starts_with("2D  [2,3]"));
  CHECK(text(nanlens::TensorDebugMode::shape, {0, 101, 2, 6, 2, 3, 0, 0, 0, 0}).starts_with("dtype 101  2D  [2,3]"));
}

TEST_CASE("badges and names") {
  CHECK(viewer::format_badge({BadgeKind::ninf, 300, {}}) == "\u2212∞\u00a0300");
  CHECK(viewer::format_badge({BadgeKind::rank, 2, {}}) == "2D");
  CHECK(viewer::format_badge({BadgeKind::size, 0, {}}) == "0 elements");
  CHECK(viewer::initial("__forward_model_3") == "m");
  CHECK(viewer::initial("__inference___backward_loss_1") == "_");
  CHECK(viewer::initial("MatMul") == "M");
  CHECK(viewer::initial("aten::_softmax") == "s");
  CHECK(viewer::initial("c10d::allreduce_") == "a");
  CHECK(viewer::initial("odd::") == "o");
  CHECK(viewer::stripped_name("__forward_loss_470") == "loss");
  CHECK(viewer::stripped_name("Log") == "Log");
  CHECK(viewer::base_name("/a/b/c.py") == "c.py");
}

TEST_CASE("source text of Python and C++") {
  viewer::LineState state;
  CHECK(describe(Language::python, "def f(x): # note", state) == "k[def] p[f] p[(] p[x] p[): ] c[# note]");
  CHECK(describe(Language::python, "s = \"\"\"open", state) == "p[s] p[ = ] l[\"\"\"open]");
  CHECK(describe(Language::python, "still \"\"\" + 1", state) == "l[still \"\"\"] p[ + ] l[1]");
  CHECK(state.in_string == 0);
  CHECK(describe(Language::cpp, "return 1'000; // x", state) == "k[return] l[1'000] p[; ] c[// x]");
  CHECK(describe(Language::cpp, "a /* b", state) == "p[a] c[/* b]");
  CHECK(describe(Language::cpp, "c */ d", state) == "c[c */] p[d]");
  CHECK(viewer::language_of("/x/y.py") == Language::python);
  CHECK(viewer::language_of("a.hpp") == Language::cpp);
  CHECK(viewer::language_of("Makefile") == Language::none);
  // Every byte belongs to exactly one token.
  for (const std::string line : {"x = 'it\\'s' # é∞", "\"", "''' a", "//", "a/b", "0x1p-3"}) {
    for (const Language language : {Language::none, Language::python, Language::cpp}) {
      viewer::LineState fresh;
      std::size_t at = 0;
      for (const auto& t : viewer::tokenize(language, line, fresh)) {
        CHECK(t.begin == at);
        at = t.end;
      }
      CHECK(at == line.size());
    }
  }
}

TEST_CASE("the health bar shares its width by counts, and a single bad element is still seen") {
  const auto segments = [](std::vector<viewer::Badge> badges) { return viewer::health_segments(badges, 56, 3); };
  // One NaN among a million: 3 of 56 pixels, the rest is shared by the others as their counts are.
  const auto one = segments({{BadgeKind::size, 1e6, {}}, {BadgeKind::nan, 1, {}}, {BadgeKind::pos, 999999, {}}});
  REQUIRE(one);
  CHECK((*one)[0] == doctest::Approx(3));
  CHECK((*one)[5] == doctest::Approx(53));
  const auto half = segments({{BadgeKind::size, 10, {}}, {BadgeKind::ninf, 5, {}}, {BadgeKind::zero, 5, {}}});
  REQUIRE(half);
  CHECK((*half)[1] == doctest::Approx(28));
  CHECK((*half)[4] == doctest::Approx(28));
  CHECK((*half)[0] == 0);
  // CONCISE_HEALTH: what is not bad is of an unknown kind, and no segment claims it.
  const auto concise = segments({{BadgeKind::size, 100, {}}, {BadgeKind::pinf, 50, {}}});
  REQUIRE(concise);
  CHECK((*concise)[2] == doctest::Approx(28));
  CHECK((*concise)[3] + (*concise)[4] + (*concise)[5] == 0);
  // Widening one bad segment must not make another one too narrow.
  const auto three = segments({{BadgeKind::nan, 1, {}}, {BadgeKind::ninf, 54, {}}, {BadgeKind::pos, 945, {}}});
  REQUIRE(three);
  CHECK((*three)[0] == doctest::Approx(3));
  CHECK((*three)[1] >= 3 - 1e-4);
  CHECK((*three)[0] + (*three)[1] + (*three)[5] == doctest::Approx(56));
  CHECK(!segments({{BadgeKind::curt, 1, {}}}));
  CHECK(!segments({{BadgeKind::size, 0, {}}}));
}
