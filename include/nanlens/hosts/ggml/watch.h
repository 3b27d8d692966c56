/** @file
 * What lies between the functions of ggml that `nanlens run` stands in front of, and the adapter that they call once it
 * is in the process. C11.
 */
#pragma once

#include <stdbool.h>

struct ggml_tensor;

#ifdef __cplusplus
extern "C" {
#endif

/** ggml_backend_sched_graph_compute and the like: two pointers, and a status. */
typedef int nanlens_ggml_compute(void*, void*);
/** ggml_backend_sched_eval_callback. */
typedef bool nanlens_ggml_callback(struct ggml_tensor* node, bool ask, void* user_data);

/** The adapter's functions; each computes by calling `real`, ggml's own. */
struct nanlens_ggml_watch {
  /** ggml_op_desc of the ggml that is watched: others in the process are left alone. */
  void* op_desc;
  int (*scheduler)(nanlens_ggml_compute* real, void* scheduler, void* graph);
  int (*backend)(nanlens_ggml_compute* real, void* backend, void* graph);
  int (*plan)(nanlens_ggml_compute* real, void* graph, void* plan);
  /** A scheduler got an eval callback of the program's, or null. */
  void (*set_callback)(void* scheduler, nanlens_ggml_callback* callback, void* user_data);
};

/** The adapter is there; `watch` stays. */
typedef void nanlens_watch_ggml_function(const struct nanlens_ggml_watch* watch);

#ifdef __cplusplus
}
#endif
