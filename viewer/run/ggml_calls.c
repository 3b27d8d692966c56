/** @file
 * Functions of ggml that compute, as programs and ggml's own libraries call them: here they go to the adapter first,
 * once that is in the process. Without it, or in a program that has several copies of ggml for those that it does not
 * watch, each goes on to where it would have gone.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include <nanlens/hosts/ggml/watch.h>

#include "preload.h"

#define EXPORTED __attribute__((visibility("default")))
#define CALLER __builtin_return_address(0)

static const struct nanlens_ggml_watch* _Atomic watch;

/* Within a call that the adapter watches, ggml calls the same functions by itself. */
static __thread int inside __attribute__((tls_model("initial-exec")));

/** For the adapter, which finds this by its name. */
EXPORTED void nanlens_watch_ggml(const struct nanlens_ggml_watch* adapter) { watch = adapter; }

/* A function of the library or program that an address lies in, or of those that it is linked with. */
static void* seen_from(const void* address, const char* name) {
  Dl_info info;
  struct link_map* map = NULL;
  if (dladdr1(address, &info, (void**)&map, RTLD_DL_LINKMAP) == 0 || map == NULL || *map->l_name == '\0') return NULL;
  void* const owner = real_dlopen()(map->l_name, RTLD_LAZY | RTLD_NOLOAD);
  if (owner == NULL) return NULL;
  void* const found = dlsym(owner, name);
  dlclose(owner); /* it has been there, and stays */
  return found;
}

/* The function that the caller would have called without us. */
static void* real_function(const char* name, const void* own, const void* caller) {
  void* const found = seen_from(caller, name);
  if (found != NULL && found != own) return found;
  void* const next = dlsym(RTLD_NEXT, name);
  if (next == NULL) fprintf(stderr, "nanlens: there is no %s in this process\n", name);
  return next;
}

/* What a compute function that is called for every node was looked up for last. */
struct known {
  unsigned long call;
  const void* caller;
  nanlens_ggml_compute* real;
};

/* Counts calls that the adapter watches: until such a call ends no library goes. */
static __thread unsigned long call __attribute__((tls_model("initial-exec")));

static nanlens_ggml_compute* real_compute(const char* name, void* own, const void* caller, struct known* known) {
  if (inside != 0 && known->call == call && known->caller == caller) return known->real;
  known->real = (nanlens_ggml_compute*)real_function(name, own, caller);
  known->caller = caller;
  known->call = inside != 0 ? call : 0;
  return known->real;
}

/* The adapter, where it watches the ggml that this function belongs to. */
static const struct nanlens_ggml_watch* watcher_of(nanlens_ggml_compute* real) {
  const struct nanlens_ggml_watch* const adapter = watch;
  if (adapter == NULL || real == NULL || inside != 0) return NULL;
  if (seen_from((const void*)real, "ggml_op_desc") == adapter->op_desc) return adapter;
  static atomic_flag said = ATOMIC_FLAG_INIT;
  if (!atomic_flag_test_and_set(&said))
    fprintf(stderr, "nanlens: there are several copies of ggml in this process: only the first is recorded\n");
  return NULL;
}

enum { ggml_failed = -1 };
#define COMPUTE(function, way, first, second)                                                    \
  EXPORTED int function(void* first, void* second) {                                             \
    static __thread struct known known __attribute__((tls_model("initial-exec")));               \
    nanlens_ggml_compute* const real = real_compute(#function, (void*)function, CALLER, &known); \
    const struct nanlens_ggml_watch* const adapter = watcher_of(real);                           \
    if (real == NULL) return ggml_failed;                                                        \
    if (adapter == NULL) return real(first, second);                                             \
    ++inside;                                                                                    \
    ++call;                                                                                      \
    const int status = adapter->way(real, first, second);                                        \
    --inside;                                                                                    \
    return status;                                                                               \
  }

EXPORTED int ggml_backend_sched_graph_compute(void* scheduler, void* graph);
EXPORTED int ggml_backend_sched_graph_compute_async(void* scheduler, void* graph);
EXPORTED int ggml_backend_graph_compute(void* backend, void* graph);
EXPORTED int ggml_backend_graph_compute_async(void* backend, void* graph);
EXPORTED int ggml_graph_compute(void* graph, void* plan);
EXPORTED void ggml_backend_sched_set_eval_callback(void* scheduler, nanlens_ggml_callback* callback, void* user_data);
EXPORTED void ggml_backend_sched_free(void* scheduler);

COMPUTE(ggml_backend_sched_graph_compute, scheduler, scheduler, graph)
COMPUTE(ggml_backend_sched_graph_compute_async, scheduler, scheduler, graph)
COMPUTE(ggml_backend_graph_compute, backend, backend, graph)
COMPUTE(ggml_backend_graph_compute_async, backend, backend, graph)
COMPUTE(ggml_graph_compute, plan, graph, plan)

EXPORTED void ggml_backend_sched_set_eval_callback(void* scheduler, nanlens_ggml_callback* callback, void* user_data) {
  typedef void set_function(void*, nanlens_ggml_callback*, void*);
  set_function* const real = (set_function*)real_function("ggml_backend_sched_set_eval_callback",
                                                          (void*)ggml_backend_sched_set_eval_callback, CALLER);
  const struct nanlens_ggml_watch* const adapter = watch;
  if (adapter != NULL) adapter->set_callback(scheduler, callback, user_data);
  if (real != NULL) real(scheduler, callback, user_data);
}

EXPORTED void ggml_backend_sched_free(void* scheduler) {
  typedef void free_function(void*);
  free_function* const real =
      (free_function*)real_function("ggml_backend_sched_free", (void*)ggml_backend_sched_free, CALLER);
  const struct nanlens_ggml_watch* const adapter = watch;
  if (adapter != NULL) adapter->set_callback(scheduler, NULL, NULL); /* another may get its address */
  if (real != NULL) real(scheduler);
}
