/// @file
/// Weights that a graph trains: what one run of it made bad is followed into the next.
#pragma once

#include <cstdint>
#include <mutex>
#include <string_view>
#include <unordered_set>

#include <nanlens/capture/client.hpp>
#include <nanlens/capture/tensor_link.hpp>
#include <nanlens/config.hpp>
#include <nanlens/hosts/ggml/tensor_values.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN ggml_host {

/// True for the nodes of optimizers, which write their first input.
inline bool is_optimizer(const ::ggml_tensor& node) {
  return std::string_view(calls.op_desc(&node)).starts_with("OPT_STEP_");
}

/// What optimizers have written: variables of the recorder, by their memory. Other leaves that nodes write, caches, are
/// none: they are large, and may hold what nobody has written.
class Parameters {
 public:
  static Parameters& get() {
    static auto* const parameters = new Parameters;
    return *parameters;
  }
  /// The memory of one, from now on a variable.
  nanlens::detail::TensorKey add(const TensorView& view) {
    const nanlens::detail::TensorKey key = nanlens::detail::key_of(view);
    const std::lock_guard guard(lock_);
    if (!key.empty() && begins_.insert(key.begin).second) nanlens::detail::recorder().declare_variable(key);
    return key;
  }
  [[nodiscard]] bool has(const void* data) {
    const std::lock_guard guard(lock_);
    return begins_.contains(reinterpret_cast<std::uintptr_t>(data));
  }

 private:
  std::mutex lock_;
  std::unordered_set<std::uintptr_t> begins_;
};

}  // namespace NANLENS_HIDDEN ggml_host
}  // namespace nanlens::inline NANLENS_ABI
