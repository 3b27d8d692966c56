/* A plate that gets warm, in horizontal stripes, one for each rank: `heat ROWS STEPS`. Neighbours exchange their edges
   in every step, and all find out how far they are. Prints seconds, and those that the processors of all ranks spent;
   the same after the first fifth of the steps, in which what is done once is done. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

enum { columns = 1024 };

static double spent(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static double relax(const double* old, double* new, int rows) {
  double change = 0;
  for (int i = 1; i <= rows; ++i)
    for (int j = 1; j < columns - 1; ++j) {
      const int at = i * columns + j;
      new[at] = 0.25 * (old[at - 1] + old[at + 1] + old[at - columns] + old[at + columns]);
      change += (new[at] - old[at]) * (new[at] - old[at]);
    }
  return change;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rows = argc > 2 ? atoi(argv[1]) : 256;
  const int steps = argc > 2 ? atoi(argv[2]) : 500;
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int up = rank == 0 ? MPI_PROC_NULL : rank - 1;
  const int down = rank == size - 1 ? MPI_PROC_NULL : rank + 1;
  double* old = calloc((size_t)(rows + 2) * columns, sizeof *old);
  double* new = calloc((size_t)(rows + 2) * columns, sizeof *new);
  for (int j = 0; rank == 0 && j < columns; ++j) old[j] = new[j] = 1;
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  double warm = 0, own_spent[2] = {spent(), 0}, all_spent[2];
  double all = 0;
  for (int step = 0; step < steps; ++step) {
    if (step == steps / 5) {
      warm = MPI_Wtime();
      own_spent[1] = spent();
    }
    MPI_Sendrecv(old + columns, columns, MPI_DOUBLE, up, 0, old + (rows + 1) * columns, columns, MPI_DOUBLE, down, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(old + rows * columns, columns, MPI_DOUBLE, down, 1, old, columns, MPI_DOUBLE, up, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    const double own = relax(old, new, rows);
    MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    double* const next = old;
    old = new;
    new = next;
  }
  const double end = MPI_Wtime();
  const double spent_then = spent();
  for (int i = 0; i < 2; ++i) own_spent[i] = spent_then - own_spent[i];
  MPI_Reduce(own_spent, all_spent, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%.4f %.4f %.4f %.4f %g\n", end - start, all_spent[0], end - warm, all_spent[1], all);
  return MPI_Finalize();
}
