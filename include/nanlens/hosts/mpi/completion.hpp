/// @file
/// MPI's functions that tell of non-blocking calls that they are complete, and those that make communicators.
#pragma once

#include <nanlens/hosts/mpi/point_to_point.hpp>

NANLENS_MPI int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  nanlens::mpi_host::Waiting waiting(1, request, status, MPI_STATUS_IGNORE, 1);
  const int result = PMPI_Wait(request, waiting.statuses());
  if (result == MPI_SUCCESS) waiting.end(0, 0);
  return result;
}
NANLENS_MPI int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  nanlens::mpi_host::Waiting waiting(count, requests, statuses, MPI_STATUSES_IGNORE, count);
  const int result = PMPI_Waitall(count, requests, waiting.statuses());
  if (result == MPI_SUCCESS) waiting.end_all();
  return result;
}
NANLENS_MPI int MPI_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) {
  nanlens::mpi_host::Waiting waiting(count, requests, status, MPI_STATUS_IGNORE, 1);
  const int result = PMPI_Waitany(count, requests, index, waiting.statuses());
  if (result == MPI_SUCCESS && *index != MPI_UNDEFINED) waiting.end(*index, 0);
  return result;
}
NANLENS_MPI int MPI_Waitsome(int count, MPI_Request requests[], int* done, int indices[], MPI_Status statuses[]) {
  nanlens::mpi_host::Waiting waiting(count, requests, statuses, MPI_STATUSES_IGNORE, count);
  const int result = PMPI_Waitsome(count, requests, done, indices, waiting.statuses());
  for (int i = 0; result == MPI_SUCCESS && *done != MPI_UNDEFINED && i < *done; ++i) waiting.end(indices[i], i);
  return result;
}
NANLENS_MPI int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  nanlens::mpi_host::Waiting waiting(1, request, status, MPI_STATUS_IGNORE, 1);
  const int result = PMPI_Test(request, flag, waiting.statuses());
  if (result == MPI_SUCCESS && *flag != 0) waiting.end(0, 0);
  return result;
}
NANLENS_MPI int MPI_Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  nanlens::mpi_host::Waiting waiting(count, requests, statuses, MPI_STATUSES_IGNORE, count);
  const int result = PMPI_Testall(count, requests, flag, waiting.statuses());
  if (result == MPI_SUCCESS && *flag != 0) waiting.end_all();
  return result;
}
NANLENS_MPI int MPI_Testany(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  nanlens::mpi_host::Waiting waiting(count, requests, status, MPI_STATUS_IGNORE, 1);
  const int result = PMPI_Testany(count, requests, index, flag, waiting.statuses());
  if (result == MPI_SUCCESS && *flag != 0 && *index != MPI_UNDEFINED) waiting.end(*index, 0);
  return result;
}
NANLENS_MPI int MPI_Testsome(int count, MPI_Request requests[], int* done, int indices[], MPI_Status statuses[]) {
  nanlens::mpi_host::Waiting waiting(count, requests, statuses, MPI_STATUSES_IGNORE, count);
  const int result = PMPI_Testsome(count, requests, done, indices, waiting.statuses());
  for (int i = 0; result == MPI_SUCCESS && *done != MPI_UNDEFINED && i < *done; ++i) waiting.end(indices[i], i);
  return result;
}
NANLENS_MPI int MPI_Request_free(MPI_Request* request) {
  const std::uint64_t number = nanlens::mpi_host::Pending::number_of(*request);
  const int result = PMPI_Request_free(request);
  if (result == MPI_SUCCESS && !nanlens::mpi_host::Pending::get().empty())
    nanlens::mpi_host::without_throwing([&] { nanlens::mpi_host::Pending::get().end(number, nullptr); });
  return result;
}

// Makes a communicator, which gets a name that all its ranks can find by themselves.
#define NANLENS_MPI_CHILD(NAME, PARENT, PARAMETERS, ARGUMENTS)                                       \
  NANLENS_MPI int MPI_##NAME PARAMETERS {                                                            \
    const int result = PMPI_##NAME ARGUMENTS;                                                        \
    if (result == MPI_SUCCESS)                                                                       \
      nanlens::mpi_host::without_throwing([&] { nanlens::mpi_host::name_child(PARENT, *newcomm); }); \
    return result;                                                                                   \
  }
NANLENS_MPI_CHILD(Comm_dup, comm, (MPI_Comm comm, MPI_Comm* newcomm), (comm, newcomm))
NANLENS_MPI_CHILD(Comm_dup_with_info, comm, (MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm), (comm, info, newcomm))
NANLENS_MPI_CHILD(Comm_split, comm, (MPI_Comm comm, int color, int key, MPI_Comm* newcomm), (comm, color, key, newcomm))
NANLENS_MPI_CHILD(Comm_split_type, comm, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* newcomm),
                  (comm, type, key, info, newcomm))
NANLENS_MPI_CHILD(Comm_create, comm, (MPI_Comm comm, MPI_Group group, MPI_Comm* newcomm), (comm, group, newcomm))
NANLENS_MPI_CHILD(Cart_create, comm,
                  (MPI_Comm comm, int ndims, const int dims[], const int periods[], int reorder, MPI_Comm* newcomm),
                  (comm, ndims, dims, periods, reorder, newcomm))
NANLENS_MPI_CHILD(Cart_sub, comm, (MPI_Comm comm, const int remain[], MPI_Comm* newcomm), (comm, remain, newcomm))
NANLENS_MPI_CHILD(Graph_create, comm,
                  (MPI_Comm comm, int nnodes, const int index[], const int edges[], int reorder, MPI_Comm* newcomm),
                  (comm, nnodes, index, edges, reorder, newcomm))
NANLENS_MPI_CHILD(Dist_graph_create_adjacent, comm,
                  (MPI_Comm comm, int indegree, const int sources[], const int sourceweights[], int outdegree,
                   const int destinations[], const int destweights[], MPI_Info info, int reorder, MPI_Comm* newcomm),
                  (comm, indegree, sources, sourceweights, outdegree, destinations, destweights, info, reorder,
                   newcomm))
#undef NANLENS_MPI_CHILD

NANLENS_MPI int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* newcomm) {
  const int result = PMPI_Comm_create_group(comm, group, tag, newcomm);
  if (result == MPI_SUCCESS)
    nanlens::mpi_host::without_throwing([&] { nanlens::mpi_host::name_partial_child(comm, tag, *newcomm); });
  return result;
}
