// Does an op cost the same however long a program runs? `growth DIRECTORY [ONLY]`: ns per op at 10^3 … 10^6 of what
// could add up, least of several rounds. Prints JSON lines, of the measurements whose name contains ONLY.
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <nanlens/nanlens.hpp>

namespace {

using Vector = std::vector<float>;

std::string directory;
std::string chosen;
int logdirs = 0;

// CPU time of this thread.
double now_ns() {
  timespec t{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return 1e9 * static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec);
}

// Records `prepare()` first, and then measures `count` calls of `op(i)`.
template <class Prepare, class Op>
double measure(std::size_t count, nanlens::TensorDebugMode mode, Prepare&& prepare, Op&& op) {
  double best = 1e18;
  const int rounds = count < 100'000 ? 5 : 2;
  for (int round = 0; round < rounds; ++round) {
    const std::string logdir = directory + "/" + std::to_string(++logdirs);
    nanlens::enable_dump_debug_info({.logdir = logdir,
                                     .tensor_debug_mode = mode,
                                     .circular_buffer_size = 1000,
                                     .stack = nanlens::StackMode::call_site});
    auto scope = prepare();
    (void)scope;
    const double start = now_ns();
    for (std::size_t i = 0; i < count; ++i) op(i);
    best = std::min(best, (now_ns() - start) / static_cast<double>(count));
    nanlens::disable_dump_debug_info();
    std::filesystem::remove_all(logdir);
  }
  return best;
}

template <class Measure>
void print(const char* name, Measure&& ns_per_op) {
  if (std::string(name).find(chosen) == std::string::npos) return;
  for (const std::size_t count : {1'000U, 10'000U, 100'000U, 1'000'000U}) {
    std::printf("{\"name\": \"%s\", \"count\": %zu, \"ns_per_op\": %.0f}\n", name, count, ns_per_op(count));
    std::fflush(stdout);
  }
}

constexpr auto nothing = [] { return 0; };

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  directory = argv[1];
  if (argc > 2) chosen = argv[2];
  using nanlens::tensor_view;
  using enum nanlens::TensorDebugMode;
  std::vector<float> pool(std::size_t{1} << 26, 1.0F);  // 256 MiB
  print("changing addresses", [&](std::size_t count) {
    return measure(count, full_health, nothing, [&](std::size_t i) {
      auto view = tensor_view(pool.data() + i * 64, {16});
      nanlens::record("Make", nanlens::outputs(view), nanlens::inputs());
    });
  });
  print("random small neighbours", [&](std::size_t count) {
    std::vector<std::uint32_t> order(count);
    for (std::size_t i = 0; i < count; ++i) order[i] = static_cast<std::uint32_t>(i);
    std::shuffle(order.begin(), order.end(), std::mt19937(7));
    return measure(count, full_health, nothing, [&](std::size_t i) {
      auto view = tensor_view(pool.data() + std::size_t{4} * order[i], {4});
      nanlens::record("Make", nanlens::outputs(view), nanlens::inputs());
    });
  });
  print("chained loop in a function", [&](std::size_t count) {
    Vector a(16, 1.0F);
    Vector b = a;
    return measure(
        count, full_health, [&] { return std::make_unique<nanlens::Function>("train", nanlens::arg("a", a)); },
        [&](std::size_t i) {
          nanlens::record("Add", nanlens::outputs(i % 2 == 0 ? b : a), nanlens::inputs(i % 2 == 0 ? a : b));
        });
  });
  print("variable()", [&](std::size_t count) {
    return measure(count, no_tensor, nothing,
                   [&](std::size_t i) { nanlens::variable(tensor_view(pool.data() + i * 16, {16})); });
  });
  print("forget()", [&](std::size_t count) {
    return measure(count, no_tensor, nothing, [&](std::size_t) { nanlens::forget(pool.data(), 64); });
  });
  constexpr std::size_t huge = std::size_t{64} << 30;
  void* const memory = ::mmap(nullptr, huge, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return 0;
  if (std::string("huge tensors, NO_TENSOR").find(chosen) == std::string::npos) return 0;
  for (std::size_t mib = 1; mib <= huge >> 20; mib *= 16) {
    auto view = tensor_view(static_cast<const float*>(memory), {static_cast<std::int64_t>(mib << 18)});
    const double ns = measure(1'000, no_tensor, nothing,
                              [&](std::size_t) { nanlens::record("Load", nanlens::outputs(view), nanlens::inputs()); });
    std::printf("{\"name\": \"huge tensors, NO_TENSOR\", \"mib\": %zu, \"ns_per_op\": %.0f}\n", mib, ns);
  }
}
