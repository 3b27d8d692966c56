/// @file
/// What parameters and buffers are called: "net.layers.3.weight", and their gradients.
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include <ATen/core/Tensor.h>

#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN torch_host {

/// A copy that lasts as long as the program; the same text is kept once.
inline const std::string& kept_name(std::string name) {
  static auto* const names = new std::set<std::string, std::less<>>;
  static std::mutex lock;
  const std::lock_guard guard(lock);
  return *names->insert(std::move(name)).first;
}

/// Which tensor an argument was: numbers to compare, whose objects may be gone.
struct TensorIdentity {
  const ::c10::TensorImpl* tensor = nullptr;
  ::c10::StorageImpl* storage = nullptr;  ///< views of a tensor have its storage
};

inline TensorIdentity identity_of(const ::c10::TensorImpl& tensor) noexcept {
  return {&tensor, tensor.unsafe_storage().unsafeGetStorageImpl()};  // the other accessor may throw
}

/// Named tensors. References to them are weak ones: they live as long as they would, but nothing else takes their
/// addresses.
class TensorNames {
 public:
  static TensorNames& get() {
    static auto* const names = new TensorNames;
    return *names;
  }

  /// The first name of a tensor stays.
  void add(::c10::TensorImpl& tensor, const std::string& name) {
    const std::lock_guard guard(lock_);
    if (by_tensor_.size() >= most_tensors) forget_gone();
    if (by_tensor_.size() >= most_tensors) return;
    const auto [at, is_new] = by_tensor_.try_emplace(&tensor);
    if (!is_new) return;
    at->second.tensor = Weak(::c10::intrusive_ptr<::c10::TensorImpl>::unsafe_reclaim_from_nonowning(&tensor));
    at->second.name = &kept_name(name);
  }

  /// The name of an argument, or of what it is a view of or the gradient of; empty where there is none. Asked for bad
  /// tensors alone: it takes a look at every named one.
  [[nodiscard]] std::string find(const TensorIdentity& argument) {
    const std::lock_guard guard(lock_);
    const std::string* viewed = nullptr;
    bool is_shared = false;  // several named tensors are in its memory: which one can't be told
    for (const auto& [tensor, named] : by_tensor_) {
      if (named.tensor.expired()) continue;
      if (tensor == argument.tensor) return *named.name;
      const ::at::Tensor& gradient = std::as_const(*tensor).grad();
      if (gradient.defined() && gradient.unsafeGetTensorImpl() == argument.tensor) return "grad of " + *named.name;
      if (argument.storage == nullptr || identity_of(*tensor).storage != argument.storage) continue;
      is_shared = is_shared || viewed != nullptr;
      viewed = named.name;
    }
    return viewed == nullptr || is_shared ? std::string() : *viewed;
  }

 private:
  using Weak = ::c10::weak_intrusive_ptr<::c10::TensorImpl>;
  struct Named {
    Weak tensor = Weak(::c10::intrusive_ptr<::c10::TensorImpl>());
    const std::string* name = nullptr;
  };
  static constexpr std::size_t most_tensors = 16'384;

  void forget_gone() {
    std::erase_if(by_tensor_, [](const auto& entry) { return entry.second.tensor.expired(); });
  }

  std::mutex lock_;
  std::unordered_map<::c10::TensorImpl*, Named> by_tensor_;
};

}  // namespace NANLENS_HIDDEN torch_host
}  // namespace nanlens::inline NANLENS_ABI
