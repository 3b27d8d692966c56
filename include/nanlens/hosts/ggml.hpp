/// @file
/// ggml, and llama.cpp and others that are built on it: every graph that a program computes is recorded as a graph, and
/// what its nodes gave, with no change to the program but one line:
///
///     #include <nanlens/hosts/ggml.hpp>
///     nanlens::ggml::attach(scheduler);                      // a ggml_backend_sched_t
///     params.cb_eval = nanlens::ggml::callback;              // or so, where the scheduler is llama.cpp's
///     nanlens::ggml::compute(backend, graph);                // or so, where there is none
///
/// or with none, where ggml is a shared library: `nanlens run -- PROGRAM`. Turn recording on as anywhere, by
/// enable_dump_debug_info or the environment. While it is on, ggml computes node by node.
///
/// Nodes have ggml's names ("ffn_up-1", "blk.1.ffn_up.weight"); views make no values. Quantised tensors are read by
/// ggml's own functions, those of devices are copied. Floating-point exceptions are those of the calling thread: let
/// ggml compute with one thread to see them all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>

#include <ggml-backend.h>
#include <ggml.h>

#include <nanlens/config.hpp>
#include <nanlens/nanlens.hpp>
#if !defined(NANLENS_DISABLE)
#include <nanlens/hosts/ggml/observer.hpp>
#endif

namespace nanlens::inline NANLENS_ABI {

/// ggml as a host.
namespace ggml {

/// A callback of the program's own, for `callback` to hand on: cb_eval_user_data points to it.
struct Chained {
  ggml_backend_sched_eval_callback callback = nullptr;
  void* user_data = nullptr;
};

/// From now on every node that the scheduler computes is recorded, while recording is on; else it computes as ever.
/// `own`, a callback that the program wants called, is called as if there was no other. False if `nanlens run` records
/// the program already. Once for each scheduler, which must not be given another callback.
NANLENS_HIDDEN bool attach(ggml_backend_sched_t scheduler, ggml_backend_sched_eval_callback own = nullptr,
                           void* own_data = nullptr);

/// Ends that: the scheduler has its own callback again. Before it is freed, if another may be made.
NANLENS_HIDDEN void detach(ggml_backend_sched_t scheduler);

/// An eval callback: llama_context_params.cb_eval. `chained` is null or points to a Chained that stays.
NANLENS_HIDDEN bool callback(ggml_tensor* node, bool ask, void* chained);

/// Computes a graph and records it. A scheduler knows the graph as a whole then, and not by its nodes alone.
NANLENS_HIDDEN ggml_status compute(ggml_backend_sched_t scheduler, ggml_cgraph* graph);
/// The same without a scheduler.
NANLENS_HIDDEN ggml_status compute(ggml_backend_t backend, ggml_cgraph* graph);
/// The same by a function of the program's own, which is called with graphs of one node:
/// `compute(graph, [&](ggml_cgraph* part) { return ggml_graph_compute(part, &plan); })`.
template <class ComputeOne>
ggml_status compute(ggml_cgraph* graph, const ComputeOne& compute_one);

#if defined(NANLENS_DISABLE)
inline bool attach(ggml_backend_sched_t scheduler, ggml_backend_sched_eval_callback own, void* own_data) {
  ggml_backend_sched_set_eval_callback(scheduler, own, own_data);
  return false;
}
inline void detach(ggml_backend_sched_t /*scheduler*/) {}
inline bool callback(ggml_tensor* node, bool ask, void* chained) {
  const auto* const own = static_cast<const Chained*>(chained);
  if (own == nullptr || own->callback == nullptr) return !ask;
  return own->callback(node, ask, own->user_data);
}
inline ggml_status compute(ggml_backend_sched_t scheduler, ggml_cgraph* graph) {
  return ggml_backend_sched_graph_compute(scheduler, graph);
}
inline ggml_status compute(ggml_backend_t backend, ggml_cgraph* graph) {
  return ggml_backend_graph_compute(backend, graph);
}
template <class ComputeOne>
ggml_status compute(ggml_cgraph* graph, const ComputeOne& compute_one) {
  return compute_one(graph);
}
#else
namespace detail {

inline bool is_of_cpu(ggml_backend_buffer_t buffer) {
  ggml_backend_device* const device = ggml_backend_buft_get_device(ggml_backend_buffer_get_type(buffer));
  return device == nullptr || ggml_backend_dev_type(device) == GGML_BACKEND_DEVICE_TYPE_CPU;
}

inline ggml_host::Calls linked_calls() {
  ggml_host::Calls calls;
  calls.op_desc = &ggml_op_desc;
  calls.num_bytes = &ggml_nbytes;
  calls.block_elements = &ggml_blck_size;
  calls.block_bytes = &ggml_type_size;
  calls.graph_size = &ggml_graph_n_nodes;
  calls.graph_node = &ggml_graph_node;
  calls.is_host = &ggml_backend_buffer_is_host;
  calls.buffer_name = &ggml_backend_buffer_name;
  calls.read = &ggml_backend_tensor_get;
  calls.is_of_cpu = &is_of_cpu;
  calls.traits = &ggml_get_type_traits;
  calls.init = &ggml_init;
  calls.free = &ggml_free;
  calls.graph_overhead = &ggml_graph_overhead_custom;
  calls.new_graph = &ggml_new_graph_custom;
  calls.clear_graph = &ggml_graph_clear;
  calls.add_node = &ggml_graph_add_node;
  return calls;
}

/// True if this program records ggml itself; false under `nanlens run`, which does.
inline bool is_ours() {
  static const bool ours = [] {
    ggml_host::calls = linked_calls();
    return nanlens::detail::recorder().claim_host(std::string_view("ggml"), nullptr);
  }();
  return ours;
}

/// What is under way in this thread under `callback`.
inline ggml_host::Watcher& watcher_of(const Chained* chained) {
  static thread_local std::unordered_map<const Chained*, ggml_host::Watcher> watchers;
  const auto found = watchers.find(chained);
  if (found != watchers.end()) return found->second;
  return watchers
      .try_emplace(chained, chained == nullptr ? ggml_host::Chained{}
                                               : ggml_host::Chained{chained->callback, chained->user_data})
      .first->second;
}

/// Schedulers that are attached to.
struct NANLENS_HIDDEN Attached {
  std::mutex lock;
  std::unordered_map<ggml_backend_sched_t, std::unique_ptr<ggml_host::Watcher> > watchers;
};
inline Attached& attached() {
  static auto* const schedulers = new Attached;
  return *schedulers;
}

}  // namespace detail

inline bool attach(ggml_backend_sched_t scheduler, ggml_backend_sched_eval_callback own, void* own_data) {
  if (!detail::is_ours()) {
    ggml_backend_sched_set_eval_callback(scheduler, own, own_data);
    return false;
  }
  detail::Attached& attached = detail::attached();
  const std::lock_guard guard(attached.lock);
  auto& watcher = attached.watchers[scheduler];
  watcher = std::make_unique<ggml_host::Watcher>(ggml_host::Chained{own, own_data});
  ggml_backend_sched_set_eval_callback(scheduler, &ggml_host::Watcher::node, watcher.get());
  return true;
}

inline void detach(ggml_backend_sched_t scheduler) {
  detail::Attached& attached = detail::attached();
  const std::lock_guard guard(attached.lock);
  const auto found = attached.watchers.find(scheduler);
  if (found == attached.watchers.end()) return;
  const ggml_host::Chained& own = found->second->chained();
  ggml_backend_sched_set_eval_callback(scheduler, own.callback, own.user_data);
  found->second->end(false);
  attached.watchers.erase(found);
}

inline bool callback(ggml_tensor* node, bool ask, void* chained) {
  const auto* const own = static_cast<const Chained*>(chained);
  if (detail::is_ours()) return ggml_host::Watcher::node(node, ask, &detail::watcher_of(own));
  if (own == nullptr || own->callback == nullptr) return !ask;
  return own->callback(node, ask, own->user_data);
}

inline ggml_status compute(ggml_backend_sched_t scheduler, ggml_cgraph* graph) {
  if (!detail::is_ours()) return ggml_backend_sched_graph_compute(scheduler, graph);
  ggml_host::Watcher* watcher = nullptr;
  {
    const std::lock_guard guard(detail::attached().lock);
    const auto found = detail::attached().watchers.find(scheduler);
    if (found != detail::attached().watchers.end()) watcher = found->second.get();
  }
  const auto set = [&](ggml_backend_sched_eval_callback callback, void* data) {
    ggml_backend_sched_set_eval_callback(scheduler, callback, data);
  };
  const ggml_host::Chained own = watcher == nullptr ? ggml_host::Chained{} : watcher->chained();
  const auto run = [&] { return static_cast<int>(ggml_backend_sched_graph_compute(scheduler, graph)); };
  const int status = ggml_host::compute_watched(graph, own, set, run);
  set(watcher == nullptr ? nullptr : &ggml_host::Watcher::node, watcher);
  return static_cast<ggml_status>(status);
}

template <class ComputeOne>
ggml_status compute(ggml_cgraph* graph, const ComputeOne& compute_one) {
  if (!detail::is_ours()) return compute_one(graph);
  return static_cast<ggml_status>(
      ggml_host::compute_each(graph, [&](ggml_cgraph* part) { return static_cast<int>(compute_one(part)); }));
}

inline ggml_status compute(ggml_backend_t backend, ggml_cgraph* graph) {
  return compute(graph, [&](ggml_cgraph* part) { return ggml_backend_graph_compute(backend, part); });
}
#endif

}  // namespace ggml

}  // namespace nanlens::inline NANLENS_ABI
