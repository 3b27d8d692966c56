// Ranks that train together: each has a part of the data, and Allreduce adds up what they found. Rank 2 has a row that
// it should not have.
#include <cmath>
#include <vector>

#include <nanlens/hosts/mpi.hpp>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::vector<float> rows{1.5F, 2.5F, 3.5F, rank == 2 ? 0.0F : 4.5F};
  std::vector<float> grad(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) grad[i] = std::log(rows[i]);
  nanlens::record("Log", nanlens::outputs(grad), nanlens::inputs(rows));
  MPI_Allreduce(MPI_IN_PLACE, grad.data(), static_cast<int>(grad.size()), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  return MPI_Finalize();
}
