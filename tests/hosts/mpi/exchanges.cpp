// Four ranks of which one makes a NaN, and what they exchange brings it to others: `exchanges CASE`. The lines that the
// test asks about are marked; what is not marked as a culprit is clean.
#include <mpi.h>

#include <array>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int elements = 8;
using Values = std::vector<double>;

int rank = 0;
int size = 0;
const MPI_Comm world = MPI_COMM_WORLD;

// The ranks' own numbers; those of the culprit have a NaN.
Values own(int culprit, int count = elements, int place = 3) {
  Values values(static_cast<std::size_t>(count), rank + 1.0);
  if (rank == culprit) values[static_cast<std::size_t>(place)] = std::numeric_limits<double>::quiet_NaN();
  return values;
}

void allreduce() {
  Values sum(elements);
  for (int step = 0; step < 3; ++step) {
    const Values x = own(step == 1 ? 2 : -1);
    MPI_Allreduce(x.data(), sum.data(), elements, MPI_DOUBLE, MPI_SUM, world);  // culprit
  }
}

void iallreduce() {
  const Values a = own(-1);
  const Values b = own(1);
  Values c(elements);
  Values d(elements);
  std::array<MPI_Request, 2> requests{};
  MPI_Iallreduce(a.data(), c.data(), elements, MPI_DOUBLE, MPI_SUM, world, &requests[0]);
  MPI_Iallreduce(b.data(), d.data(), elements, MPI_DOUBLE, MPI_SUM, world, &requests[1]);  // culprit
  MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
}

void ring() {
  Values x = own(1, elements, 0);
  if (rank != 1) MPI_Recv(x.data(), elements, MPI_DOUBLE, (rank + 3) % size, 5, world, MPI_STATUS_IGNORE);
  if (rank != 0) MPI_Send(x.data(), elements, MPI_DOUBLE, (rank + 1) % size, 5, world);  // culprit
}

void bcast() {
  Values x = own(3);
  MPI_Bcast(x.data(), elements, MPI_DOUBLE, 3, world);  // culprit
}

void reduce_scatter() {
  const Values x = own(0, elements, 5);  // the part of rank 2
  Values part(2);
  MPI_Reduce_scatter_block(x.data(), part.data(), 2, MPI_DOUBLE, MPI_SUM, world);  // culprit
}

void halo() {
  Values line(elements, rank + 1.0);
  const int left = rank == 0 ? MPI_PROC_NULL : rank - 1;
  const int right = rank == size - 1 ? MPI_PROC_NULL : rank + 1;
  for (int step = 0; step < 3; ++step) {
    if (step == 1 && rank == 2) line[1] = std::numeric_limits<double>::infinity();
    MPI_Sendrecv(&line[elements - 2], 1, MPI_DOUBLE, right, 1, &line[0], 1, MPI_DOUBLE, left, 1, world,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(&line[1], 1, MPI_DOUBLE, left, 2, &line[elements - 1], 1, MPI_DOUBLE, right, 2, world,  // culprit
                 MPI_STATUS_IGNORE);
  }
}

void in_place() {
  Values x = own(3);
  MPI_Allreduce(MPI_IN_PLACE, x.data(), elements, MPI_DOUBLE, MPI_SUM, world);  // culprit
}

// A column of a matrix, which the receiver has as a row.
void column() {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(4, 1, 4, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  Values matrix(16, 1);
  Values row(4);
  if (rank == 0) matrix[3] = std::numeric_limits<double>::quiet_NaN();  // in the last column alone
  for (int k = 0; k < 4; ++k) {
    if (rank == 0) MPI_Send(&matrix[static_cast<std::size_t>(k)], 1, type, 1, k, world);  // culprit
    if (rank == 1) MPI_Recv(row.data(), 4, MPI_DOUBLE, 0, k, world, MPI_STATUS_IGNORE);
  }
  MPI_Type_free(&type);
}

void any_source() {
  const Values x = own(3);
  Values all(elements * 4);
  if (rank != 0) {
    MPI_Send(x.data(), elements, MPI_DOUBLE, 0, rank, world);  // culprit
    return;
  }
  std::vector<MPI_Request> requests(3);
  for (std::size_t i = 0; i < 3; ++i)
    MPI_Irecv(&all[elements * i], elements, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, world, &requests[i]);
  for (int left = 3; left > 0; --left) {
    int index = 0;
    MPI_Waitany(3, requests.data(), &index, MPI_STATUS_IGNORE);
  }
}

void split() {
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Comm_split(world, rank % 2, -rank, &half);
  MPI_Comm_dup(half, &copy);
  const Values x = own(3);
  Values sum(elements);
  MPI_Allreduce(x.data(), sum.data(), elements, MPI_DOUBLE, MPI_SUM, copy);  // culprit
  MPI_Comm_free(&copy);
  MPI_Comm_free(&half);
}

void overflow() {
  const Values x(elements, 1e308);
  Values sum(elements);
  MPI_Allreduce(x.data(), sum.data(), elements, MPI_DOUBLE, MPI_SUM, world);  // culprit
}

void alltoall() {
  const Values x = own(1, elements, 7);  // the part of rank 3
  Values y(elements);
  MPI_Alltoall(x.data(), 2, MPI_DOUBLE, y.data(), 2, MPI_DOUBLE, world);  // culprit
}

void gather_and_scatter() {
  const Values x = own(2, 2, 1);
  Values all(elements);
  MPI_Gather(x.data(), 2, MPI_DOUBLE, all.data(), 2, MPI_DOUBLE, 1, world);  // culprit
  Values y(2);
  MPI_Scatter(all.data(), 2, MPI_DOUBLE, y.data(), 2, MPI_DOUBLE, 1, world);
}

void scan() {
  const Values x = own(1);
  Values sum(elements);
  MPI_Scan(x.data(), sum.data(), elements, MPI_DOUBLE, MPI_SUM, world);  // culprit
}

// Rank 3 gets ready while the others wait for it, and dies.
void dies() {
  const Values x = own(3);
  Values sum(elements);
  MPI_Allreduce(x.data(), sum.data(), elements, MPI_DOUBLE, MPI_SUM, world);  // culprit
  MPI_Barrier(world);
  if (rank == 3) std::raise(SIGKILL);
  MPI_Barrier(world);
}

// Structures are not looked at: what was sent is not known, and what came is bad.
void structure() {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  const std::array<int, 2> counts{1, elements - 1};
  const std::array<MPI_Aint, 2> places{0, sizeof(double)};
  const std::array<MPI_Datatype, 2> types{MPI_DOUBLE, MPI_DOUBLE};
  MPI_Type_create_struct(2, counts.data(), places.data(), types.data(), &type);
  MPI_Type_commit(&type);
  Values x = own(2);
  if (rank == 2) MPI_Send(x.data(), 1, type, 0, 0, world);
  if (rank == 0) MPI_Recv(x.data(), elements, MPI_DOUBLE, 2, 0, world, MPI_STATUS_IGNORE);  // unknown
  MPI_Type_free(&type);
}

// A persistent request sends the first message: the receiver can't tell which one the second is.
void persistent() {
  Values x = own(-1);
  if (rank == 1) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Send_init(x.data(), elements, MPI_DOUBLE, 0, 0, world, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    x = own(1);
    MPI_Send(x.data(), elements, MPI_DOUBLE, 0, 0, world);  // culprit
  }
  if (rank == 0) {
    MPI_Recv(x.data(), elements, MPI_DOUBLE, 1, 0, world, MPI_STATUS_IGNORE);
    MPI_Recv(x.data(), elements, MPI_DOUBLE, 1, 0, world, MPI_STATUS_IGNORE);
  }
}

// Two threads of each rank, each with a communicator of its own, as MPI wants it.
void threads() {
  std::array<MPI_Comm, 2> own_world{};
  for (MPI_Comm& comm : own_world) MPI_Comm_dup(world, &comm);
  const auto work = [&](std::size_t number) {
    Values sum(elements);
    for (int step = 0; step < 100; ++step) {
      const Values x = own(number == 1 && step == 50 ? 2 : -1);
      MPI_Allreduce(x.data(), sum.data(), elements, MPI_DOUBLE, MPI_SUM, own_world[number]);  // culprit
      MPI_Sendrecv_replace(sum.data(), elements, MPI_DOUBLE, rank ^ 1, 3, rank ^ 1, 3, own_world[number],
                           MPI_STATUS_IGNORE);
    }
  };
  std::thread other([&] { work(1); });
  work(0);
  other.join();
  for (MPI_Comm& comm : own_world) MPI_Comm_free(&comm);
}

[[gnu::noinline]] void sum_up(const Values& x) {
  Values sum(elements);
  MPI_Allreduce(x.data(), sum.data(), elements, MPI_DOUBLE, MPI_SUM, world);  // inner
}

// One call of MPI, from two lines in turn.
void two_callers() {
  const Values x = own(-1);
  for (int step = 0; step < 2; ++step) {
    sum_up(x);  // first
    sum_up(x);  // second
  }
}

void clean() {
  Values x = own(-1);
  Values y(elements);
  MPI_Allreduce(x.data(), y.data(), elements, MPI_DOUBLE, MPI_SUM, world);
  MPI_Bcast(y.data(), elements, MPI_DOUBLE, 0, world);
  std::vector<int> whole(elements, rank);  // not floating: not recorded
  MPI_Allreduce(MPI_IN_PLACE, whole.data(), elements, MPI_INT, MPI_SUM, world);
}

void check(bool right, int line) {
  if (right) return;
  std::fprintf(stderr, "rank %d, line %d: a wrong result\n", rank, line);
  MPI_Abort(world, 1);
}

// The collectives whose parts differ in size, in place and not, and what comes of them; nothing is bad.
void parts() {
  const std::array<int, 4> counts{1, 2, 3, 4};
  const std::array<int, 4> places{0, 2, 5, 9};  // with gaps between them
  const auto me = static_cast<std::size_t>(rank);
  const int count = counts[me];
  const Values mine(static_cast<std::size_t>(count), rank);
  const auto is_whole = [&](const Values& all) {
    for (std::size_t r = 0; r < 4; ++r)
      for (int i = 0; i < counts[r]; ++i)
        if (all[static_cast<std::size_t>(places[r] + i)] != static_cast<double>(r)) return false;
    return true;
  };
  Values all(13, -1);
  MPI_Allgatherv(mine.data(), count, MPI_DOUBLE, all.data(), counts.data(), places.data(), MPI_DOUBLE, world);
  check(is_whole(all), __LINE__);
  MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all.data(), counts.data(), places.data(), MPI_DOUBLE, world);
  check(is_whole(all), __LINE__);
  Values gathered(13, -1);
  MPI_Gatherv(mine.data(), count, MPI_DOUBLE, gathered.data(), counts.data(), places.data(), MPI_DOUBLE, 2, world);
  check(rank != 2 || is_whole(gathered), __LINE__);
  Values part(4, -1);
  MPI_Scatterv(all.data(), counts.data(), places.data(), MPI_DOUBLE, part.data(), count, MPI_DOUBLE, 1, world);
  check(part[0] == rank, __LINE__);
  Values sum(4);
  MPI_Reduce_scatter(Values(10, 1).data(), sum.data(), counts.data(), MPI_DOUBLE, MPI_SUM, world);
  check(sum[static_cast<std::size_t>(count) - 1] == 4, __LINE__);
  MPI_Exscan(&mine[0], &part[0], 1, MPI_DOUBLE, MPI_SUM, world);
  check(rank == 0 || part[0] == rank * (rank - 1) / 2.0, __LINE__);
  const std::array<int, 4> ones{1, 1, 1, 1};
  const std::array<int, 4> order{3, 2, 1, 0};
  const Values send{0, 1, 2, 3};
  MPI_Alltoallv(send.data(), ones.data(), order.data(), MPI_DOUBLE, part.data(), ones.data(), order.data(), MPI_DOUBLE,
                world);
  check(part[0] == 3 - rank && part[3] == 3 - rank, __LINE__);
  std::array<int, 4> bytes{};
  for (std::size_t i = 0; i < 4; ++i) bytes[i] = static_cast<int>(i * sizeof(double));
  const std::vector<MPI_Datatype> types(4, MPI_DOUBLE);
  MPI_Alltoallw(send.data(), ones.data(), bytes.data(), types.data(), part.data(), ones.data(), bytes.data(),
                types.data(), world);
  check(part[2] == rank, __LINE__);
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, part.data(), 1, MPI_DOUBLE, world);
  check(part[3] == 3, __LINE__);
  MPI_Request request = MPI_REQUEST_NULL;
  double least = rank;
  MPI_Ireduce(rank == 3 ? MPI_IN_PLACE : &least, &least, 1, MPI_DOUBLE, MPI_MIN, 3, world, &request);
  for (int done = 0; done == 0;) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  check(rank != 3 || least == 0, __LINE__);
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, std::function<void()>> cases{{"allreduce", allreduce},
                                                           {"iallreduce", iallreduce},
                                                           {"ring", ring},
                                                           {"bcast", bcast},
                                                           {"reduce_scatter", reduce_scatter},
                                                           {"halo", halo},
                                                           {"in_place", in_place},
                                                           {"column", column},
                                                           {"any_source", any_source},
                                                           {"split", split},
                                                           {"overflow", overflow},
                                                           {"alltoall", alltoall},
                                                           {"two_callers", two_callers},
                                                           {"gather", gather_and_scatter},
                                                           {"scan", scan},
                                                           {"dies", dies},
                                                           {"structure", structure},
                                                           {"persistent", persistent},
                                                           {"threads", threads},
                                                           {"parts", parts},
                                                           {"clean", clean}};
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(world, &size);
  const auto found = cases.find(argc > 1 ? argv[1] : "");
  if (found == cases.end() || size != 4) return std::fprintf(stderr, "usage: mpirun -n 4 exchanges CASE\n"), 2;
  found->second();
  return MPI_Finalize();
}
