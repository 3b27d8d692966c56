// Texts that have less room than they need.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "engine/badges.hpp"
#include "headless.hpp"

using nanlens::test::Headless;
namespace viewer = nanlens::viewer;

TEST_CASE("a text is cut where it is asked for, shows all that has room, and takes no longer for being endless") {
  Headless v;
  const viewer::Ui& ui = v.app().ui;
  const auto fit = [&](const std::string& text, float width, viewer::Ellipsis at) {
    return ui.fit(ui.sans, 13, text, width, at);
  };
  const auto width_of = [&](const std::string& text) { return ui.text_width(ui.sans, 13, text); };
  const std::string name = "model/layer_12/\u03b1\u0416\u221e/dense/kernel";
  CHECK(fit(name, width_of(name), viewer::Ellipsis::left) == name);
  const float narrow = width_of(name) * 0.6F;
  const std::string left = fit(name, narrow, viewer::Ellipsis::left);
  const std::string middle = fit(name, narrow, viewer::Ellipsis::middle);
  const std::string right = fit(name, narrow, viewer::Ellipsis::right);
  for (const std::string& shown : {left, middle, right}) {
    CAPTURE(shown);
    CHECK(width_of(shown) <= narrow);
    CHECK(width_of(shown) > narrow - 26);  // no other two letters had room
  }
  CHECK((left.starts_with("…") && left.ends_with("dense/kernel")));
  CHECK((right.starts_with("model/layer_12/") && right.ends_with("…")));
  CHECK((middle.starts_with("model/") && middle.ends_with("kernel") && middle.find("…") != std::string::npos));
  CHECK(fit(name, 1, viewer::Ellipsis::right).empty());
  CHECK(fit(name, -5, viewer::Ellipsis::left).empty());
  // The narrowest letters there are: of these a million has no more room than a thousand.
  const std::string thousand(1000, 'l');
  const std::string million(1000000, 'l');
  for (const viewer::Ellipsis at : {viewer::Ellipsis::left, viewer::Ellipsis::middle, viewer::Ellipsis::right}) {
    CHECK(fit(million, 300, at) == fit(thousand, 300, at));
    CHECK(width_of(fit(million, 300, at)) > 290);
  }
}

TEST_CASE("a text has room in what is left of its width and margins less these, at every scale") {
  Headless v;
  viewer::Ui& ui = v.app().ui;
  for (int percent = 100; percent <= 400; ++percent) {
    ui.scale = static_cast<float>(percent) / 100;
    for (const std::string text : {"v", "in 0", "float32"}) {
      CAPTURE(percent);
      CAPTURE(text);
      const float room = ui.text_width(ui.mono, 11, text) + ui.px(8) - 2 * ui.px(4);
      CHECK(ui.fit(ui.mono, 11, text, room, viewer::Ellipsis::right) == text);
    }
  }
}

TEST_CASE("bad counts that have no room keep their signs, and lose their numbers from the right") {
  Headless v;
  const viewer::Ui& ui = v.app().ui;
  using viewer::BadgeKind;
  const std::vector<viewer::Badge> badges = {
      {BadgeKind::size, 64, {}}, {BadgeKind::nan, 22, {}}, {BadgeKind::ninf, 60, {}}, {BadgeKind::zero, 4, {}}};
  const std::vector<viewer::Badge> bad = viewer::bad_badges(badges);
  const float whole = ui.badges_width(badges);
  const float of_bad = ui.badges_width(bad);
  ImGui::NewFrame();
  ImGui::Begin("badges");
  const auto drawn = [&](const std::vector<viewer::Badge>& list, float width) {
    return ui.badges({0, 0}, width, 20, list);
  };
  CHECK(drawn(badges, whole) == whole);
  CHECK(drawn(badges, of_bad + 26) < whole);  // "+2" for the size and the zeros
  CHECK(drawn(badges, of_bad + 26) >= of_bad);
  const float number = ui.text_width(ui.mono, 11, "\u00a060");
  CHECK(drawn(bad, of_bad) == of_bad);
  CHECK(drawn(bad, of_bad - 10) == doctest::Approx(of_bad - number));      // "NaN 22" and "−∞"
  CHECK(drawn(bad, of_bad - 30) == doctest::Approx(of_bad - 2 * number));  // "NaN" and "−∞"
  CHECK(drawn(bad, 1) == doctest::Approx(of_bad - 2 * number));            // nothing bad is left out
  ImGui::End();
  ImGui::Render();
}
