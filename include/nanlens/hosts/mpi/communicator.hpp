/// @file
/// What is known of a communicator: a name for it that all its ranks have, and how many collectives it has seen.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <vector>

#include <mpi.h>

#include <nanlens/capture/hash.hpp>
#include <nanlens/config.hpp>
#include <nanlens/hosts/mpi/messages.hpp>
#include <nanlens/logdir/rank.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN mpi_host {

using nanlens::detail::mix;

struct Communicator {
  std::uint64_t identity = 0;  ///< the same in all its ranks, and in no other communicator of the job; 0: not known
  int rank = 0;
  int size = 0;
  bool joins_two_groups = false;  ///< an intercommunicator: roots and ranks mean something else there
  std::atomic<std::uint64_t> collectives{0};
  Messages messages;

  std::mutex lock;
  std::uint64_t children = 0;                               ///< communicators that all its ranks made together
  std::map<std::uint64_t, std::uint64_t> partial_children;  ///< the same that some ranks did, by who and with what tag
};

/// Ranks of the job that a communicator has, as one number.
inline std::uint64_t hash_members(MPI_Comm comm, int size) {
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group own = MPI_GROUP_NULL;
  std::vector<int> ranks(static_cast<std::size_t>(size));
  std::vector<int> in_job(ranks.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  PMPI_Comm_group(MPI_COMM_WORLD, &all);
  PMPI_Comm_group(comm, &own);
  PMPI_Group_translate_ranks(own, size, ranks.data(), all, in_job.data());
  PMPI_Group_free(&own);
  PMPI_Group_free(&all);
  std::uint64_t hash = static_cast<std::uint64_t>(size);
  for (const int rank : in_job) hash = mix(hash, static_cast<std::uint64_t>(rank));
  return hash;
}

inline std::unique_ptr<Communicator> look_at(MPI_Comm comm) {
  auto facts = std::make_unique<Communicator>();
  int joins_two_groups = 0;
  PMPI_Comm_test_inter(comm, &joins_two_groups);
  facts->joins_two_groups = joins_two_groups != 0;
  PMPI_Comm_rank(comm, &facts->rank);
  PMPI_Comm_size(comm, &facts->size);
  int size = 0;
  int rank = 0;
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::uint64_t job =
      mix(nanlens::detail::hash_text(logdir::Rank::get().job), static_cast<std::uint64_t>(size)) | 1;
  if (comm == MPI_COMM_WORLD) facts->identity = job;
  if (comm == MPI_COMM_SELF) facts->identity = mix(job, static_cast<std::uint64_t>(rank) + 1) | 1;
  return facts;
}

/// MPI keeps it with the communicator; `MPI_KEYVAL_INVALID` if it can't.
inline int communicator_key() {
  static const int key = [] {
    int made = MPI_KEYVAL_INVALID;
    const auto end = [](MPI_Comm, int, void* facts, void*) {
      delete static_cast<std::shared_ptr<Communicator>*>(facts);
      return MPI_SUCCESS;
    };
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end, &made, nullptr);
    return made;
  }();
  return key;
}

inline std::shared_ptr<Communicator> facts_of(MPI_Comm comm) {
  static std::mutex first_look;
  void* kept = nullptr;
  int found = 0;
  const auto get = [&] {
    return PMPI_Comm_get_attr(comm, communicator_key(), static_cast<void*>(&kept), &found) == MPI_SUCCESS && found != 0;
  };
  if (comm == MPI_COMM_NULL || communicator_key() == MPI_KEYVAL_INVALID) return nullptr;
  if (get()) return *static_cast<std::shared_ptr<Communicator>*>(kept);
  const std::lock_guard guard(first_look);
  if (get()) return *static_cast<std::shared_ptr<Communicator>*>(kept);
  std::shared_ptr<Communicator> facts = look_at(comm);
  auto* const owner = new std::shared_ptr<Communicator>(facts);  // MPI's from here on
  if (PMPI_Comm_set_attr(comm, communicator_key(), owner) == MPI_SUCCESS) return facts;
  delete owner;
  return nullptr;
}

/// All ranks of `parent` have made communicators together; `child` is the one that this rank is in, or none.
inline void name_child(MPI_Comm parent, MPI_Comm child) {
  const auto facts = facts_of(parent);
  if (facts == nullptr) return;
  std::uint64_t number = 0;
  {
    const std::lock_guard guard(facts->lock);
    number = ++facts->children;
  }
  const auto made = facts_of(child);
  if (made == nullptr || made->joins_two_groups || facts->identity == 0) return;
  made->identity = mix(mix(facts->identity, number), hash_members(child, made->size)) | 1;
}

/// The ranks of `child` alone have made it.
inline void name_partial_child(MPI_Comm parent, int tag, MPI_Comm child) {
  const auto facts = facts_of(parent);
  const auto made = facts_of(child);
  if (facts == nullptr || made == nullptr || facts->identity == 0) return;
  const std::uint64_t who = mix(hash_members(child, made->size), static_cast<std::uint64_t>(tag) + (1ULL << 40));
  const std::lock_guard guard(facts->lock);
  made->identity = mix(mix(facts->identity, who), ++facts->partial_children[who]) | 1;
}

}  // namespace NANLENS_HIDDEN mpi_host
}  // namespace nanlens::inline NANLENS_ABI
