// Zeros that an op failed at, and that another had made of infinities.
#include <doctest/doctest.h>

#include <vector>

#include "../capture/recorded.hpp"
#include "why_answer.hpp"

using namespace nanlens;
using test::infinity;

namespace {

// log(x) goes through an op, and into a logarithm again.
test::WhyAnswer twice(const char* between, const std::vector<float>& first, const std::vector<float>& zeros) {
  std::vector<float> last;
  for (const float z : zeros) last.push_back(z == 0 ? -infinity : 0.0F);
  return test::ask(*test::Recorded([&] {
    const std::vector<float> x = nanlens::op("Data", std::vector<float>{0, 0.5F, 0.5F});
    const std::vector<float> logarithm = nanlens::op("Log", std::vector<float>(first), x);
    const std::vector<float> flat = nanlens::op(between, std::vector<float>(zeros), logarithm);
    nanlens::op("Log", std::vector<float>(last), flat);
  }));
}

}  // namespace

TEST_CASE("a logarithm of zeros all of which were infinities follows from what made those") {
  for (const char* const between : {"Softplus", "Sigmoid", "Relu", "Reciprocal", "aten::softplus"}) {
    CAPTURE(between);
    const auto a = twice(between, {-infinity, 1, 1}, {0, 1, 1});
    CHECK(a.causes == 1);
    CHECK(a.reach == 2);
  }
}

TEST_CASE("not where there are more zeros than there were infinities, or the op makes none of them") {
  CHECK(twice("Relu", {-infinity, -1, 1}, {0, 0, 1}).causes == 2);
  CHECK(twice("Elu", {-infinity, 0, 1}, {-1, 0, 1}).causes == 2);
}
