/// @file
/// PyTorch's own threads help to summarise large tensors, as they helped to make them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <dlfcn.h>
#include <unistd.h>

#include <ATen/Config.h>
#include <ATen/Parallel.h>

#include <nanlens/capture/platform.hpp>
#include <nanlens/config.hpp>
#include <nanlens/summary/work_sharing.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN torch_host {

/// The OpenMP runtime that PyTorch runs on, of which a process may have several, by the entry points that GCC's code
/// calls and the other runtimes have as well. None of a PyTorch with threads of its own.
struct OpenMp {
  void (*parallel)(void (*function)(void*), void* data, unsigned num_threads, unsigned flags) = nullptr;
  int (*thread_num)() = nullptr;
  int (*num_threads)() = nullptr;
  pid_t process = 0;  ///< whose threads they are

  static const OpenMp& get() noexcept {
    static const OpenMp found = find();
    return found;
  }

 private:
  static OpenMp find() noexcept {
    OpenMp open_mp;
    Dl_info torch{};
    if (!AT_PARALLEL_OPENMP) return open_mp;
    if (::dladdr(reinterpret_cast<void*>(&::at::get_num_threads), &torch) == 0) return open_mp;
    void* const library = ::dlopen(torch.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) return open_mp;
    const auto look_up = [library](auto& function, const char* name) {  // in what the library itself depends on
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
      return function != nullptr;
    };
    if (look_up(open_mp.thread_num, "omp_get_thread_num") && look_up(open_mp.num_threads, "omp_get_num_threads") &&
        look_up(open_mp.parallel, "GOMP_parallel"))
      open_mp.process = ::getpid();
    ::dlclose(library);
    return open_mp;
  }
};

/// Whether it is worth while to ask for help: threads that the machine has no processor for are waited for, and then
/// one thread alone is faster by far.
class Helpfulness {
 public:
  static Helpfulness& get() noexcept {
    static Helpfulness helpfulness;
    return helpfulness;
  }
  /// False for a while after help has come late.
  bool worth_while() noexcept {
    if (alone_.load(std::memory_order_relaxed) <= 0) return true;
    alone_.fetch_sub(1, std::memory_order_relaxed);
    return false;
  }
  void took(std::size_t pieces, std::uint64_t ns) noexcept {
    constexpr std::size_t bytes_per_ns = 4;  // one thread reads some times as much
    constexpr int counts_alone = 200;
    if (ns > pieces * nanlens::detail::piece_bytes / bytes_per_ns)
      alone_.store(counts_alone, std::memory_order_relaxed);
  }

 private:
  std::atomic<int> alone_{0};  ///< counts from now on that are made without help
};

/// A ShareWork: neighbouring pieces go to the same thread, as PyTorch's own loops have it.
inline bool share_work(std::size_t pieces, void (*piece)(void* work, std::size_t index) noexcept, void* work) noexcept {
  const OpenMp& open_mp = OpenMp::get();
  // In a forked process the threads that the runtime counts on don't exist.
  if (open_mp.process == 0 || open_mp.process != ::getpid()) return false;
  const int threads = ::at::get_num_threads();
  if (threads < 2 || ::at::in_parallel_region() || !Helpfulness::get().worth_while()) return false;
  struct Team {
    const OpenMp& open_mp;
    std::size_t pieces;
    void (*piece)(void* work, std::size_t index) noexcept;
    void* work;
  } team{open_mp, pieces, piece, work};
  const auto part = [](void* data) {
    const auto& of = *static_cast<const Team*>(data);
    const auto number = static_cast<std::size_t>(of.open_mp.thread_num());
    const auto members = static_cast<std::size_t>(of.open_mp.num_threads());
    for (std::size_t i = of.pieces * number / members; i < of.pieces * (number + 1) / members; ++i)
      of.piece(of.work, i);
  };
  const std::uint64_t begun_ns = nanlens::detail::steady_now_ns();
  open_mp.parallel(part, &team, static_cast<unsigned>(threads), 0);
  Helpfulness::get().took(pieces, nanlens::detail::steady_now_ns() - begun_ns);
  return true;
}

}  // namespace NANLENS_HIDDEN torch_host
}  // namespace nanlens::inline NANLENS_ABI
