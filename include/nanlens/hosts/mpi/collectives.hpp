/// @file
/// MPI's collectives as the program calls them, each handed on to MPI's own function.
#pragma once

#include <nanlens/hosts/mpi/collective.hpp>

/// A function of MPI that the program calls in MPI's stead.
#define NANLENS_MPI extern "C" __attribute__((visibility("default")))
#define NANLENS_CALLER \
  nanlens::mpi_host::Caller { __builtin_return_address(0), __builtin_frame_address(0) }

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN mpi_host {

inline bool in_place(const void* buffer) noexcept { return buffer == MPI_IN_PLACE; }
inline const void* either(const void* send, const void* receive) noexcept { return in_place(send) ? receive : send; }

// What a rank puts into each collective, and what it gets. The blocking function and its twin share it.

inline void broadcast(Collective& c, void* buffer, int count, MPI_Datatype type) {
  if (c.is_root())
    c.sends(buffer, count, type);
  else
    c.receives(buffer, count, type);
}
inline void reduce_to_all(Collective& c, const void* send, void* receive, int count, MPI_Datatype type) {
  c.sends(either(send, receive), count, type);
  c.receives(receive, count, type);
}
inline void reduce(Collective& c, const void* send, void* receive, int count, MPI_Datatype type) {
  c.sends(either(send, receive), count, type);
  if (c.is_root()) c.receives(receive, count, type);
}
inline void scan_before(Collective& c, const void* send, void* receive, int count, MPI_Datatype type) {
  c.sends(either(send, receive), count, type);
  if (c.rank() > 0) c.receives(receive, count, type);  // what the first one has is undefined
}
template <class Parts>
void reduce_scatter(Collective& c, const void* send, void* receive, const Parts& parts) {
  c.sends_each(either(send, receive), parts);
  if (!c.is_recorded()) return;
  const Block own = parts(c.rank());
  c.receives(receive, own.count, own.type);
}
// Where a rank's own part is in the receive buffer already, it is that which it puts in.
template <class Parts>
void send_own(Collective& c, const void* send, int count, MPI_Datatype type, const void* receive, const Parts& parts) {
  if (!in_place(send)) return c.sends(send, count, type);
  if (!c.is_recorded()) return;
  const Block own = parts(c.rank());
  c.sends(receive, own.count, own.type, own.displacement);
}
template <class Parts>
void gather(Collective& c, const void* send, int count, MPI_Datatype type, void* receive, const Parts& parts) {
  send_own(c, send, count, type, receive, parts);
  if (c.is_root()) c.receives_each(receive, parts);
}
template <class Parts>
void gather_to_all(Collective& c, const void* send, int count, MPI_Datatype type, void* receive, const Parts& parts) {
  send_own(c, send, count, type, receive, parts);
  c.receives_each(receive, parts);
}
template <class Parts>
void scatter(Collective& c, const void* send, const Parts& parts, void* receive, int count, MPI_Datatype type) {
  if (c.is_root()) c.sends_each(send, parts);
  if (!in_place(receive)) c.receives(receive, count, type);
}
template <class SendParts, class Parts>
void exchange_all(Collective& c, const void* send, const SendParts& send_parts, void* receive, const Parts& parts) {
  if (in_place(send))
    c.sends_each(receive, parts);
  else
    c.sends_each(send, send_parts);
  c.receives_each(receive, parts);
}

}  // namespace NANLENS_HIDDEN mpi_host
}  // namespace nanlens::inline NANLENS_ABI

// Both forms of a collective: NAME and its arguments as MPI declares them, the names alone, what it is, what it does.
#define NANLENS_MPI_COLLECTIVE(NAME, NONBLOCKING, PARAMETERS, ARGUMENTS, WHAT, DESCRIPTION)            \
  NANLENS_MPI int MPI_##NAME(NANLENS_MPI_LIST PARAMETERS) {                                            \
    nanlens::mpi_host::Collective c("MPI_" #NAME, NANLENS_CALLER, comm, NANLENS_MPI_LIST WHAT);        \
    nanlens::mpi_host::DESCRIPTION;                                                                    \
    return c.done(PMPI_##NAME(NANLENS_MPI_LIST ARGUMENTS));                                            \
  }                                                                                                    \
  NANLENS_MPI int MPI_##NONBLOCKING(NANLENS_MPI_LIST PARAMETERS, MPI_Request* request) {               \
    nanlens::mpi_host::Collective c("MPI_" #NONBLOCKING, NANLENS_CALLER, comm, NANLENS_MPI_LIST WHAT); \
    nanlens::mpi_host::DESCRIPTION;                                                                    \
    return c.begun(PMPI_##NONBLOCKING(NANLENS_MPI_LIST ARGUMENTS, request), request);                  \
  }
#define NANLENS_MPI_LIST(...) __VA_ARGS__
#define NANLENS_MPI_KIND nanlens::logdir::ExchangeKind

NANLENS_MPI_COLLECTIVE(Bcast, Ibcast, (void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm),
                       (buffer, count, datatype, root, comm), (NANLENS_MPI_KIND::from_root, root),
                       broadcast(c, buffer, count, datatype))
NANLENS_MPI_COLLECTIVE(Allreduce, Iallreduce,
                       (const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm),
                       (sendbuf, recvbuf, count, datatype, op, comm),
                       (NANLENS_MPI_KIND::all, 0, nanlens::mpi_host::reduction_of(op)),
                       reduce_to_all(c, sendbuf, recvbuf, count, datatype))
NANLENS_MPI_COLLECTIVE(Reduce, Ireduce,
                       (const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
                        MPI_Comm comm),
                       (sendbuf, recvbuf, count, datatype, op, root, comm),
                       (NANLENS_MPI_KIND::to_root, root, nanlens::mpi_host::reduction_of(op)),
                       reduce(c, sendbuf, recvbuf, count, datatype))
NANLENS_MPI_COLLECTIVE(Scan, Iscan,
                       (const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm),
                       (sendbuf, recvbuf, count, datatype, op, comm),
                       (NANLENS_MPI_KIND::up_to, 0, nanlens::mpi_host::reduction_of(op)),
                       reduce_to_all(c, sendbuf, recvbuf, count, datatype))
NANLENS_MPI_COLLECTIVE(Exscan, Iexscan,
                       (const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm),
                       (sendbuf, recvbuf, count, datatype, op, comm),
                       (NANLENS_MPI_KIND::before, 0, nanlens::mpi_host::reduction_of(op)),
                       scan_before(c, sendbuf, recvbuf, count, datatype))
NANLENS_MPI_COLLECTIVE(Reduce_scatter, Ireduce_scatter,
                       (const void* sendbuf, void* recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op,
                        MPI_Comm comm),
                       (sendbuf, recvbuf, recvcounts, datatype, op, comm),
                       (NANLENS_MPI_KIND::all, 0, nanlens::mpi_host::reduction_of(op)),
                       reduce_scatter(c, sendbuf, recvbuf, nanlens::mpi_host::blocks_at(recvcounts, nullptr, datatype)))
NANLENS_MPI_COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block,
                       (const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op,
                        MPI_Comm comm),
                       (sendbuf, recvbuf, recvcount, datatype, op, comm),
                       (NANLENS_MPI_KIND::all, 0, nanlens::mpi_host::reduction_of(op)),
                       reduce_scatter(c, sendbuf, recvbuf, nanlens::mpi_host::equal_blocks(recvcount, datatype)))
NANLENS_MPI_COLLECTIVE(Gather, Igather,
                       (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                        MPI_Datatype recvtype, int root, MPI_Comm comm),
                       (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm),
                       (NANLENS_MPI_KIND::to_root, root),
                       gather(c, sendbuf, sendcount, sendtype, recvbuf,
                              nanlens::mpi_host::equal_blocks(recvcount, recvtype)))
NANLENS_MPI_COLLECTIVE(Gatherv, Igatherv,
                       (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                        const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm),
                       (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm),
                       (NANLENS_MPI_KIND::to_root, root),
                       gather(c, sendbuf, sendcount, sendtype, recvbuf,
                              nanlens::mpi_host::blocks_at(recvcounts, displs, recvtype)))
NANLENS_MPI_COLLECTIVE(Allgather, Iallgather,
                       (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                        MPI_Datatype recvtype, MPI_Comm comm),
                       (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm), (NANLENS_MPI_KIND::all),
                       gather_to_all(c, sendbuf, sendcount, sendtype, recvbuf,
                                     nanlens::mpi_host::equal_blocks(recvcount, recvtype)))
NANLENS_MPI_COLLECTIVE(Allgatherv, Iallgatherv,
                       (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                        const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm),
                       (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm),
                       (NANLENS_MPI_KIND::all),
                       gather_to_all(c, sendbuf, sendcount, sendtype, recvbuf,
                                     nanlens::mpi_host::blocks_at(recvcounts, displs, recvtype)))
NANLENS_MPI_COLLECTIVE(Scatter, Iscatter,
                       (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                        MPI_Datatype recvtype, int root, MPI_Comm comm),
                       (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm),
                       (NANLENS_MPI_KIND::from_root, root),
                       scatter(c, sendbuf, nanlens::mpi_host::equal_blocks(sendcount, sendtype), recvbuf, recvcount,
                               recvtype))
NANLENS_MPI_COLLECTIVE(Scatterv, Iscatterv,
                       (const void* sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype,
                        void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm),
                       (sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm),
                       (NANLENS_MPI_KIND::from_root, root),
                       scatter(c, sendbuf, nanlens::mpi_host::blocks_at(sendcounts, displs, sendtype), recvbuf,
                               recvcount, recvtype))
NANLENS_MPI_COLLECTIVE(Alltoall, Ialltoall,
                       (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                        MPI_Datatype recvtype, MPI_Comm comm),
                       (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm), (NANLENS_MPI_KIND::all),
                       exchange_all(c, sendbuf, nanlens::mpi_host::equal_blocks(sendcount, sendtype), recvbuf,
                                    nanlens::mpi_host::equal_blocks(recvcount, recvtype)))
NANLENS_MPI_COLLECTIVE(Alltoallv, Ialltoallv,
                       (const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                        void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                        MPI_Comm comm),
                       (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm),
                       (NANLENS_MPI_KIND::all),
                       exchange_all(c, sendbuf, nanlens::mpi_host::blocks_at(sendcounts, sdispls, sendtype), recvbuf,
                                    nanlens::mpi_host::blocks_at(recvcounts, rdispls, recvtype)))
NANLENS_MPI_COLLECTIVE(Alltoallw, Ialltoallw,
                       (const void* sendbuf, const int sendcounts[], const int sdispls[],
                        const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[], const int rdispls[],
                        const MPI_Datatype recvtypes[], MPI_Comm comm),
                       (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm),
                       (NANLENS_MPI_KIND::all),
                       exchange_all(c, sendbuf, nanlens::mpi_host::blocks_of_types(sendcounts, sdispls, sendtypes),
                                    recvbuf, nanlens::mpi_host::blocks_of_types(recvcounts, rdispls, recvtypes)))

#undef NANLENS_MPI_COLLECTIVE
#undef NANLENS_MPI_LIST
#undef NANLENS_MPI_KIND
