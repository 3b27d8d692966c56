/// @file
/// The adapter as an object that `nanlens run` loads into a program that has ggml as a shared library: it needs no
/// headers of ggml. One translation unit of a shared library includes this, and nothing else does.
#pragma once

#define NANLENS_GGML_DECLARED

#include <cstdio>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <dlfcn.h>
#include <link.h>

#include <nanlens/hosts/ggml/watch.h>
#include <nanlens/config.hpp>
#include <nanlens/hosts/ggml/layout.hpp>
#include <nanlens/hosts/ggml/observer.hpp>
#include <nanlens/nanlens.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN ggml_host {

/// The callbacks that the program has given to its schedulers.
class Callbacks {
 public:
  static Callbacks& get() {
    static auto* const callbacks = new Callbacks;
    return *callbacks;
  }
  void set(const void* scheduler, const Chained& chained) {
    const std::lock_guard guard(lock_);
    if (chained.callback == nullptr)
      of_.erase(scheduler);
    else
      of_[scheduler] = chained;
  }
  [[nodiscard]] Chained find(const void* scheduler) {
    const std::lock_guard guard(lock_);
    const auto found = of_.find(scheduler);
    return found == of_.end() ? Chained{} : found->second;
  }

 private:
  std::mutex lock_;
  std::unordered_map<const void*, Chained> of_;
};

inline void (*set_eval_callback)(void* scheduler, nanlens_ggml_callback* callback, void* user_data) = nullptr;

inline int compute_by_scheduler(nanlens_ggml_compute* real, void* scheduler, void* graph) {
  const Chained own = Callbacks::get().find(scheduler);
  const auto set = [&](nanlens_ggml_callback* callback, void* data) { set_eval_callback(scheduler, callback, data); };
  const int status =
      compute_watched(static_cast<::ggml_cgraph*>(graph), own, set, [&] { return real(scheduler, graph); });
  set(own.callback, own.user_data);
  return status;
}

inline int compute_by_backend(nanlens_ggml_compute* real, void* backend, void* graph) {
  return compute_each(static_cast<::ggml_cgraph*>(graph), [&](::ggml_cgraph* part) { return real(backend, part); });
}

inline int compute_by_plan(nanlens_ggml_compute* real, void* graph, void* plan) {
  return compute_each(static_cast<::ggml_cgraph*>(graph), [&](::ggml_cgraph* part) { return real(part, plan); });
}

inline void note_callback(void* scheduler, nanlens_ggml_callback* callback, void* user_data) {
  without_throwing([&] { Callbacks::get().set(scheduler, {callback, user_data}); });
}

/// A library of the process that has ggml's functions; null if there is none.
inline void* find_ggml() {
  std::vector<std::string> paths;  // opened later: libraries must not be opened while they are gone over
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* to) {
        const char* const slash = std::strrchr(info->dlpi_name, '/');
        const std::string_view file = slash == nullptr ? info->dlpi_name : slash + 1;
        if (file.starts_with("libggml") || file.starts_with("libllama"))
          static_cast<std::vector<std::string>*>(to)->emplace_back(info->dlpi_name);
        return 0;
      },
      static_cast<void*>(&paths));
  for (const std::string& path : paths) {
    void* const handle = ::dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (handle != nullptr && ::dlsym(handle, "ggml_op_desc") != nullptr) return handle;
  }
  return nullptr;
}

inline void watch_ggml() {
  void* const library = find_ggml();
  auto* const watch = reinterpret_cast<nanlens_watch_ggml_function*>(::dlsym(RTLD_DEFAULT, "nanlens_watch_ggml"));
  std::string why = library == nullptr ? "its functions can't be found" : use_library(library);
  if (watch == nullptr) why = "this was not loaded by nanlens run";
  if (why.empty())
    set_eval_callback =
        reinterpret_cast<decltype(set_eval_callback)>(::dlsym(library, "ggml_backend_sched_set_eval_callback"));
  if (why.empty() && set_eval_callback == nullptr) why = "it has no ggml_backend_sched_set_eval_callback";
  if (!why.empty()) {
    std::fprintf(stderr, "nanlens: ggml is not recorded: %s; a program can include nanlens/hosts/ggml.hpp instead\n",
                 why.c_str());
    return;
  }
  if (!nanlens::detail::recorder().claim_host(std::string_view("ggml"), nullptr)) return;
  static const nanlens_ggml_watch functions{reinterpret_cast<void*>(calls.op_desc), &compute_by_scheduler,
                                            &compute_by_backend, &compute_by_plan, &note_callback};
  watch(&functions);
}

}  // namespace NANLENS_HIDDEN ggml_host
}  // namespace nanlens::inline NANLENS_ABI

namespace {

[[gnu::constructor]] void watch_when_loaded() { nanlens::ggml_host::watch_ggml(); }

}  // namespace
