// What recording costs the host, in CPU time of all threads per event: `recording DIRECTORY [ONLY]`. Prints JSON
// lines, of the measurements whose name contains ONLY.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <nanlens/nanlens.hpp>

namespace {

using Clock = std::chrono::steady_clock;
using Vector = std::vector<float>;

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

struct Cost {
  double wall_ns;
  double cpu_ns;
};

int num_logdirs = 0;  // each round has its own
std::string only;     // part of the name of what is measured

// Least cost per event of several rounds; `round` records `events` of them.
template <class Round>
Cost measure(const nanlens::DumpOptions& options, int events, Round&& round) {
  Cost best{1e18, 1e18};
  constexpr int rounds = 5;
  for (int i = 0; i < rounds; ++i) {
    nanlens::DumpOptions own = options;
    own.logdir += "/" + std::to_string(++num_logdirs);
    if (!options.logdir.empty()) nanlens::enable_dump_debug_info(own);
    round();  // graphs, stacks and caches are made
    nanlens::flush_debug_info();
    const double cpu = cpu_seconds();
    const auto start = Clock::now();
    round();
    const double wall = std::chrono::duration<double>(Clock::now() - start).count();
    nanlens::flush_debug_info();
    const double total = cpu_seconds() - cpu;
    nanlens::disable_dump_debug_info();
    if (!options.logdir.empty()) std::filesystem::remove_all(own.logdir);
    best.wall_ns = std::min(best.wall_ns, 1e9 * wall / events);
    best.cpu_ns = std::min(best.cpu_ns, 1e9 * total / events);
  }
  return best;
}

template <class Round>
void measure_and_print(const std::string& name, const nanlens::DumpOptions& options, int events, Round&& round) {
  if (name.find(only) == std::string::npos) return;
  const Cost cost = measure(options, events, round);
  std::printf("{\"name\": \"%s\", \"wall_ns\": %.1f, \"cpu_ns\": %.1f}\n", name.c_str(), cost.wall_ns, cost.cpu_ns);
  std::fflush(stdout);
}

// Twenty-four frames, so that unwinding has something to do.
template <int Depth>
[[gnu::noinline]] void deep(const Vector& x) {
  if constexpr (Depth == 0) {
    nanlens::op("Add", x, x);
  } else {
    deep<Depth - 1>(x);
    asm volatile("");  // no tail call
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  if (argc > 2) only = argv[2];
  using nanlens::StackMode;
  using nanlens::TensorDebugMode;
  constexpr int events = 200'000;
  const Vector x(1024, 1.0F);
  nanlens::DumpOptions options{.logdir = argv[1],
                               .tensor_debug_mode = TensorDebugMode::full_health,
                               .circular_buffer_size = -1,
                               .stack = StackMode::call_site};
  nanlens::GraphBuilder graph("bench");
  const auto tensor = graph.op("Add", "add", {});
  const Vector small(1, 1.0F);
  const auto traces = [&] {
    for (int i = 0; i < events; ++i) nanlens::trace(tensor, nanlens::view_of(small));
  };
  measure_and_print("trace unbuffered", options, events, traces);
  options.circular_buffer_size = 1000;
  measure_and_print("trace ring", options, events, traces);
  options.circular_buffer_size = -1;
  const auto eager = [&] {
    for (int i = 0; i < events; ++i) nanlens::op("Add", x, x);
  };
  measure_and_print("eager op, call site", options, events, eager);
  const auto frames = [&] {
    for (int i = 0; i < events / 4; ++i) deep<24>(x);
  };
  options.stack = StackMode::frame_pointers;
  measure_and_print("eager op, 24 frames, frame pointers", options, events / 4, frames);
  options.stack = StackMode::unwind;
  measure_and_print("eager op, 24 frames, unwind tables", options, events / 4, frames);
  options.stack = StackMode::call_site;
  for (const int threads : {1, 2, 4, 8}) {
    const auto parallel = [&] {
      std::vector<std::thread> pool;
      for (int t = 0; t < threads; ++t)
        pool.emplace_back([&] {
          const Vector own(1024, 1.0F);
          for (int i = 0; i < events / threads; ++i) nanlens::op("Add", own, own);
        });
      for (auto& thread : pool) thread.join();
    };
    measure_and_print("threads " + std::to_string(threads), options, events, parallel);
  }
  nanlens::disable_dump_debug_info();
  constexpr int idle_events = 20'000'000;
  const auto off = [&] {
    for (int i = 0; i < idle_events; ++i) {
      nanlens::op("Add", x, x);
      asm volatile("" ::: "memory");
    }
  };
  nanlens::DumpOptions none;
  measure_and_print("compiled in, not enabled", none, idle_events, off);
}
