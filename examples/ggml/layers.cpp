// A few layers of ggml, of which one has weights that are too large: it knows nothing of nanlens.
#include <cstdio>
#include <string>
#include <vector>

#include <ggml-alloc.h>
#include <ggml-backend.h>
#include <ggml-cpu.h>
#include <ggml.h>

int main() {
  constexpr int width = 64;
  constexpr int num_layers = 4;
  ggml_backend_t backend = ggml_backend_cpu_init();
  ggml_context* weights = ggml_init({ggml_tensor_overhead() * 16, nullptr, true});
  ggml_context* context = ggml_init({ggml_tensor_overhead() * 64 + ggml_graph_overhead(), nullptr, true});

  ggml_tensor* input = ggml_set_name(ggml_new_tensor_2d(weights, GGML_TYPE_F32, width, 8), "inp_embd");
  std::vector<ggml_tensor*> matrices;
  ggml_tensor* hidden = input;
  for (int layer = 0; layer < num_layers; ++layer) {
    const std::string number = std::to_string(layer);
    matrices.push_back(ggml_new_tensor_2d(weights, GGML_TYPE_F32, width, width));
    ggml_set_name(matrices.back(), ("blk." + number + ".ffn_up.weight").c_str());
    hidden = ggml_set_name(ggml_rms_norm(context, hidden, 1e-5F), ("norm-" + number).c_str());
    hidden = ggml_set_name(ggml_mul_mat(context, matrices.back(), hidden), ("ffn_up-" + number).c_str());
    hidden = ggml_set_name(ggml_silu(context, hidden), ("ffn_act-" + number).c_str());
  }
  ggml_cgraph* graph = ggml_new_graph(context);
  ggml_build_forward_expand(graph, hidden);

  ggml_backend_buffer_t buffer = ggml_backend_alloc_ctx_tensors(weights, backend);
  std::vector<float> values(width * width, 0.5F);
  ggml_backend_tensor_set(input, values.data(), 0, ggml_nbytes(input));
  for (int layer = 0; layer < num_layers; ++layer) {
    values.assign(width * width, layer == 2 ? 1e38F : 0.01F);
    ggml_backend_tensor_set(matrices[static_cast<std::size_t>(layer)], values.data(), 0, ggml_nbytes(matrices[0]));
  }
  ggml_backend_sched_t scheduler = ggml_backend_sched_new(&backend, nullptr, 1, 64, false, true);
  ggml_backend_sched_alloc_graph(scheduler, graph);
  ggml_backend_sched_graph_compute(scheduler, graph);
  ggml_backend_tensor_get(hidden, values.data(), 0, sizeof(float));
  std::printf("result: %g\n", static_cast<double>(values[0]));

  ggml_backend_sched_free(scheduler);
  ggml_backend_buffer_free(buffer);
  ggml_free(context);
  ggml_free(weights);
  ggml_backend_free(backend);
}
