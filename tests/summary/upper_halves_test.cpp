#include <doctest/doctest.h>

#include <vector>

#include <nanlens/summary/health.hpp>

#if NANLENS_X86_64
#include <cpuid.h>

using namespace nanlens;

namespace {

// Whether the processor tells which parts of its registers are in use (XGETBV with ECX = 1).
bool can_tell() {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  constexpr unsigned osxsave = 1U << 27;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & osxsave) == 0) return false;
  constexpr unsigned in_use = 1U << 2;
  return __get_cpuid_count(0xd, 1, &a, &b, &c, &d) != 0 && (a & in_use) != 0;
}

// Are upper halves in use: those of 256 bits, or of 512?
constexpr unsigned upper_halves = 1U << 2 | 1U << 6;
bool upper_halves_in_use() {
  unsigned low = 0;
  unsigned high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(1));
  return (low & upper_halves) != 0;
}
bool in_use_when_used() {
  unsigned low = 0;
  unsigned high = 0;
  asm volatile("vcmpps $0xf, %%ymm0, %%ymm0, %%ymm0\n xgetbv\n vzeroupper" : "=a"(low), "=d"(high) : "c"(1) : "xmm0");
  return (low & upper_halves) != 0;
}

}  // namespace

TEST_CASE("kernels leave the host's vector registers as fast as they found them") {
  if (best_simd_level() < SimdLevel::avx2 || !can_tell()) return;
  if (!in_use_when_used() || upper_halves_in_use()) return;  // it always says the same
  const std::vector<float> x(4096, 1.0F);
  for (const SimdLevel level : {SimdLevel::avx2, SimdLevel::avx512}) {
    const SimdLevel in_force = set_simd_level(level);
    CAPTURE(static_cast<int>(in_force));
    const TensorView view = dense_view(x.data(), DType::float32, {4093});
    (void)full_health(view);
    CHECK_FALSE(upper_halves_in_use());
    (void)concise_health(view);
    CHECK_FALSE(upper_halves_in_use());
    (void)has_non_finite(view);
    CHECK_FALSE(upper_halves_in_use());
  }
  set_simd_level(best_simd_level());
}
#endif
