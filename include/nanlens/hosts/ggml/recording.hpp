/// @file
/// Small things between ggml's callbacks and the recorder.
#pragma once

#include <atomic>
#include <cstdio>
#include <exception>

#include <nanlens/capture/check_numerics.hpp>
#include <nanlens/capture/client.hpp>
#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN ggml_host {

/// True if ops are to be recorded now.
inline bool is_wanted() noexcept { return nanlens::detail::is_active() && nanlens::detail::active_bits() != 0; }

/// While it lives, what this thread records belongs to a call.
class Within {
 public:
  explicit Within(void* call) noexcept : before_(nanlens::detail::recorder().adopt_function(call)) {}
  Within(const Within&) = delete;
  Within& operator=(const Within&) = delete;
  ~Within() { nanlens::detail::recorder().give_back_function(before_); }

 private:
  void* before_;
};

/// Runs a part of the adapter inside of ggml, which is C: what memory is wanted for is lost, and the program goes on.
template <class Body>
void without_throwing(Body&& body) noexcept {
#if NANLENS_HAS_EXCEPTIONS
  try {
    body();
  } catch (const std::exception& error) {
    static std::atomic<bool> said{false};
    if (!said.exchange(true)) std::fprintf(stderr, "nanlens: a node of ggml is not recorded: %s\n", error.what());
  }
#else
  body();
#endif
}

}  // namespace NANLENS_HIDDEN ggml_host
}  // namespace nanlens::inline NANLENS_ABI
