/// @file
/// From what MPI is called with to what the recorder takes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <mpi.h>

#include <nanlens/capture/check_numerics.hpp>
#include <nanlens/capture/client.hpp>
#include <nanlens/capture/platform.hpp>
#include <nanlens/config.hpp>
#include <nanlens/hosts/mpi/call_site.hpp>
#include <nanlens/hosts/mpi/layout.hpp>
#include <nanlens/hosts/mpi/readable.hpp>
#include <nanlens/logdir/exchange.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN mpi_host {

using logdir::Exchange;
using logdir::ExchangeKind;
using logdir::Reduction;

/// False before MPI_Init and after MPI_Finalize: then nothing may be asked of MPI.
inline bool is_running() noexcept {
  static std::atomic<bool> begun{false};
  int answer = 0;
  if (!begun.load(std::memory_order_relaxed)) {
    if (PMPI_Initialized(&answer) != MPI_SUCCESS || answer == 0) return false;
    begun.store(true, std::memory_order_relaxed);
  }
  return PMPI_Finalized(&answer) == MPI_SUCCESS && answer == 0;
}

inline bool is_recording() noexcept { return nanlens::detail::takes_op() && nanlens::detail::active_bits() != 0; }

/// Tensors that go in or come out, as far as they can be looked at.
struct Payload {
  std::vector<TensorView> views;
  bool looked_at = true;  ///< false: there is one that can't be

  void add(const void* buffer, std::int64_t count, MPI_Datatype type, MPI_Aint displacement = 0) {
    TensorView view;
    const char* const place = buffer == nullptr ? nullptr : static_cast<const char*>(buffer) + displacement;
    if (view_of_buffer(place, count, known_layout(type), view) && is_here(view))
      views.push_back(view);
    else
      looked_at = false;
  }
};

constexpr std::string_view reduction_name(Reduction reduction) noexcept {
  switch (reduction) {
    case Reduction::sum: return "MPI_SUM";
    case Reduction::product: return "MPI_PROD";
    case Reduction::minimum: return "MPI_MIN";
    case Reduction::maximum: return "MPI_MAX";
    default: return "";
  }
}

/// Records what a rank puts into an exchange, before MPI has it: should the process die in MPI's hands, it is on
/// record. Or what it got out of it, which is what these tensors are from then on.
inline void record(const CallSite& site, const Exchange& exchange, const Payload& payload, std::uint64_t duration_ns) {
  std::vector<nanlens::detail::InputRef> inputs;
  std::vector<nanlens::detail::OutputRef> outputs;
  for (const TensorView& view : payload.views) {
    const nanlens::detail::TensorKey key = nanlens::detail::key_of(view);
    outputs.push_back({view, exchange.received ? key : nanlens::detail::TensorKey{}});
    if (!exchange.received) inputs.push_back({view, key, {}});
  }
  const nanlens::detail::Observation observed{site.stack->pcs.data(), site.stack->pcs.size(),
                                              nanlens::detail::thread_number()};
  const nanlens::detail::Measured measured{duration_ns, 0, &observed, nullptr, &exchange};
  const std::string_view name = exchange.received ? reduction_name(exchange.reduction) : "";
  const nanlens::detail::OpRef op(site.function, name.empty() ? std::string_view(site.function) : name, {});
  tell(nanlens::detail::recorder().record(op, inputs.data(), inputs.size(), outputs.data(), outputs.size(), measured));
}

/// Runs a part of a wrapper; where memory runs out, that is not recorded, and the program goes on.
template <class Body>
void without_throwing(Body&& body) noexcept {
#if NANLENS_HAS_EXCEPTIONS
  try {
    body();
  } catch (...) {
  }
#else
  body();
#endif
}

}  // namespace NANLENS_HIDDEN mpi_host
}  // namespace nanlens::inline NANLENS_ABI
