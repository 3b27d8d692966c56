// What a node of a ggml graph costs: `bench_ggml LOGDIR [ROUNDS]`. A chain of additions of 16 elements, which cost
// little themselves, by one thread; the ways take turns, and of each the least is told, as JSON objects.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>

#include <ggml-alloc.h>
#include <ggml-backend.h>
#include <ggml-cpu.h>
#include <ggml.h>

#include <nanlens/hosts/ggml.hpp>

namespace {

constexpr int num_nodes = 1000;
constexpr int runs = 20;

// The graph, for a scheduler of its own each.
class Chain {
 public:
  Chain() {
    ggml_backend_cpu_set_n_threads(cpu_, 1);
    ggml_tensor* const one = ggml_new_tensor_1d(weights_, GGML_TYPE_F32, 16);
    ggml_tensor* sum = one;
    for (int i = 0; i < num_nodes; ++i) sum = ggml_add(context_, sum, one);
    ggml_build_forward_expand(graph_, sum);
    buffer_ = ggml_backend_alloc_ctx_tensors(weights_, cpu_);
    ggml_backend_buffer_clear(buffer_, 0);
    ggml_backend_sched_alloc_graph(scheduler, graph_);
  }
  Chain(const Chain&) = delete;
  Chain& operator=(const Chain&) = delete;
  ~Chain() {
    ggml_backend_sched_free(scheduler);
    ggml_backend_buffer_free(buffer_);
    ggml_free(weights_);
    ggml_free(context_);
    ggml_backend_free(cpu_);
  }

  // Nanoseconds of this thread for each node.
  double compute() {
    timespec before{};
    timespec after{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
    for (int i = 0; i < runs; ++i) ggml_backend_sched_graph_compute(scheduler, graph_);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
    const double seconds =
        static_cast<double>(after.tv_sec - before.tv_sec) + 1e-9 * static_cast<double>(after.tv_nsec - before.tv_nsec);
    return 1e9 * seconds / (runs * num_nodes);
  }

 private:
  static ggml_context* new_context() {
    return ggml_init(
        {ggml_tensor_overhead() * 2 * num_nodes + ggml_graph_overhead_custom(2 * num_nodes, false), nullptr, true});
  }
  ggml_backend_t cpu_ = ggml_backend_cpu_init();
  ggml_context* context_ = new_context();
  ggml_context* weights_ = new_context();
  ggml_cgraph* graph_ = ggml_new_graph_custom(context_, 2 * num_nodes, false);
  ggml_backend_buffer_t buffer_ = nullptr;

 public:
  ggml_backend_sched_t scheduler = ggml_backend_sched_new(&cpu_, nullptr, 1, 2 * num_nodes, false, true);
};

double recorded(Chain& chain, const std::string& logdir, bool at_rest) {
  nanlens::DumpOptions options;
  options.logdir = logdir;
  options.tensor_debug_mode = nanlens::TensorDebugMode::full_health;
  options.circular_buffer_size = 0;
  options.every = at_rest ? std::numeric_limits<std::int64_t>::max() : 1;
  nanlens::enable_dump_debug_info(options);
  nanlens::step();
  const double ns = chain.compute();
  nanlens::disable_dump_debug_info();
  return ns;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::string logdir = argv[1];
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 5;
  Chain plain;
  Chain attached;
  nanlens::ggml::attach(attached.scheduler);
  const char* const names[] = {"plain", "idle", "recorded", "at rest"};
  double least[] = {1e9, 1e9, 1e9, 1e9};
  for (int round = 0; round < rounds; ++round) {
    const double ns[] = {plain.compute(), attached.compute(), recorded(attached, logdir + "/recorded", false),
                         recorded(attached, logdir + "/at_rest", true)};
    for (int i = 0; i < 4; ++i) least[i] = ns[i] < least[i] ? ns[i] : least[i];
  }
  nanlens::ggml::detach(attached.scheduler);
  for (int i = 0; i < 4; ++i) std::printf("{\"way\": \"%s\", \"ns\": %.1f}\n", names[i], least[i]);
  return 0;
}
