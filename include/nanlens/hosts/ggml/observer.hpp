/// @file
/// ggml's eval callback, and graphs that are computed where there is none.
#pragma once

#include <cstddef>
#include <mutex>
#include <thread>
#include <unordered_map>

#include <nanlens/config.hpp>
#include <nanlens/hosts/ggml/graph_run.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN ggml_host {

/// An eval callback of the program's own, which goes on being called.
struct Chained {
  bool (*callback)(::ggml_tensor* node, bool ask, void* user_data) = nullptr;
  void* user_data = nullptr;
};

class Watcher;

/// Runs of graphs whose end nobody tells: they end with the thread that began them, while it can still record.
class OpenRuns {
 public:
  static OpenRuns& get() {
    static auto* const runs = new OpenRuns;
    return *runs;
  }
  /// Of this thread, which has recorded before.
  void add(Watcher& watcher) {
    static thread_local const Ender ender;
    (void)ender;
    const std::lock_guard guard(lock_);
    open_[&watcher] = std::this_thread::get_id();
  }
  void remove(Watcher& watcher) noexcept {
    const std::lock_guard guard(lock_);
    open_.erase(&watcher);
  }

 private:
  struct Ender {
    ~Ender() { get().end_of(std::this_thread::get_id()); }
  };
  void end_of(std::thread::id thread) noexcept;
  std::mutex lock_;
  std::unordered_map<Watcher*, std::thread::id> open_;
};

/// What the callback of one scheduler has under way.
class Watcher {
 public:
  /// Of schedulers that are only known by their callback: nobody tells when a graph begins. It does where a node comes
  /// again.
  explicit Watcher(const Chained& chained) noexcept : chained_(chained) {}
  /// Of one run of a graph.
  Watcher(::ggml_cgraph* graph, const Chained& chained) noexcept : chained_(chained), graph_(graph) {
    without_throwing([&] { run_.begin(name_of(digest_of(graph))); });
  }
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;
  ~Watcher() {
    if (graph_ == nullptr) OpenRuns::get().remove(*this);
  }
  void end(bool failed) noexcept { run_.end(failed); }
  [[nodiscard]] const Chained& chained() const noexcept { return chained_; }

  /// An eval callback: ggml_backend_sched_eval_callback, with a Watcher for its data.
  static bool node(::ggml_tensor* node, bool ask, void* watcher) {
    auto& self = *static_cast<Watcher*>(watcher);
    return ask ? self.ask(*node) : self.take(*node);
  }

 private:
  bool ask(::ggml_tensor& node) {
    chained_wants_ = chained_.callback != nullptr && chained_.callback(&node, true, chained_.user_data);
    watches_ = graph_ != nullptr ? run_.is_open() : begin_if_new(node);
    if (watches_) without_throwing([&] { run_.before(node); });
    return watches_ || chained_wants_;
  }
  bool take(::ggml_tensor& node) {
    if (watches_) without_throwing([&] { run_.after(node); });
    return !chained_wants_ || chained_.callback(&node, false, chained_.user_data);
  }
  // True if the node's graph is recorded. A run that began while recording rested is known by its first node alone.
  bool begin_if_new(const ::ggml_tensor& node) noexcept {
    const bool again = run_.is_open() ? run_.has(node) : first_ == &node;
    if (first_ != nullptr && !again) return run_.is_open();
    if (first_ != nullptr) {
      run_.end(false);
      nanlens::detail::recorder().step();
    }
    first_ = &node;
    if (is_wanted())
      without_throwing([&] {
        run_.begin("ggml_graph");
        OpenRuns::get().add(*this);
      });
    return run_.is_open();
  }

  GraphRun run_;
  Chained chained_;
  ::ggml_cgraph* graph_ = nullptr;
  const ::ggml_tensor* first_ = nullptr;  // of a run that nobody has told the beginning of
  bool chained_wants_ = false;
  bool watches_ = false;
};

inline void OpenRuns::end_of(std::thread::id thread) noexcept {
  const std::lock_guard guard(lock_);
  for (const auto& [watcher, began] : open_)
    if (began == thread) watcher->end(false);
}

/// A graph that is not recorded: a step of the program all the same.
template <class Compute, class... Graph>
int compute_unwatched(const Compute& compute, Graph*... graph) {
  const int status = compute(graph...);
  nanlens::detail::recorder().step();
  return status;
}

/// Computes a graph node by node, where ggml has no callback: each as a graph of its own. `compute(graph)` computes one
/// and returns ggml's status, 0 if all is well.
template <class Compute>
int compute_each(::ggml_cgraph* graph, const Compute& compute) {
  constexpr std::size_t room = 4096;
  ::ggml_context* const context =
      is_wanted() ? calls.init({calls.graph_overhead(1, false) + room, nullptr, true}) : nullptr;
  if (context == nullptr) return compute_unwatched(compute, graph);
  ::ggml_cgraph* const one = calls.new_graph(context, 1, false);
  GraphRun run;
  without_throwing([&] { run.begin(name_of(digest_of(graph))); });
  int status = 0;
  const int size = calls.graph_size(graph);
  for (int i = 0; i < size && status == 0; ++i) {
    ::ggml_tensor* const node = calls.graph_node(graph, i);
    calls.clear_graph(one);
    calls.add_node(one, node);
    if (run.is_open()) without_throwing([&] { run.before(*node); });
    status = compute(one);
    if (run.is_open() && status == 0) without_throwing([&] { run.after(*node); });
  }
  run.end(status != 0);
  calls.free(context);
  nanlens::detail::recorder().step();
  return status;
}

/// Computes a graph through a scheduler: `set(callback, data)` sets its eval callback, `compute()` runs it. The caller
/// sets the one that was there before.
template <class Set, class Compute>
int compute_watched(::ggml_cgraph* graph, const Chained& chained, const Set& set, const Compute& compute) {
  if (!is_wanted()) {
    set(chained.callback, chained.user_data);
    return compute_unwatched(compute);
  }
  Watcher watcher(graph, chained);
  set(&Watcher::node, &watcher);
  const int status = compute();
  watcher.end(status != 0);
  nanlens::detail::recorder().step();
  return status;
}

}  // namespace NANLENS_HIDDEN ggml_host
}  // namespace nanlens::inline NANLENS_ABI
