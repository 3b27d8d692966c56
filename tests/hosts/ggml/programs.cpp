// Programs of ggml with one mistake each: `programs NAME`. Compiled with nanlens, and with -DNANLENS_DISABLE to be run
// by `nanlens run` as programs that know nothing of it. score.py has what is to be found.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <ggml-alloc.h>
#include <ggml-backend.h>
#include <ggml-cpu.h>
#include <ggml.h>

#include <nanlens/hosts/ggml.hpp>

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

// How a graph is computed.
enum class Way { attached, watched, callback, backend, plan };

int own_asked = 0;
int own_told = 0;
bool own_callback(ggml_tensor* node, bool ask, void* /*user_data*/) {
  const bool wanted = node->op == GGML_OP_LOG;
  if (!ask)
    ++own_told;
  else if (wanted)
    ++own_asked;
  return !ask || wanted;
}
nanlens::ggml::Chained own{own_callback, nullptr};

// A graph that is built once and may be computed several times.
class Program {
 public:
  explicit Program(Way how, int threads = 1) : way(how) {
    ggml_backend_cpu_set_n_threads(cpu, threads);
    if (way == Way::attached) nanlens::ggml::attach(scheduler);
    if (way == Way::callback) ggml_backend_sched_set_eval_callback(scheduler, nanlens::ggml::callback, &own);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() {
    nanlens::ggml::detach(scheduler);
    ggml_backend_sched_free(scheduler);
    for (ggml_backend_buffer_t buffer : buffers) ggml_backend_buffer_free(buffer);
    ggml_free(weights);
    ggml_free(context);
    ggml_backend_free(cpu);
  }

  // A weight or an input: its memory stays. `values` may be shorter: they repeat.
  ggml_tensor* leaf(const char* name, std::vector<std::int64_t> extents, const std::vector<float>& values,
                    ggml_type type = GGML_TYPE_F32) {
    ggml_tensor* const tensor = ggml_new_tensor(weights, type, static_cast<int>(extents.size()), extents.data());
    ggml_set_name(tensor, name);
    std::vector<float> floats(static_cast<std::size_t>(ggml_nelements(tensor)));
    for (std::size_t i = 0; i < floats.size(); ++i) floats[i] = values[i % values.size()];
    contents[tensor] = floats;
    return tensor;
  }
  ggml_tensor* named(ggml_tensor* tensor, const char* name) { return ggml_set_name(tensor, name); }

  void place_weights() {
    buffers.push_back(ggml_backend_alloc_ctx_tensors(weights, cpu));
    for (const auto& [tensor, floats] : contents) {
      std::vector<char> bytes(ggml_nbytes(tensor));
      if (tensor->type == GGML_TYPE_F32)
        std::memcpy(bytes.data(), floats.data(), bytes.size());
      else
        ggml_quantize_chunk(tensor->type, floats.data(), bytes.data(), 0, ggml_nrows(tensor), tensor->ne[0], nullptr);
      ggml_backend_tensor_set(tensor, bytes.data(), 0, bytes.size());
    }
  }
  ggml_cgraph* graph_of(std::vector<ggml_tensor*> results, bool gradients = false) const {
    ggml_cgraph* const graph = ggml_new_graph_custom(context, 256, gradients);
    for (ggml_tensor* const result : results) ggml_build_forward_expand(graph, result);
    ggml_set_output(results.back());
    return graph;
  }
  void compute(ggml_cgraph* graph, int times = 1) {
    if (buffers.empty()) place_weights();
    if (way == Way::backend || way == Way::plan)
      if (ggml_backend_buffer* const buffer = ggml_backend_alloc_ctx_tensors(context, cpu)) buffers.push_back(buffer);
    for (int i = 0; i < times; ++i) compute_once(graph);
  }

  Way way;
  ggml_backend_t cpu = ggml_backend_cpu_init();
  ggml_backend_sched_t scheduler = ggml_backend_sched_new(&cpu, nullptr, 1, 256, false, true);
  ggml_context* weights = ggml_init({ggml_tensor_overhead() * 64, nullptr, true});
  ggml_context* context = ggml_init({ggml_tensor_overhead() * 256 + 65536, nullptr, true});

 private:
  void compute_once(ggml_cgraph* graph) {
    ggml_status status = GGML_STATUS_SUCCESS;
    if (way == Way::backend) {
      status = nanlens::ggml::compute(cpu, graph);
    } else if (way == Way::plan) {
      ggml_cplan plan = ggml_graph_plan(graph, 1, nullptr);
      std::vector<std::uint8_t> work(plan.work_size);
      plan.work_data = work.data();
      status = nanlens::ggml::compute(graph, [&](ggml_cgraph* part) { return ggml_graph_compute(part, &plan); });
    } else {
      ggml_backend_sched_reset(scheduler);
      ggml_backend_sched_alloc_graph(scheduler, graph);
      status = way == Way::watched ? nanlens::ggml::compute(scheduler, graph)
                                   : ggml_backend_sched_graph_compute(scheduler, graph);
    }
    if (status != GGML_STATUS_SUCCESS) std::printf("ggml failed: %d\n", static_cast<int>(status));
  }

  std::vector<ggml_backend_buffer_t> buffers;
  std::map<ggml_tensor*, std::vector<float>> contents;
};

std::string layer(const char* name, int number) { return std::string(name) + "-" + std::to_string(number); }
std::string block(int number, const char* name) { return "blk." + std::to_string(number) + "." + name + ".weight"; }

// Layers of a weight matrix, a norm and a sigmoid each; `change` replaces what a layer gives.
ggml_tensor* layers(Program& p, int count, const std::vector<float>& bad_weights, int bad_layer,
                    ggml_type type = GGML_TYPE_F32,
                    const std::function<ggml_tensor*(ggml_tensor*, int)>& change = nullptr) {
  ggml_tensor* hidden = p.leaf("inp_embd", {32, 4}, {0.5F, -0.25F, 1.0F});
  for (int i = 0; i < count; ++i) {
    const bool bad = i == bad_layer && !bad_weights.empty();
    ggml_tensor* const weight =
        p.leaf(block(i, "ffn_up").c_str(), {32, 32}, bad ? bad_weights : std::vector<float>{0.1F, -0.2F, 0.3F}, type);
    hidden = p.named(ggml_rms_norm(p.context, hidden, 1e-5F), layer("norm", i).c_str());
    hidden = p.named(ggml_mul_mat(p.context, weight, hidden), layer("ffn_up", i).c_str());
    hidden = p.named(ggml_sigmoid(p.context, hidden), layer("ffn_act", i).c_str());
    if (change) hidden = change(hidden, i);
  }
  return hidden;
}

void log_negative(Way way, int threads = 1) {
  Program p(way, threads);
  ggml_tensor* const result = layers(p, 3, {}, -1, GGML_TYPE_F32, [&](ggml_tensor* t, int i) {
    t = p.named(ggml_scale(p.context, t, i == 1 ? -1.0F : 1.0F), layer("scaled", i).c_str());
    return p.named(ggml_log(p.context, t), layer("log", i).c_str());
  });
  p.compute(p.graph_of({result}), 2);
}

void div_zero() {
  Program p(Way::backend);
  ggml_tensor* const zero = p.leaf("zero", {32, 4}, {0});
  ggml_tensor* const result = layers(p, 3, {}, -1, GGML_TYPE_F32, [&](ggml_tensor* t, int i) {
    if (i != 2) return t;
    return p.named(ggml_div(p.context, ggml_mul(p.context, t, zero), zero), layer("div", i).c_str());
  });
  p.compute(p.graph_of({result}));
}

void masked_row() {
  Program p(Way::attached);
  ggml_tensor* const mask = p.leaf("kq_mask", {32, 4}, {-infinity});
  ggml_tensor* const result = layers(p, 2, {}, -1, GGML_TYPE_F32, [&](ggml_tensor* t, int i) {
    return i == 1 ? p.named(ggml_soft_max_ext(p.context, t, mask, 1, 0), layer("kq_soft_max", i).c_str()) : t;
  });
  p.compute(p.graph_of({result}));
}

void matmul_overflow() {
  Program p(Way::plan);
  p.compute(p.graph_of({layers(p, 3, {3e38F}, 1)}));
}

void quantised() {
  Program p(Way::attached);
  p.compute(p.graph_of({layers(p, 3, {1e8F, -1e8F}, 1, GGML_TYPE_Q8_0)}));
}

void half_overflow() {
  Program p(Way::watched);
  ggml_tensor* const result = layers(p, 2, {}, -1, GGML_TYPE_F32, [&](ggml_tensor* t, int i) {
    t = ggml_scale(p.context, t, i == 1 ? 1e6F : 1.0F);
    t = p.named(ggml_cast(p.context, t, GGML_TYPE_F16), layer("half", i).c_str());
    return ggml_cast(p.context, t, GGML_TYPE_F32);
  });
  p.compute(p.graph_of({result}));
}

// One branch looks at the good part of a tensor, the other at the bad one, transposed.
void views() {
  Program p(Way::attached);
  ggml_tensor* const x = ggml_scale(p.context, p.leaf("x", {4, 8}, {1, 2, -1, -2}), 1);
  ggml_tensor* const good = ggml_view_2d(p.context, x, 2, 8, x->nb[1], 0);
  ggml_tensor* const bad = ggml_view_2d(p.context, x, 2, 8, x->nb[1], 2 * sizeof(float));
  ggml_tensor* const fine = p.named(ggml_sqrt(p.context, ggml_cont(p.context, good)), "root-0");
  ggml_tensor* const turned = ggml_reshape_1d(p.context, ggml_cont(p.context, ggml_transpose(p.context, bad)), 16);
  ggml_tensor* const root = p.named(ggml_sqrt(p.context, turned), "root-1");
  ggml_tensor* const sum = ggml_add(p.context, ggml_sum(p.context, fine), ggml_sum(p.context, root));
  p.compute(p.graph_of({sum}));
}

// The allocator gives each op the memory of its input.
void reuse() {
  Program p(Way::attached);
  ggml_tensor* t = p.leaf("x", {64}, {1, 2, 3});
  for (int i = 0; i < 4; ++i) {
    t = p.named(ggml_scale(p.context, t, i == 2 ? 100.0F : 0.5F), layer("scaled", i).c_str());
    t = p.named(ggml_exp(p.context, t), layer("exp", i).c_str());
    t = p.named(ggml_tanh(p.context, t), layer("tanh", i).c_str());
    if (i == 2) t = p.named(ggml_sub(p.context, t, t), layer("zero", i).c_str());
  }
  p.compute(p.graph_of({t}));
}

void backward() {
  Program p(Way::watched);
  ggml_tensor* const x = p.leaf("x", {8}, {4, 0, 1, 9});
  ggml_set_param(x);
  ggml_tensor* const root = p.named(ggml_sqrt(p.context, x), "root-0");
  ggml_tensor* const loss = p.named(ggml_sum(p.context, ggml_sqr(p.context, root)), "loss");
  ggml_set_loss(loss);
  ggml_cgraph* const graph = p.graph_of({loss}, true);
  ggml_build_backward_expand(p.context, graph, nullptr);
  p.place_weights();
  ggml_backend_sched_alloc_graph(p.scheduler, graph);
  ggml_graph_reset(graph);
  if (nanlens::ggml::compute(p.scheduler, graph) != GGML_STATUS_SUCCESS) std::puts("ggml failed");
}

// Its own callback still gets its calls.
void chained() {
  log_negative(Way::callback);
  std::printf("own callback: asked %d, told %d\n", own_asked, own_told);
}

// Two graphs by turns; the second has the mistake.
void several_graphs() {
  Program p(Way::watched);
  ggml_tensor* const x = p.leaf("x", {16}, {1, 2, 3});
  ggml_cgraph* const first = p.graph_of({p.named(ggml_sqr(p.context, x), "sqr-0")});
  ggml_cgraph* const second = p.graph_of({p.named(ggml_log(p.context, ggml_neg(p.context, x)), "log-1")});
  for (int i = 0; i < 3; ++i) {
    p.compute(first);
    p.compute(second);
  }
}

// A causal mask, scores far apart, and rows written into a cache that is not initialised otherwise.
void clean() {
  Program p(Way::attached);
  ggml_tensor* const numbers = ggml_new_tensor_1d(p.weights, GGML_TYPE_I64, 4);
  ggml_tensor* const cache = p.leaf("cache_k_l0", {32, 16}, {std::nanf("")}, GGML_TYPE_F16);
  ggml_tensor* rows = nullptr;
  ggml_tensor* const result = layers(p, 2, {}, -1, GGML_TYPE_Q8_0, [&](ggml_tensor* t, int) {
    rows = ggml_set_rows(p.context, cache, t, numbers);
    return ggml_soft_max(p.context, ggml_diag_mask_inf(p.context, ggml_scale(p.context, t, 50.0F), 0));
  });
  p.place_weights();
  const std::int64_t where[] = {3, 1, 0, 2};
  ggml_backend_tensor_set(numbers, where, 0, sizeof where);
  ggml_cgraph* const graph = p.graph_of({rows, result});
  ggml_backend_sched_alloc_graph(p.scheduler, graph);
  ggml_backend_sched_graph_compute(p.scheduler, graph);
}

// Every result is finite.
void flags() {
  Program p(Way::attached);
  ggml_tensor* const result = layers(
      p, 3, {}, -1, GGML_TYPE_F32, [&](ggml_tensor* t, int i) { return i == 1 ? ggml_scale(p.context, t, 1e37F) : t; });
  p.compute(p.graph_of({result}), 2);
}

// What the op read is gone when it has run, and nothing on record made it.
void in_place() {
  Program p(Way::attached);
  ggml_tensor* const x = p.leaf("blk.3.gain.weight", {16}, {1, 0, 2});
  p.compute(p.graph_of({p.named(ggml_log_inplace(p.context, x), "log-3")}));
}

// What was written into a cache is read by a view of it.
void cache() {
  Program p(Way::attached);
  ggml_tensor* const cache = p.leaf("cache_k_l0", {16, 8}, {0});
  ggml_tensor* const x = p.leaf("x", {16}, {1, -2, 3});
  ggml_tensor* const key = p.named(ggml_sqrt(p.context, x), "k-0");
  ggml_tensor* const row = ggml_view_1d(p.context, cache, 16, 2 * cache->nb[1]);
  ggml_tensor* const written = ggml_cpy(p.context, key, row);
  ggml_cgraph* const graph = p.graph_of({written});
  ggml_tensor* const read = ggml_view_2d(p.context, cache, 16, 4, cache->nb[1], 0);
  ggml_tensor* const scores = p.named(ggml_mul_mat(p.context, read, x), "kq-0");
  ggml_build_forward_expand(graph, scores);
  ggml_set_output(scores);
  p.compute(graph);
}

// What the first step makes of the weights is what the next steps read.
void training() {
  Program p(Way::attached);
  ggml_tensor* const weight = p.leaf("blk.0.w.weight", {8}, {1, 2, 0, 3});
  ggml_tensor* const rate = p.leaf("rate", {2}, {0.01F, 0});
  ggml_set_param(weight);
  ggml_tensor* const hidden = p.named(ggml_scale(p.context, weight, 2), "h-0");
  ggml_tensor* const slope = p.named(ggml_log(p.context, hidden), "log-0");
  ggml_tensor* const gradient = p.named(ggml_mul(p.context, slope, slope), "grad-0");
  p.compute(p.graph_of({ggml_opt_step_sgd(p.context, weight, gradient, rate)}), 3);
}

// The smallest way to compute. Nothing of ggml has been used before: it fills its tables with the first node.
void in_one_context() {
  ggml_context* const context = ggml_init({1 << 20, nullptr, false});
  ggml_tensor* const x = ggml_new_tensor_1d(context, GGML_TYPE_F32, 16);
  ggml_set_f32(ggml_set_name(x, "x"), 2);
  ggml_tensor* const root =
      ggml_set_name(ggml_sqrt(context, ggml_set_name(ggml_sqr(context, x), "square-0")), "root-0");
  ggml_cgraph* const graph = ggml_new_graph(context);
  ggml_build_forward_expand(graph, root);
  nanlens::ggml::compute(graph, [&](ggml_cgraph* part) { return ggml_graph_compute_with_ctx(context, part, 1); });
  ggml_free(context);
}

const std::map<std::string, std::function<void()>> programs{
    {"log_negative", [] { log_negative(Way::attached); }},
    {"two_threads", [] { log_negative(Way::watched, 2); }},
    {"div_zero", div_zero},
    {"masked_row", masked_row},
    {"matmul_overflow", matmul_overflow},
    {"quantised", quantised},
    {"half_overflow", half_overflow},
    {"views", views},
    {"reuse", reuse},
    {"backward", backward},
    {"chained", chained},
    {"several_graphs", several_graphs},
    {"clean", clean},
    {"flags", flags},
    {"in_one_context", in_one_context},
    {"in_place", in_place},
    {"cache", cache},
    {"training", training},
};

}  // namespace

int main(int argc, char** argv) {
  const auto found = programs.find(argc > 1 ? argv[1] : "");
  if (found == programs.end()) {
    for (const auto& [name, run] : programs) std::puts(name.c_str());
    return 2;
  }
  found->second();
  return 0;
}
