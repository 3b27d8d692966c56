// Summaries against a plain read of the same pages. Names: MODE/dtype/fill/elements.
#include <benchmark/benchmark.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <nanlens/summary/statistics.hpp>
#include <nanlens/summary/summarize.hpp>
#include <nanlens/tensor/dtype_name.hpp>

#include "plain_read.hpp"

namespace {

using namespace nanlens;

// Pages that the kernel may make large, as kernels.md's figures assume; NANLENS_BENCH_PAGES=small: as malloc gives
// them.
class Buffer {
 public:
  explicit Buffer(std::size_t bytes) : bytes_(bytes) {
    constexpr std::size_t page = std::size_t{2} << 20;
    data_ = static_cast<unsigned char*>(std::aligned_alloc(page, (bytes + page - 1) / page * page));
    const char* const pages = std::getenv("NANLENS_BENCH_PAGES");
    if (pages == nullptr || std::string(pages) != "small") ::madvise(data_, bytes, MADV_HUGEPAGE);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { std::free(data_); }
  [[nodiscard]] unsigned char* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return bytes_; }

 private:
  std::size_t bytes_;
  unsigned char* data_;
};

// Fills: normal values, half of them zero (ReLU), all NaN, random bits. A mebibyte of them, again and again.
void fill(const Buffer& buffer, DType dtype, const std::string& how) {
  constexpr std::size_t period = std::size_t{1} << 20;
  std::mt19937_64 random(1);
  const std::size_t bytes = dtype_bytes(dtype);
  std::normal_distribution<float> normal;
  const std::size_t own = std::min(period, buffer.size());
  for (std::size_t i = 0; i + bytes <= own; i += bytes) {
    std::uint64_t bits = random();
    const double value = how == "relu" && (bits & 1) != 0 ? 0.0 : static_cast<double>(normal(random));
    if (how == "nan")
      bits = bytes == 8 ? 0x7ff8000000000000ULL : bytes == 4 ? 0x7fc00000U : bytes == 2 ? 0x7fffU : 0x7fU;
    if (how != "bits" && how != "nan") {
      const auto single = std::bit_cast<std::uint32_t>(static_cast<float>(value));
      // bfloat16 is the upper half; any finite bits do for the others
      bits = bytes == 8   ? std::bit_cast<std::uint64_t>(value)
             : bytes == 4 ? single
             : bytes == 2 ? single >> 16
                          : single >> 24 & 0xb8;
    }
    std::memcpy(buffer.data() + i, &bits, bytes);
  }
  for (std::size_t i = own; i < buffer.size(); i += period)
    std::memcpy(buffer.data() + i, buffer.data(), std::min(period, buffer.size() - i));
}

void count(benchmark::State& state, TensorDebugMode mode, DType dtype, const std::string& how, std::int64_t n) {
  const Buffer buffer(static_cast<std::size_t>(n) * dtype_bytes(dtype));
  fill(buffer, dtype, how);
  const TensorView view = dense_view(buffer.data(), dtype, {n});
  for (auto _ : state) benchmark::DoNotOptimize(summarize(mode, view, 1));
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * static_cast<std::int64_t>(buffer.size()));
}

void read(benchmark::State& state, std::uint64_t (*reader)(const unsigned char*, std::size_t), std::size_t bytes) {
  const Buffer buffer(bytes);
  fill(buffer, DType::float32, "bits");
  for (auto _ : state) benchmark::DoNotOptimize(reader(buffer.data(), bytes));
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * static_cast<std::int64_t>(bytes));
}

void collect_statistics(benchmark::State& state, std::int64_t n) {
  const Buffer buffer(static_cast<std::size_t>(n) * 4);
  fill(buffer, DType::float32, "normal");
  const TensorView view = dense_view(buffer.data(), DType::float32, {n});
  for (auto _ : state) benchmark::DoNotOptimize(statistics(view));
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * n * 4);
}

// A view of a matrix, counted as it lies, and copied first.
void strided(benchmark::State& state, const std::string& what, bool copy) {
  constexpr std::int64_t rows = 2048;
  constexpr std::int64_t columns = 2048;
  const Buffer buffer(rows * columns * 4);
  fill(buffer, DType::float32, "normal");
  TensorView view = dense_view(buffer.data(), DType::float32, {rows, columns});
  if (what == "transposed") std::swap(view.strides[0], view.strides[1]);
  if (what == "stride2") {
    view.shape[1] = columns / 2;
    view.strides[1] = 2;
  }
  if (what == "broadcast") view.strides[0] = 0;
  std::vector<float> plain(static_cast<std::size_t>(num_elements(view.shape)));
  const TensorView target = dense_view(plain.data(), DType::float32, {static_cast<std::int64_t>(plain.size())});
  const auto* const from = reinterpret_cast<const float*>(buffer.data());
  for (auto _ : state) {
    if (copy) {
      std::size_t at = 0;
      for (std::int64_t i = 0; i < view.shape[0]; ++i)
        for (std::int64_t j = 0; j < view.shape[1]; ++j) plain[at++] = from[i * view.strides[0] + j * view.strides[1]];
      benchmark::DoNotOptimize(full_health(target));
    } else {
      benchmark::DoNotOptimize(full_health(view));
    }
  }
}

void add(const std::string& name, auto&& body) {
  benchmark::RegisterBenchmark(name.c_str(), std::forward<decltype(body)>(body))->UseRealTime();
}

}  // namespace

int main(int argc, char** argv) {
  constexpr std::int64_t mi = 1 << 20;
  const auto summary = [](const char* name, TensorDebugMode mode, DType dtype, const char* how, std::int64_t n) {
    add(std::string(name) + "/" + std::string(dtype_name(dtype)) + "/" + how + "/" + std::to_string(n),
        [=](benchmark::State& s) { count(s, mode, dtype, how, n); });
  };
  for (const std::int64_t n : {16 * mi, 64 * mi}) {
    const auto bytes = static_cast<std::size_t>(n) * 4;
    add("read_sse2/" + std::to_string(n), [=](benchmark::State& s) { read(s, bench::read_baseline, bytes); });
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2"))
      add("read_avx2/" + std::to_string(n), [=](benchmark::State& s) { read(s, bench::read_avx2, bytes); });
    if (__builtin_cpu_supports("avx512f"))
      add("read_avx512/" + std::to_string(n), [=](benchmark::State& s) { read(s, bench::read_avx512, bytes); });
#endif
    for (const char* how : {"normal", "relu", "nan", "bits"})
      summary("FULL", TensorDebugMode::full_health, DType::float32, how, n);
  }
  // As many bytes as 16 Mi float32, so that the same plain read is the limit.
  summary("FULL", TensorDebugMode::full_health, DType::float64, "normal", 8 * mi);
  for (const DType dtype : {DType::float16, DType::bfloat16})
    summary("FULL", TensorDebugMode::full_health, dtype, "normal", 32 * mi);
  for (const DType dtype : {DType::float8_e5m2, DType::float8_e4m3fn})
    summary("FULL", TensorDebugMode::full_health, dtype, "normal", 64 * mi);
  for (const std::int64_t n : {16, 1024, 65536})
    summary("FULL", TensorDebugMode::full_health, DType::float32, "normal", n);
  summary("CURT", TensorDebugMode::curt_health, DType::float32, "normal", 16 * mi);
  summary("CONCISE", TensorDebugMode::concise_health, DType::float32, "normal", 16 * mi);
  add("STATISTICS/float32/normal/" + std::to_string(mi), [=](benchmark::State& s) { collect_statistics(s, mi); });
  for (const char* what : {"transposed", "stride2", "broadcast"})
    for (const bool copy : {false, true})
      add(std::string(copy ? "copied/" : "strided/") + what, [=](benchmark::State& s) { strided(s, what, copy); });
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
