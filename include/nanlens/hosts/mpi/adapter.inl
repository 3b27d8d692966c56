/// @file
/// The adapter as an object that is loaded before a program (LD_PRELOAD): what `nanlens adapter mpi` compiles.

#include <nanlens/capture/rules.hpp>
#include <nanlens/hosts/mpi.hpp>

/// Tells who loads it that it is in its place before MPI.
extern "C" __attribute__((visibility("default"))) void nanlens_follows_mpi() {}
