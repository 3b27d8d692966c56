#include <nanlens/reader/places_in_order.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

using nanlens::reader::places_in_order;

TEST_CASE("places in order: as a stable sort has them") {
  std::mt19937_64 random(7);
  for (const std::uint64_t mask : {~std::uint64_t{0}, std::uint64_t{3}, std::uint64_t{0xff00'0000'0000'00ff}}) {
    for (const std::size_t n : {0U, 1U, 2U, 255U, 256U, 257U, 5000U}) {
      CAPTURE(n);
      std::vector<std::uint64_t> keys(n);
      for (std::uint64_t& key : keys) key = random() & mask;
      std::vector<std::size_t> expected(n);
      std::iota(expected.begin(), expected.end(), std::size_t{0});
      std::sort(expected.begin(), expected.end(),
                [&](std::size_t a, std::size_t b) { return keys[a] != keys[b] ? keys[a] < keys[b] : a < b; });
      CHECK(places_in_order(keys) == expected);
    }
  }
}

TEST_CASE("places in order: equal keys stay as they are") {
  CHECK(places_in_order({5, 5, 5}) == std::vector<std::size_t>{0, 1, 2});
  CHECK(places_in_order({~std::uint64_t{0}, 0, ~std::uint64_t{0}, 0}) == std::vector<std::size_t>{1, 3, 0, 2});
}
