/// @file
/// MPI 3, any implementation: what ranks exchange is recorded, and a NaN is followed from rank to rank, with no change
/// to the program but, in one of its files,
///
///     #include <nanlens/hosts/mpi.hpp>
///
/// or with none: `nanlens run -- mpirun -n 4 PROGRAM` (or `mpirun -n 4 nanlens run -- PROGRAM`) compiles this header
/// into a library and loads it. Turn recording on as anywhere, by enable_dump_debug_info or the environment.
///
/// The header defines MPI's functions that the program calls, each of which calls MPI's own by its other name (PMPI_…):
/// another tool that does the same can't be in the program, too. Recorded are, of floating and complex numbers,
/// broadcasts, reductions, scans, gathers, scatters, all-to-alls and messages, blocking or not: an Execution with what
/// a rank puts in, before MPI has it, and another one with what it got, once the program knows that it is there.
/// Datatypes made of contiguous elements, vectors, sub-arrays, copies and resized ones are looked at as they lie in
/// memory; what is of other types (structures, indexed ones) is not recorded. Not recorded are persistent requests,
/// matched probes, neighbourhood collectives, one-sided communication, files, and collectives between two groups; where
/// such make it uncertain which message is which, none of the communicator is followed from then on. Fortran programs
/// call MPI's own functions under Open MPI: they are not seen.
#pragma once

#include <mpi.h>

#include <nanlens/config.hpp>
#include <nanlens/nanlens.hpp>
#if !defined(NANLENS_DISABLE)
#include <nanlens/hosts/mpi/completion.hpp>
#endif
