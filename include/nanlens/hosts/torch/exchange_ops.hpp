/// @file
/// PyTorch's ops that exchange tensors with other processes.
#pragma once

#include <algorithm>
#include <iterator>
#include <string_view>

#if __has_include(<torch/csrc/api/include/torch/version.h>)
#include <torch/csrc/api/include/torch/version.h>
#endif

#include <nanlens/config.hpp>
#include <nanlens/logdir/exchange.hpp>

/// 1 where exchanges are followed: with versions that this was tried with, and later ones.
#if defined(TORCH_VERSION_MAJOR) && __has_include(<torch/csrc/distributed/c10d/ProcessGroup.hpp>)
#define NANLENS_FOLLOWS_EXCHANGES                             \
  ((TORCH_VERSION_MAJOR == 1 && TORCH_VERSION_MINOR == 13) || \
   (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 5) || TORCH_VERSION_MAJOR > 2)
#else
#define NANLENS_FOLLOWS_EXCHANGES 0
#endif

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN torch_host {

using logdir::Exchange;
using logdir::ExchangeKind;
using logdir::Reduction;

/// An op that exchanges tensors. The first argument is what it gives; those with a second list take what they put in
/// from there.
struct ExchangeOp {
  std::string_view name;
  ExchangeKind kind;
  bool two_lists = false;
  bool per_rank = false;  ///< puts in a tensor for each rank
};
inline constexpr ExchangeOp exchange_ops[] = {
    {"c10d::allreduce_", ExchangeKind::all},
    {"c10d::allreduce_coalesced_", ExchangeKind::all},
    {"c10d::broadcast_", ExchangeKind::from_root},
    {"c10d::reduce_", ExchangeKind::to_root},
    {"c10d::allgather_", ExchangeKind::all, true},
    {"c10d::_allgather_base_", ExchangeKind::all, true},
    {"c10d::allgather_into_tensor_coalesced_", ExchangeKind::all, true},
    {"c10d::_reduce_scatter_base_", ExchangeKind::all, true},
    {"c10d::reduce_scatter_tensor_coalesced_", ExchangeKind::all, true},
    {"c10d::alltoall_base_", ExchangeKind::all, true},
    {"c10d::gather_", ExchangeKind::to_root, true},
    {"c10d::scatter_", ExchangeKind::from_root, true, true},
    {"c10d::reduce_scatter_", ExchangeKind::all, true, true},
    {"c10d::alltoall_", ExchangeKind::all, true, true},
    {"c10d::send", ExchangeKind::message},
    {"c10d::recv_", ExchangeKind::message},
};

/// Null if it is none of them, or they are not followed.
inline const ExchangeOp* exchange_op(std::string_view name) noexcept {
  if (NANLENS_FOLLOWS_EXCHANGES == 0 || !name.starts_with("c10d::")) return nullptr;
  const auto* const found =
      std::find_if(std::begin(exchange_ops), std::end(exchange_ops), [&](const auto& op) { return op.name == name; });
  return found == std::end(exchange_ops) ? nullptr : found;
}

}  // namespace NANLENS_HIDDEN torch_host
}  // namespace nanlens::inline NANLENS_ABI
