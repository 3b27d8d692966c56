#include <doctest/doctest.h>

#include <atomic>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include <nanlens/summary/health.hpp>

using namespace nanlens;

namespace {

std::atomic<std::size_t> shared{0};  // pieces
std::atomic<bool> gives_up{false};

// Three threads; where it gives up, after the first pieces.
bool share(std::size_t pieces, void (*piece)(void* work, std::size_t index) noexcept, void* work) noexcept {
  constexpr std::size_t members = 3;
  const std::size_t all = gives_up ? pieces / 2 : pieces;
  std::vector<std::thread> team;
  for (std::size_t first = 0; first < members; ++first)
    team.emplace_back([=] {
      for (std::size_t i = first; i < all; i += members) piece(work, i);
    });
  for (std::thread& thread : team) thread.join();
  shared += pieces;
  return !gives_up;
}

// While it lives, threads help.
struct Helped {
  Helped() { detail::work_sharing = &share; }
  Helped(const Helped&) = delete;
  Helped& operator=(const Helped&) = delete;
  ~Helped() {
    detail::work_sharing = nullptr;
    gives_up = false;
  }
};

std::vector<unsigned char> random_bytes(std::size_t n) {
  std::vector<unsigned char> bytes(n);
  std::mt19937_64 random(7);
  for (std::size_t i = 0; i + 8 <= n; i += 8) {
    const std::uint64_t word = random();
    std::memcpy(&bytes[i], &word, 8);
  }
  return bytes;
}

}  // namespace

TEST_CASE("what threads count together is what one counts alone") {
  const std::vector<unsigned char> bytes = random_bytes((std::size_t{5} << 20) + 24);
  for (const DType dtype : {DType::float16, DType::bfloat16, DType::float32, DType::float64, DType::float8_e5m2}) {
    CAPTURE(static_cast<int>(dtype));
    const auto n = static_cast<std::int64_t>((bytes.size() - 8) / dtype_bytes(dtype));
    const TensorView view = dense_view(bytes.data() + dtype_bytes(dtype), dtype, {n - 1});
    const HealthCounts full = full_health(view);
    const HealthCounts concise = concise_health(view);
    REQUIRE(full.total() == static_cast<std::uint64_t>(n - 1));
    for (const bool unable : {false, true}) {
      const Helped helped;
      gives_up = unable;
      shared = 0;
      CHECK(full_health(view) == full);
      CHECK(concise_health(view).nan == concise.nan);
      CHECK(concise_health(view).pos_inf == concise.pos_inf);
      CHECK(has_non_finite(view));
      CHECK(shared > 4 * 16);
    }
  }
}

TEST_CASE("one bad element among pieces is found, and none where there is none") {
  std::vector<float> x(std::size_t{3} << 19, 1.0F);
  const Helped helped;
  CHECK_FALSE(has_non_finite(dense_view(x.data(), DType::float32, {static_cast<std::int64_t>(x.size())})));
  x.back() = INFINITY;
  CHECK(has_non_finite(dense_view(x.data(), DType::float32, {static_cast<std::int64_t>(x.size())})));
}

TEST_CASE("a matrix that lies otherwise is shared, small tensors and broadcast ones are not") {
  const std::vector<float> x(1 << 20, -1.0F);
  const Helped helped;
  shared = 0;
  CHECK(full_health(TensorView{x.data(), DType::float32, {1024, 1024}, {1, 1024}}).negative == 1 << 20);
  CHECK(shared == 16);
  CHECK(full_health(TensorView{x.data(), DType::float32, {1 << 30}, {0}}).negative == 1 << 30);
  CHECK(full_health(dense_view(x.data(), DType::float32, {1000})).negative == 1000);
  CHECK(shared == 16);
}
