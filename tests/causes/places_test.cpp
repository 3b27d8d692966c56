// Places of bad elements as a file has them, which may be anything.
#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <nanlens/causes/evidence.hpp>
#include <nanlens/causes/magnitude.hpp>

using namespace nanlens;
using causes::TensorEvidence;

namespace {

TensorEvidence evidence(std::vector<std::int64_t> shape, std::vector<std::int64_t> positions) {
  TensorEvidence e;
  e.looked_at = true;
  e.dtype = static_cast<std::int32_t>(DType::float32);
  e.shape = std::move(shape);
  e.positions = std::move(positions);
  e.counts = {0, 0, 1, 0, 0, 1};
  return e;
}

std::vector<double> held(const TensorEvidence& output) {
  const float values[] = {3, 5};
  return causes::detail::values_at_bad(
      {DType::float32, {2}, std::string(reinterpret_cast<const char*>(values), sizeof values)}, output);
}

}  // namespace

TEST_CASE("what an input held where an output of another shape is bad") {
  CHECK(held(evidence({2, 1}, {1, 0})) == std::vector<double>{5});
  CHECK(held(evidence({1, 2}, {0, 0, 0, 1})) == std::vector<double>{3, 5});
  CHECK(causes::places_of(evidence({2, 3}, {0, 2, 1, 1})) == std::vector<std::uint64_t>{2, 4});
}

TEST_CASE("shapes and positions that no tensor has") {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  CHECK(held(evidence({-1, 2, -1}, {0, 1, 0})).empty());
  CHECK(held(evidence({2, 1}, {-1, 0})).empty());
  CHECK(held(evidence({2, 1}, {most, most})).empty());
  CHECK(held(evidence({most, most}, {1, 1})).empty());
  CHECK(causes::places_of(evidence({most, most, 7}, {most, most, most})).size() == 1);
  CHECK(causes::places_of(evidence({2, 2}, {1})).empty());
}
