// What each of a GPU's threads counts, against the host's own counting.
#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include <nanlens/hosts/cuda/far_tensors.hpp>
#include <nanlens/summary/health.hpp>

using namespace nanlens;
using namespace nanlens::cuda_scan;

namespace {

TensorScan scan_of(DType dtype, const void* data, std::uint64_t count) {
  TensorScan scan;
  scan.address = reinterpret_cast<Word64>(data);
  scan.count = count;
  CHECK(cuda_host::set_layout(scan, dtype));
  return scan;
}

HealthCounts counted(const TensorScan& scan, unsigned threads) {
  HealthCounts sums;
  for (unsigned thread = 0; thread < threads; ++thread) {
    const ThreadCounts counts = count_share(scan, thread, threads);
    sums += {counts.neg_inf, counts.pos_inf, counts.nan, counts.negative, counts.zero, 0};
  }
  sums.positive = scan.count - sums.total();
  return sums;
}

constexpr DType dtypes[] = {DType::float16,         DType::bfloat16,        DType::float32,
                            DType::float64,         DType::float8_e5m2,     DType::float8_e4m3fn,
                            DType::float8_e4m3fnuz, DType::float8_e5m2fnuz, DType::float8_e4m3b11fnuz};

// Bits of all kinds: any, mostly finite, mostly zero, mostly bad.
std::vector<std::uint64_t> random_words(std::mt19937_64& random, std::size_t count, unsigned kind) {
  std::vector<std::uint64_t> words(count);
  for (std::uint64_t& word : words) {
    word = random();
    if (kind == 1) word &= 0xbfbfbfbfbfbfbfbf;
    if (kind == 2) word &= random() & random() & random() & random();
    if (kind == 3) word |= 0x7ff000007f807c7c;
  }
  return words;
}

}  // namespace

TEST_CASE("the patterns of narrow types, each once") {
  std::vector<std::uint16_t> halves(1 << 16);
  for (std::size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<std::uint16_t>(i);
  for (const DType dtype : dtypes) {
    if (dtype_bytes(dtype) > 2) continue;
    CAPTURE(static_cast<int>(dtype));
    const auto n = static_cast<std::int64_t>(halves.size() * 2 / dtype_bytes(dtype));
    CHECK(counted(scan_of(dtype, halves.data(), static_cast<std::uint64_t>(n)), 1) ==
          full_health(dense_view(halves.data(), dtype, {n})));
  }
}

TEST_CASE("any bits, begun anywhere, of any length, shared among any number of threads") {
  std::mt19937_64 random(14);
  for (const DType dtype : dtypes)
    for (unsigned round = 0; round < 40; ++round) {
      const std::vector<std::uint64_t> words = random_words(random, 600, round % 4);
      const std::size_t bytes = dtype_bytes(dtype);
      const std::size_t begin = random() % 40;
      const std::size_t count = random() % (words.size() * 8 / bytes - begin);
      const char* const data = reinterpret_cast<const char*>(words.data()) + begin * bytes;
      CAPTURE(static_cast<int>(dtype));
      CAPTURE(begin);
      CAPTURE(count);
      CHECK(counted(scan_of(dtype, data, count), 1 + round * 7) ==
            full_health(dense_view(data, dtype, {static_cast<std::int64_t>(count)})));
    }
}

TEST_CASE("elements with gaps between them") {
  std::mt19937_64 random(15);
  const std::vector<std::uint64_t> words = random_words(random, 4096, 0);
  for (const DType dtype : dtypes) {
    TensorScan scan = scan_of(dtype, words.data(), 7 * 11 * 5);
    scan.rank = 3;
    const std::uint64_t dims[] = {7, 11, 5};
    const std::uint64_t strides[] = {2, 20, 300};
    std::copy_n(dims, 3, scan.dims);
    std::copy_n(strides, 3, scan.strides);
    const TensorView view{words.data(), dtype, {5, 11, 7}, {300, 20, 2}};
    CHECK(counted(scan, 13) == full_health(view));
  }
}

TEST_CASE("complex numbers are bad if either part is; a word of any length is read from anywhere") {
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> parts{1, 2, inf, 0, 3, -inf, inf, inf, 0, 0};
  TensorScan scan = scan_of(DType::float32, parts.data(), 5);
  scan.parts = 2;
  CHECK(count_share(scan, 0, 1).nan == 3);
  const unsigned char bytes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  for (unsigned begin = 0; begin < 4; ++begin)
    for (unsigned n = 1; n + begin < sizeof bytes && n <= 8; ++n) {
      std::uint64_t expected = 0;
      std::memcpy(&expected, bytes + begin, n);
      CHECK(word_at({reinterpret_cast<Word64>(bytes + begin), n}) == expected);
    }
}
