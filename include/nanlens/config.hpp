/// @file
/// Every macro and feature test of nanlens, in one place.
///
/// What a user may define before the first include (or on the command line):
/// - `NANLENS_DISABLE`: all capture calls compile to nothing; wrapped values are returned as they are.
/// - `NANLENS_HAVE_LIBBACKTRACE`: resolve stack frames with libbacktrace (link with `-lbacktrace`).
///   The CMake target `nanlens::capture` defines it where the library was found.
/// - `NANLENS_SPLIT`: headers declare only, which compiles a few times faster; one translation unit of the program
///   includes <nanlens/MODULE/implementation.hpp> of each module in use (capture, reader, causes, archive). The CMake
///   targets `nanlens::compiled` (capture), `nanlens::compiled_causes` (reader and causes) and
///   `nanlens::compiled_archive` (these and archive) do both.
#pragma once

#if defined(__cpp_exceptions) || defined(__EXCEPTIONS)
#define NANLENS_HAS_EXCEPTIONS 1
#else
#define NANLENS_HAS_EXCEPTIONS 0
#endif

#if defined(__EMSCRIPTEN__) && !defined(__EMSCRIPTEN_PTHREADS__)
#define NANLENS_HAS_THREADS 0
#else
#define NANLENS_HAS_THREADS 1
#endif

#if defined(__x86_64__) && defined(__GNUC__)
#define NANLENS_X86_64 1
#else
#define NANLENS_X86_64 0
#endif

/// Code generation differs between translation units compiled with different -m flags; an inline function of one must
/// not be merged by the linker with that of another (it would run AVX code on a CPU without it). Kernels therefore live
/// in an inline namespace named after the instruction set of their translation unit.
#if defined(__AVX512BW__)
#define NANLENS_ISA_NAMESPACE isa_avx512
#elif defined(__AVX2__)
#define NANLENS_ISA_NAMESPACE isa_avx2
#elif defined(__AVX__) || defined(__SSE4_2__)
#define NANLENS_ISA_NAMESPACE isa_sse42
#else
#define NANLENS_ISA_NAMESPACE isa_baseline
#endif

/// For functions of a few instructions on the recording path, which compilers else leave as calls in large callers.
#if defined(__GNUC__)
#define NANLENS_INLINE [[gnu::always_inline]] inline
#else
#define NANLENS_INLINE inline
#endif

/// Definitions of functions that are not templates, in .inl files.
#if defined(NANLENS_SPLIT)
#define NANLENS_API
#else
#define NANLENS_API inline
#endif
