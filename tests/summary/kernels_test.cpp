#include <doctest/doctest.h>

#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

#include <nanlens/summary/health.hpp>
#include <nanlens/tensor/dtype_name.hpp>

using namespace nanlens;

namespace {

constexpr DType floating[] = {
    DType::float32,        DType::float64,       DType::float16,         DType::bfloat16,
    DType::float8_e5m2,    DType::float8_e4m3fn, DType::float8_e4m3fnuz, DType::float8_e4m3b11fnuz,
    DType::float8_e5m2fnuz};

HealthCounts reference(const TensorView& view) {
  const auto n = static_cast<std::size_t>(num_elements(view.shape));
  return with_float_layout(view.dtype, HealthCounts{},
                           [&](auto layout) { return count_scalar<decltype(layout)>(view.data, n); });
}

// All bits random, or words that are zero, special or around the edges of the layout.
void fill(std::vector<unsigned char>& bytes, DType dtype, std::mt19937& random, int pattern) {
  for (auto& b : bytes) b = static_cast<unsigned char>(random());
  if (pattern == 0) return;
  const std::size_t size = dtype_bytes(dtype);
  for (std::size_t i = 0; i + size <= bytes.size(); i += size) {
    if (pattern == 1 && random() % 2 != 0) continue;
    with_float_layout(dtype, 0, [&](auto layout) {
      using Layout = decltype(layout);
      using Word = typename Layout::word;
      const Word choices[] = {0,
                              Layout::sign,
                              Layout::special,
                              static_cast<Word>(Layout::special | Layout::sign),
                              static_cast<Word>(Layout::special - 1),
                              static_cast<Word>(Layout::special + 1),
                              1,
                              static_cast<Word>(Layout::sign | 1),
                              static_cast<Word>(~Word{0}),
                              Layout::magnitude};
      const Word word = choices[random() % std::size(choices)];
      std::memcpy(bytes.data() + i, &word, sizeof word);
      return 0;
    });
  }
}

void compare(const TensorView& view) {
  const HealthCounts expected = reference(view);
  REQUIRE(expected.total() == static_cast<std::uint64_t>(num_elements(view.shape)));
  REQUIRE(full_health(view) == expected);
  const HealthCounts concise = concise_health(view);
  REQUIRE(concise.nan == expected.nan);
  REQUIRE(concise.neg_inf == expected.neg_inf);
  REQUIRE(concise.pos_inf == expected.pos_inf);
  REQUIRE(has_non_finite(view) == (expected.non_finite() != 0));
}

}  // namespace

TEST_CASE("every kernel agrees with the scalar reference") {
  const SimdLevel before = simd_level();
  for (const SimdLevel level : {SimdLevel::scalar, SimdLevel::baseline, SimdLevel::avx2, SimdLevel::avx512}) {
    if (set_simd_level(level) != level) {
      std::printf("skipped: SIMD level %d, which this CPU does not have\n", static_cast<int>(level));
      continue;
    }
    CAPTURE(static_cast<int>(level));
    std::mt19937 random(7);
    for (const DType dtype : floating) {
      CAPTURE(dtype_name(dtype));
      const std::size_t size = dtype_bytes(dtype);
      std::vector<unsigned char> bytes(1101 * size + 64);
      for (std::size_t n = 0; n <= 1100; ++n) {
        if (n % 64 == 0) fill(bytes, dtype, random, static_cast<int>(n / 64 % 3));
        const std::size_t offset = n < 200 ? n % 64 : random() % 64;  // any alignment, also within an element
        compare(dense_view(bytes.data() + offset, dtype, {static_cast<std::int64_t>(n)}));
      }
      for (std::size_t offset = 0; offset < 64; ++offset) compare(dense_view(bytes.data() + offset, dtype, {1000}));
    }
  }
  set_simd_level(before);
}

TEST_CASE("blocks: a single NaN in long clean data, and clean data after NaNs, are counted exactly") {
  std::vector<float> x(40'000, 1.0f);
  for (const std::size_t at : {std::size_t{0}, std::size_t{1023}, std::size_t{1024}, std::size_t{39'999}}) {
    auto y = x;
    y[at] = std::numeric_limits<float>::quiet_NaN();
    y[(at + 7) % y.size()] = -std::numeric_limits<float>::infinity();
    y[(at + 13) % y.size()] = -0.0f;
    const HealthCounts counts = full_health(dense_view(y.data(), DType::float32, {40'000}));
    CHECK(counts == HealthCounts{1, 0, 1, 0, 1, 39'997});
  }
}

TEST_CASE("every bit pattern of the small dtypes is classified as the layout says") {
  for (int pattern = 0; pattern < 256; ++pattern) {
    const auto byte = static_cast<unsigned char>(pattern);
    const HealthCounts e4m3 = full_health(dense_view(&byte, DType::float8_e4m3fn, {}));
    CHECK((e4m3.nan == 1) == ((pattern & 0x7f) == 0x7f));
    CHECK(e4m3.neg_inf + e4m3.pos_inf == 0);
    const HealthCounts fnuz = full_health(dense_view(&byte, DType::float8_e5m2fnuz, {}));
    CHECK((fnuz.nan == 1) == (pattern == 0x80));
    CHECK((fnuz.zero == 1) == (pattern == 0));
    const HealthCounts e5m2 = full_health(dense_view(&byte, DType::float8_e5m2, {}));
    CHECK((e5m2.pos_inf == 1) == (pattern == 0x7c));
    CHECK((e5m2.nan == 1) == ((pattern & 0x7f) > 0x7c));
  }
}
