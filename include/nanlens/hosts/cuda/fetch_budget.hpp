/// @file
/// Of which tensors the values are fetched from a GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>

#include <nanlens/capture/client.hpp>
#include <nanlens/config.hpp>
#include <nanlens/hosts/cuda/far_tensors.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN cuda_host {

/// Bad results are fetched and searched, with what they were made from, as long as their call site has not had many
/// bytes: a mask is bad in each step, and so is all that comes after a NaN.
class FetchBudget {
 public:
  /// One that lasts as long as the process.
  static FetchBudget& get() {
    static auto* const budget = new FetchBudget;
    return *budget;
  }

  /// The most bytes that a tensor may have which is fetched; `bytes`: of all of the op.
  std::size_t take(std::uint64_t site, std::size_t bytes) {
    if (bytes <= FarTensors::few_bytes) return FarTensors::most_bytes;
    const std::lock_guard guard(lock_);
    if (taken_.size() >= most_sites && !taken_.contains(site)) return FarTensors::few_bytes;
    std::size_t& taken = taken_[site];
    if (taken > 0 && taken + bytes > bytes_of_site) return FarTensors::few_bytes;
    taken += bytes;
    return FarTensors::most_bytes;
  }

 private:
  static constexpr std::size_t bytes_of_site = std::size_t{64} << 20;
  static constexpr std::size_t most_sites = 65'536;

  std::mutex lock_;
  std::unordered_map<std::uint64_t, std::size_t> taken_;
};

/// Asks for counts and words, and fetches the values where all are recorded or something is bad. `site`: of the op.
template <class StreamOf>
void look_and_fetch(FarTensors& tensors, std::uint64_t site, const StreamOf& stream_of) {
  using enum FarTensors::Role;
  tensors.look(stream_of);
  if ((detail::active_bits() & detail::values_bit) != 0) tensors.fetch(output, FarTensors::most_bytes, stream_of);
  if (!tensors.any_bad()) return;
  const std::size_t most = FetchBudget::get().take(site, tensors.bytes());
  tensors.fetch(output, most, stream_of);
  tensors.fetch(input, most, stream_of);
}

}  // namespace NANLENS_HIDDEN cuda_host
}  // namespace nanlens::inline NANLENS_ABI
