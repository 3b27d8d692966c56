// The hot paths, each in a function of its own, whose instructions tests/bench/instructions.py counts: `hot_paths
// DIRECTORY`.
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <nanlens/logdir/crc32c.hpp>
#include <nanlens/nanlens.hpp>
#include <nanlens/reader/reader.hpp>
#include <nanlens/summary/summarize.hpp>

namespace {

using nanlens::TensorDebugMode;

constexpr int rounds = 1000;
volatile std::uint64_t sink = 0;

nanlens::TensorView view_of_floats(const std::vector<float>& x) {
  return nanlens::dense_view(x.data(), nanlens::DType::float32, {static_cast<std::int64_t>(x.size())});
}

[[gnu::noinline]] void hot_full_health_1Ki(const nanlens::TensorView& view) {
  for (int i = 0; i < rounds; ++i) {
    asm volatile("" ::: "memory");
    sink = sink + nanlens::full_health(view).zero;
  }
}

[[gnu::noinline]] void hot_summarize_16(const nanlens::TensorView& view) {
  for (int i = 0; i < rounds; ++i) {
    asm volatile("" ::: "memory");
    sink = sink + nanlens::summarize(TensorDebugMode::full_health, view, 1).size;
  }
}

[[gnu::noinline]] void hot_crc32c_256(const std::string& bytes) {
  for (int i = 0; i < rounds; ++i) {
    asm volatile("" ::: "memory");
    sink = sink + nanlens::logdir::crc32c(bytes.data(), bytes.size());
  }
}

[[gnu::noinline]] void hot_trace_ring(const nanlens::GraphTensor& tensor, const nanlens::TensorView& view) {
  for (int i = 0; i < rounds; ++i) nanlens::trace(tensor, view);
}

[[gnu::noinline]] void hot_eager_op(const std::vector<float>& x) {
  for (int i = 0; i < rounds; ++i) nanlens::op("Add", x, x);
}

[[gnu::noinline]] void hot_not_enabled(const std::vector<float>& x) {
  for (int i = 0; i < rounds; ++i) {
    nanlens::op("Add", x, x);
    asm volatile("" ::: "memory");
  }
}

[[gnu::noinline]] void hot_resting(const std::vector<float>& x) {
  for (int i = 0; i < rounds; ++i) nanlens::op("Add", x, x);
}

[[gnu::noinline]] void hot_write_ring() { nanlens::flush_debug_info(); }

[[gnu::noinline]] void hot_open(const std::string& directory) {
  nanlens::reader::Logdir logdir(directory);
  logdir.update();
  sink = sink + logdir.runs().size();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::vector<float> big(1024, 1.0F);
  const std::vector<float> small(16, 1.0F);
  hot_full_health_1Ki(view_of_floats(big));
  hot_summarize_16(view_of_floats(small));
  hot_crc32c_256(std::string(256, 'x'));
  nanlens::op("Add", small, small);  // finds the recorder, which reads the environment
  hot_not_enabled(small);
  nanlens::enable_dump_debug_info({.logdir = argv[1],
                                   .tensor_debug_mode = TensorDebugMode::full_health,
                                   .circular_buffer_size = 2 * rounds,
                                   .stack = nanlens::StackMode::call_site,
                                   .last_step = 0});
  nanlens::GraphBuilder graph("hot");
  const auto tensor = graph.op("Add", "add", {});
  for (int i = 0; i < 2 * rounds; ++i) {  // caches are filled, the rings have gone round
    nanlens::trace(tensor, view_of_floats(small));
    nanlens::op("Add", small, small);
  }
  hot_trace_ring(tensor, view_of_floats(small));
  hot_eager_op(small);
  hot_write_ring();
  nanlens::step();
  hot_resting(small);
  nanlens::disable_dump_debug_info();
  hot_open(argv[1]);
}
