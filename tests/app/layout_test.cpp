// Where panes are: the default places, moving them, and the text that travels in links.
#include <doctest/doctest.h>

#include <string>

#include "app/layout.hpp"

namespace viewer = nanlens::viewer;
using viewer::Layout;
using viewer::Pane;
using viewer::Rect;
using viewer::Side;

namespace {

constexpr Rect window{0, 64, 1280, 634};

// Every place lies within the window, and none lies over another.
void check_places(const Layout& layout, const Rect& area) {
  for (std::size_t i = 0; i < viewer::num_panes; ++i) {
    const Rect& a = layout.place(static_cast<Pane>(i));
    if (a.w == 0) continue;
    CHECK(a.x >= area.x);
    CHECK(a.y >= area.y);
    CHECK(a.right() <= area.right() + 0.5f);
    CHECK(a.bottom() <= area.bottom() + 0.5f);
    CHECK(a.w >= Layout::rail_width);
    CHECK(a.h > 40);
    for (std::size_t k = 0; k < i; ++k) {
      const Rect both = a.intersect(layout.place(static_cast<Pane>(k)));
      CHECK(both.w * both.h == 0);
    }
  }
}

int count_shown(const Layout& layout) {
  int shown = 0;
  for (std::size_t i = 0; i < viewer::num_panes; ++i) shown += layout.place(static_cast<Pane>(i)).w > 0 ? 1 : 0;
  return shown;
}

}  // namespace

TEST_CASE("the default layout has the reference's places, and shares that refer to the whole band") {
  const viewer::Ui ui;
  Layout layout;
  layout.arrange(window, ui, false, false);
  CHECK(count_shown(layout) == 6);
  check_places(layout, window);
  CHECK(layout.place(Pane::alerts).w == doctest::Approx(1280 * 0.17).epsilon(0.01));
  CHECK(layout.place(Pane::rows).w == doctest::Approx(1280 * 0.41).epsilon(0.01));
  CHECK(layout.place(Pane::source).w == doctest::Approx(1280 * 0.70).epsilon(0.01));
  CHECK(layout.place(Pane::rows).right() == window.right());
  const float before = layout.place(Pane::rows).w;
  layout.at[0] = 0.25f;  // Alerts grow at the cost of the middle alone
  layout.arrange(window, ui, false, false);
  CHECK(layout.place(Pane::rows).w == before);
}

TEST_CASE("a narrow window has tabs, a phone one pane") {
  const viewer::Ui ui;
  Layout layout;
  const Rect narrow{0, 0, 800, 600};
  layout.arrange(narrow, ui, false, false);
  CHECK(count_shown(layout) == 5);
  CHECK(layout.place(Pane::graph).w == 0);
  layout.raise(Pane::graph);
  layout.arrange(narrow, ui, false, false);
  CHECK(layout.place(Pane::rows).w == 0);
  CHECK(layout.place(Pane::graph).w > 300);
  layout.arrange({0, 0, 390, 700}, ui, true, false);
  CHECK(count_shown(layout) == 1);
  CHECK(layout.place(Pane::graph).w == 390);
}

TEST_CASE("where all ops ran eagerly what is around them has the room of the rows; what the user arranged stays") {
  const viewer::Ui ui;
  Layout layout;
  layout.arrange(window, ui, false, true);
  CHECK(count_shown(layout) == 5);
  CHECK(layout.place(Pane::rows).w == 0);
  CHECK(layout.place(Pane::graph).w == doctest::Approx(1280 * 0.41).epsilon(0.01));
  CHECK(layout.is_default());
  layout.raise(Pane::rows);
  layout.arrange(window, ui, false, true);
  CHECK(layout.place(Pane::graph).w == 0);
  REQUIRE(layout.move(Pane::graph, Pane::stack, Side::tab));  // from where it was seen
  CHECK(layout.text() == "R2C0ac1teC4sTkg.");
  layout.arrange(window, ui, false, false);
  CHECK(layout.text() == "R2C0ac1teC4sTkg.");
  layout.reset();
  layout.arrange({0, 0, 800, 600}, ui, false, true);
  CHECK(layout.place(Pane::graph).w > 300);
  CHECK(layout.place(Pane::rows).w == 0);
}

TEST_CASE("a pane moves beside another, to an edge, becomes a tab, leaves and comes back") {
  const viewer::Ui ui;
  Layout layout;
  layout.arrange(window, ui, false, false);
  REQUIRE(layout.move(Pane::stack, Pane::alerts, Side::bottom));
  layout.arrange(window, ui, false, false);
  check_places(layout, window);
  CHECK(layout.place(Pane::stack).x == 0);
  CHECK(layout.place(Pane::stack).y > layout.place(Pane::alerts).bottom());
  CHECK(layout.place(Pane::source).w == 1280);
  CHECK(!layout.is_default());

  REQUIRE(layout.move(Pane::graph, Pane::rows, Side::tab));
  layout.arrange(window, ui, false, false);
  CHECK(layout.place(Pane::graph).w > 0);
  CHECK(layout.place(Pane::rows).w == 0);
  CHECK(layout.group_of(Pane::rows).size() == 2);
  CHECK(!layout.move(Pane::graph, Pane::rows, Side::tab));  // it is there already
  CHECK(!layout.move(Pane::alerts, Pane::alerts, Side::left));

  REQUIRE(layout.move(Pane::alerts, std::nullopt, Side::right));
  layout.arrange(window, ui, false, false);
  check_places(layout, window);
  CHECK(layout.place(Pane::alerts).right() == 1280);
  CHECK(layout.place(Pane::alerts).h == window.h);

  const Rect was = layout.place(Pane::timeline);
  layout.detach(Pane::timeline, true);
  layout.arrange(window, ui, false, false);
  CHECK(layout.place(Pane::timeline).w == 0);
  check_places(layout, window);
  layout.detach(Pane::timeline, false);
  layout.arrange(window, ui, false, false);
  CHECK(layout.place(Pane::timeline).x == was.x);
  CHECK(layout.place(Pane::timeline).w == was.w);

  layout.reset();
  CHECK(layout.is_default());
}

TEST_CASE("every pane can go to every side of every other, and the text brings each layout back") {
  const viewer::Ui ui;
  for (std::size_t p = 0; p < viewer::num_panes; ++p)
    for (std::size_t t = 0; t < viewer::num_panes; ++t)
      for (std::size_t s = 0; s < viewer::side_ids.size(); ++s) {
        Layout layout;
        layout.arrange(window, ui, false, false);
        // From another layout than the first, and twice.
        layout.move(Pane::source, Pane::graph, Side::tab);
        const bool tabs = (p == 3 || p == 4) && (t == 3 || t == 4);  // the two that share a place
        const bool to_tab = static_cast<Side>(s) == Side::tab;
        const bool moved = layout.move(static_cast<Pane>(p), static_cast<Pane>(t), static_cast<Side>(s));
        CHECK(moved == (tabs ? !to_tab : p != t));
        layout.arrange(window, ui, false, false);
        check_places(layout, window);
        Layout other;
        REQUIRE(other.read(layout.text()));
        CHECK(other.text() == layout.text());
      }
}

TEST_CASE("a text that is no layout changes nothing") {
  Layout layout;
  const std::string before = layout.text();
  for (const char* const text :
       {"", "a", "R2C0ac1R3tgeC4s", "R2C0ac1R3tgeC4ssk", "R2C0ac1R3tgeC4skx", "R2C2ac1R3tgeC4sk", "R9C0ac1R3tgeC4sk",
        "T", "Ta.", "Tategsk", "RRRRRRRRRRRRRRRR", "R2C0ac1R3tgeC4sk-z", "R\xff", "R2C0a"}) {
    CHECK(!layout.read(text));
    CHECK(layout.text() == before);
  }
  CHECK(layout.read("Tategsk."));
  CHECK(layout.read("R2C0ac1R3tgeC4sk-gk"));
  CHECK(layout.detached(Pane::graph));
  CHECK(layout.detached(Pane::stack));
}
