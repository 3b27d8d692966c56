/// @file
/// Parts of larger tensors that ops have written, as gradients are put into a buffer one behind the other: what the
/// buffer holds was made part by part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <mutex>
#include <vector>

#include <nanlens/capture/tensor_link.hpp>
#include <nanlens/config.hpp>
#include <nanlens/hosts/torch/forks.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN torch_host {

/// Where they lie, for the recorder to tell whether they still are what was written.
class WrittenParts {
 public:
  struct Part {
    std::uintptr_t begin;
    std::uintptr_t end;
  };

  static WrittenParts& get() { return whole_in_each_process<WrittenParts>(); }
  void lock() { lock_.lock(); }
  void unlock() { lock_.unlock(); }

  void add(const nanlens::detail::TensorKey& key) {
    if (key.empty() || !key.dense) return;
    const std::lock_guard guard(lock_);
    const auto same = ends_.find(key.begin);
    if (same != ends_.end() && same->second == key.end) return;
    if (ends_.size() >= most_parts) ends_.clear();
    auto at = ends_.lower_bound(key.begin);
    if (at != ends_.begin() && std::prev(at)->second > key.begin) --at;
    while (at != ends_.end() && at->first < key.end) at = ends_.erase(at);
    ends_.emplace(key.begin, key.end);
  }

  /// The parts that a tensor is all made of, in order; none if there is anything else in it.
  [[nodiscard]] std::vector<Part> of(const nanlens::detail::TensorKey& key) {
    std::vector<Part> parts;
    if (!key.dense) return parts;
    const std::lock_guard guard(lock_);
    std::uintptr_t end = key.begin;
    for (auto at = ends_.find(end); end < key.end && at != ends_.end() && at->first == end; ++at) {
      parts.push_back({at->first, at->second});
      end = at->second;
    }
    if (end != key.end) parts.clear();
    return parts;
  }

 private:
  static constexpr std::size_t most_parts = 65'536;

  std::mutex lock_;
  std::map<std::uintptr_t, std::uintptr_t> ends_;  // by begin
};

}  // namespace NANLENS_HIDDEN torch_host
}  // namespace nanlens::inline NANLENS_ABI
