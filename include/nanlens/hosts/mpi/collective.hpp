/// @file
/// One collective call of one rank: what it puts in, and what it gets.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include <mpi.h>

#include <nanlens/capture/platform.hpp>
#include <nanlens/config.hpp>
#include <nanlens/hosts/mpi/communicator.hpp>
#include <nanlens/hosts/mpi/pending.hpp>
#include <nanlens/hosts/mpi/recording.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN mpi_host {

inline Reduction reduction_of(MPI_Op op) noexcept {
  if (op == MPI_SUM) return Reduction::sum;
  if (op == MPI_MIN) return Reduction::minimum;
  if (op == MPI_MAX) return Reduction::maximum;
  return op == MPI_PROD ? Reduction::product : Reduction::other;
}

/// Between the program's call and MPI's own function. The call is counted whether it is recorded or not, so that all
/// ranks count alike.
class Collective {
 public:
  Collective(const char* function, const Caller& caller, MPI_Comm comm, ExchangeKind kind, int root = 0,
             Reduction reduction = Reduction::none) noexcept {
    if (!is_running()) return;
    without_throwing([&] {
      const auto facts = facts_of(comm);
      if (facts == nullptr) return;
      exchange_.sequence = ++facts->collectives;
      if (facts->joins_two_groups || !is_recording()) return;
      exchange_.kind = kind;
      exchange_.reduction = reduction;
      exchange_.communicator = facts->identity;
      exchange_.rank = facts->rank;
      exchange_.size = facts->size;
      exchange_.peer = root;
      got_ = std::make_shared<Got>();
      got_->site = CallSite{function, find_stack(caller)};
      got_->begun_ns = nanlens::detail::steady_now_ns();
    });
  }

  [[nodiscard]] bool is_recorded() const noexcept { return got_ != nullptr; }
  [[nodiscard]] int rank() const noexcept { return exchange_.rank; }
  [[nodiscard]] int size() const noexcept { return exchange_.size; }
  [[nodiscard]] bool is_root() const noexcept { return exchange_.rank == exchange_.peer; }

  /// What it puts in, the same for all.
  void sends(const void* buffer, std::int64_t count, MPI_Datatype type, MPI_Aint displacement = 0) noexcept {
    if (!is_recorded()) return;
    without_throwing([&] {
      Payload payload;
      payload.add(buffer, count, type, displacement);
      put_in(payload, false);
    });
  }
  /// What it puts in for each rank: `block(rank)` gives count, type and displacement in bytes.
  template <class BlockOf>
  void sends_each(const void* buffer, const BlockOf& block) noexcept {
    if (!is_recorded()) return;
    without_throwing([&] {
      Payload payload;
      for (int i = 0; i < size(); ++i) add(payload, buffer, block(i));
      put_in(payload, true);
    });
  }
  /// What it is going to get.
  void receives(void* buffer, std::int64_t count, MPI_Datatype type) noexcept {
    if (!is_recorded()) return;
    without_throwing([&] { got_->payload.add(buffer, count, type); });
  }
  template <class BlockOf>
  void receives_each(void* buffer, const BlockOf& block) noexcept {
    if (!is_recorded()) return;
    without_throwing([&] {
      for (int i = 0; i < size(); ++i) add(got_->payload, buffer, block(i));
    });
  }

  /// MPI's function has returned, and with it what was received is there.
  int done(int result) noexcept {
    if (result == MPI_SUCCESS && is_recorded()) without_throwing([&] { got_->record(exchange_); });
    return result;
  }
  /// MPI's function has returned; the request tells when what is received is there.
  int begun(int result, const MPI_Request* request) noexcept {
    if (result != MPI_SUCCESS || !is_recorded() || got_->payload.views.empty()) return result;
    without_throwing([&] {
      Pending::get().add(*request, [got = got_, exchange = exchange_](const MPI_Status* status) {
        if (status != nullptr) got->record(exchange);
      });
    });
    return result;
  }

 private:
  struct Got {
    CallSite site;
    Payload payload;
    std::uint64_t begun_ns = 0;

    void record(Exchange exchange) const {
      exchange.received = true;
      if (payload.looked_at && !payload.views.empty())
        mpi_host::record(site, exchange, payload, nanlens::detail::steady_now_ns() - begun_ns);
    }
  };

  template <class Block>
  static void add(Payload& payload, const void* buffer, const Block& block) {
    payload.add(buffer, block.count, block.type, block.displacement);
  }
  void put_in(const Payload& payload, bool per_rank) const {
    if (!payload.looked_at || payload.views.empty()) return;
    Exchange exchange = exchange_;
    exchange.per_rank = per_rank;
    record(got_->site, exchange, payload, 0);
  }

  Exchange exchange_;
  std::shared_ptr<Got> got_;  // null: not recorded
};

/// A part of a buffer.
struct Block {
  std::int64_t count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Aint displacement = 0;
};

inline MPI_Aint extent_of(MPI_Datatype type) {
  MPI_Aint lowest = 0;
  MPI_Aint extent = 0;
  PMPI_Type_get_extent(type, &lowest, &extent);
  return extent;
}

/// Blocks of one size, one behind the other.
inline auto equal_blocks(int count, MPI_Datatype type) {
  return [count, type](int i) { return Block{count, type, static_cast<MPI_Aint>(i) * count * extent_of(type)}; };
}
/// Blocks of several sizes; without places one behind the other.
inline auto blocks_at(const int* counts, const int* places, MPI_Datatype type) {
  return [=](int i) {
    MPI_Aint place = 0;
    if (places != nullptr)
      place = places[i];
    else
      for (int k = 0; k < i; ++k) place += counts[k];
    return Block{counts[i], type, place * extent_of(type)};
  };
}
/// Blocks of several sizes and types, with places in bytes.
inline auto blocks_of_types(const int* counts, const int* places, const MPI_Datatype* types) {
  return [=](int i) { return Block{counts[i], types[i], places[i]}; };
}

}  // namespace NANLENS_HIDDEN mpi_host
}  // namespace nanlens::inline NANLENS_ABI
