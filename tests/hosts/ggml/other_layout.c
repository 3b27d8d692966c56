/** @file
 * A library that calls itself ggml and lays its tensors out in another way; with -DONLY_ONE it has but one of ggml's
 * functions, with -DMAIN this is a program that computes with it.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef MAIN

int ggml_backend_graph_compute(void* backend, void* graph);
int main(void) {
  printf("computed: %d\n", ggml_backend_graph_compute(NULL, NULL));
  return 0;
}

#else

struct ggml_tensor {
  int32_t type;
  void* buffer;
  int64_t ne[4];
  size_t nb[4];
  int32_t op_params[8]; /* others have 16 */
  int32_t flags;
  char name[64];
  char rest[1024];
};

const char* ggml_op_desc(const struct ggml_tensor* tensor) { return tensor == NULL ? "" : "NONE"; }
int ggml_backend_graph_compute(void* backend, void* graph) { return backend == graph ? 7 : -1; }

#ifndef ONLY_ONE
struct parameters {
  size_t size;
  void* buffer;
  bool no_alloc;
};
void* ggml_init(struct parameters p) { return p.size == 0 ? NULL : malloc(1); }
void ggml_free(void* context) { free(context); }
struct ggml_tensor* ggml_new_tensor_4d(void* context, int32_t type, int64_t a, int64_t b, int64_t c, int64_t d) {
  struct ggml_tensor* const tensor = calloc(1, context == NULL ? 0 : sizeof *tensor);
  tensor->type = type;
  const int64_t ne[] = {a, b, c, d};
  memcpy(tensor->ne, ne, sizeof ne);
  tensor->nb[0] = type == 0 ? 4 : 2;
  for (int i = 1; i < 4; ++i) tensor->nb[i] = tensor->nb[i - 1] * (size_t)ne[i - 1];
  return tensor;
}
size_t ggml_nbytes(const struct ggml_tensor* tensor) { return tensor->nb[3] * (size_t)tensor->ne[3]; }
struct ggml_tensor* ggml_set_name(struct ggml_tensor* tensor, const char* name) {
  strncpy(tensor->name, name, sizeof tensor->name - 1);
  return tensor;
}
const char* ggml_get_name(const struct ggml_tensor* tensor) { return tensor->name; }
const char* ggml_type_name(int32_t type) { return type == 0 ? "f32" : "f16"; }

#define NEVER_CALLED(function) \
  void function(void) { abort(); }
NEVER_CALLED(ggml_blck_size)
NEVER_CALLED(ggml_type_size)
NEVER_CALLED(ggml_graph_n_nodes)
NEVER_CALLED(ggml_graph_node)
NEVER_CALLED(ggml_backend_buffer_is_host)
NEVER_CALLED(ggml_backend_tensor_get)
NEVER_CALLED(ggml_graph_overhead_custom)
NEVER_CALLED(ggml_new_graph_custom)
NEVER_CALLED(ggml_graph_clear)
NEVER_CALLED(ggml_graph_add_node)
NEVER_CALLED(ggml_view_2d)
NEVER_CALLED(ggml_add)
NEVER_CALLED(ggml_get_data)
NEVER_CALLED(ggml_set_input)
NEVER_CALLED(ggml_op_name)
NEVER_CALLED(ggml_backend_cpu_buffer_type)
NEVER_CALLED(ggml_backend_alloc_ctx_tensors_from_buft)
NEVER_CALLED(ggml_backend_buffer_free)
NEVER_CALLED(ggml_backend_buffer_get_type)
NEVER_CALLED(ggml_backend_buft_get_device)
NEVER_CALLED(ggml_backend_dev_type)
NEVER_CALLED(ggml_backend_sched_set_eval_callback)
#endif

#endif
