/// @file
/// Counting over contiguous memory, with the best instruction set of the CPU, chosen at run time.
///
/// Two-level counting: a block of 64 vectors is assumed finite, so that only zeros and signs are counted; a block with
/// a NaN or infinity is counted again, still in L1, with all categories. Inputs full of NaN pay for one pass only.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <nanlens/config.hpp>
#include <nanlens/summary/health_counts.hpp>

namespace nanlens::inline NANLENS_ABI {

/// Instruction sets that kernels are built for. `baseline` is SSE2, NEON or wasm simd128, whichever the target has.
enum class SimdLevel : int { scalar = 0, baseline = 1, avx2 = 2, avx512 = 3 };

namespace detail {

// 8-bit lane counters can't overflow in this many vectors, and a block is still in L1 when it is counted again.
inline constexpr std::size_t vectors_per_block = 64;
// Measured best on x86-64 for kernels that read at memory speed; the address is never dereferenced.
inline constexpr std::size_t prefetch_distance = 3072;

#if NANLENS_HAS_VECTORS
namespace baseline {
#define NANLENS_KERNEL_TARGET
#define NANLENS_KERNEL_BYTES 16
#define NANLENS_KERNEL_END() static_cast<void>(0)
#include <nanlens/summary/kernels.inc>
#undef NANLENS_KERNEL_TARGET
#undef NANLENS_KERNEL_BYTES
#undef NANLENS_KERNEL_END
}  // namespace baseline
#endif

#if NANLENS_X86_64
// As long as the upper halves of vector registers are in use, every SSE instruction of the host has to keep them, and
// runs at a third of its speed. GCC clears them by itself only from -O2 on.
#define NANLENS_KERNEL_END() __builtin_ia32_vzeroupper()
namespace avx2 {
#define NANLENS_KERNEL_TARGET __attribute__((target("avx2")))
#define NANLENS_KERNEL_BYTES 32
#include <nanlens/summary/kernels.inc>
#undef NANLENS_KERNEL_TARGET
#undef NANLENS_KERNEL_BYTES
}  // namespace avx2

namespace avx512 {
#define NANLENS_KERNEL_TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,popcnt")))
#define NANLENS_KERNEL_BYTES 64
#include <nanlens/summary/kernels.inc>
#undef NANLENS_KERNEL_TARGET
#undef NANLENS_KERNEL_BYTES
}  // namespace avx512
#undef NANLENS_KERNEL_END
#endif

inline SimdLevel probe_simd_level() noexcept {
#if NANLENS_X86_64
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("popcnt"))
    return SimdLevel::avx512;
  if (__builtin_cpu_supports("avx2")) return SimdLevel::avx2;
#endif
  return SimdLevel::baseline;
}

// −1: not probed yet. Probing twice is harmless, so no lock or once-flag is needed.
inline std::atomic<int> simd_level_cache{-1};

}  // namespace detail

/// The best level that this CPU has.
inline SimdLevel best_simd_level() noexcept { return detail::probe_simd_level(); }

/// The level that kernels run with.
inline SimdLevel simd_level() noexcept {
  int level = detail::simd_level_cache.load(std::memory_order_relaxed);
  if (level < 0) {
    level = static_cast<int>(detail::probe_simd_level());
    detail::simd_level_cache.store(level, std::memory_order_relaxed);
  }
  return static_cast<SimdLevel>(level);
}

/// Makes kernels run with this level, or with the best one that the CPU has if that is less. Returns the level in
/// force.
inline SimdLevel set_simd_level(SimdLevel level) noexcept {
  const SimdLevel best = detail::probe_simd_level();
  const SimdLevel chosen = level > best ? best : level;
  detail::simd_level_cache.store(static_cast<int>(chosen), std::memory_order_relaxed);
  return chosen;
}

namespace detail {

enum class Question { full, concise, curt };

// Answers one question about n contiguous elements. For Question::curt, `nan` of the result is 1 if anything is not
// finite.
template <Question Q, class Layout>
HealthCounts count_contiguous(const void* data, std::size_t n) noexcept {
#if NANLENS_HAS_VECTORS
  const auto* p = static_cast<const unsigned char*>(data);
  const auto answer = [&](auto full, auto concise, auto curt) {
    if constexpr (Q == Question::full) return full(p, n);
    if constexpr (Q == Question::concise) return concise(p, n);
    if constexpr (Q == Question::curt) return curt(p, n);
  };
  // Up to here a scalar loop is done before a vector is set up.
  switch (n < 4 ? SimdLevel::scalar : simd_level()) {
    case SimdLevel::scalar: return count_scalar<Layout>(data, n);
#if NANLENS_X86_64
    case SimdLevel::avx512:
      return answer(avx512::full_health<Layout>, avx512::concise_health<Layout>, avx512::curt_health<Layout>);
    case SimdLevel::avx2:
      return answer(avx2::full_health<Layout>, avx2::concise_health<Layout>, avx2::curt_health<Layout>);
#endif
    default:
      return answer(baseline::full_health<Layout>, baseline::concise_health<Layout>, baseline::curt_health<Layout>);
  }
#else
  return count_scalar<Layout>(data, n);
#endif
}

// How the elements of a dtype are counted: through a pointer, so that what walks over a tensor is compiled once, and
// not for each dtype and question.
struct Counting {
  HealthCounts (*count)(const void* data, std::size_t n) noexcept = nullptr;  // null for dtypes that are not floating
  std::size_t element_bytes = 0;
  Question question = Question::full;
};

template <Question Q>
constexpr Counting counting_of(DType dtype) noexcept {
  return with_float_layout(dtype, Counting{}, [](auto layout) {
    using Layout = decltype(layout);
    return Counting{&count_contiguous<Q, Layout>, sizeof(typename Layout::word), Q};
  });
}

}  // namespace detail
}  // namespace nanlens::inline NANLENS_ABI
