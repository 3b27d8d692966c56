// Texts that have less room than they need.
#include <doctest/doctest.h>

#include <string>

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
