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

#if __cplusplus < 202002L
#error "nanlens needs C++20: compile with -std=c++20 or newer"
#endif

#include <version>  // tells which standard library this is

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

/// nvcc reads what is for the host twice, once to compile the device's code: no vectors then, on which it crashes
/// (13.0).
#if defined(__CUDA_ARCH__)
#define NANLENS_HAS_VECTORS 0
#else
#define NANLENS_HAS_VECTORS 1
#endif

#if defined(__x86_64__) && defined(__GNUC__) && NANLENS_HAS_VECTORS
#define NANLENS_X86_64 1
#else
#define NANLENS_X86_64 0
#endif

/// Units of one program may be compiled with different flags. What nanlens defines inline must then not be merged by
/// the linker: AVX code would run on a CPU without it, one unit would throw where the other can't. So everything lives
/// in an inline namespace named after all that changes its meaning.
#if defined(NANLENS_DISABLE)
#define NANLENS_ABI disabled
#else
#if defined(__AVX512F__)
#define NANLENS_ABI_ISA avx512
#elif defined(__AVX2__)
#define NANLENS_ABI_ISA avx2
#elif defined(__AVX__)
#define NANLENS_ABI_ISA avx
#elif defined(__SSE3__)
#define NANLENS_ABI_ISA sse4
#else
#define NANLENS_ABI_ISA base
#endif
#if defined(_GLIBCXX_DEBUG)
#define NANLENS_ABI_LIBRARY debug
#elif defined(_LIBCPP_VERSION)
#define NANLENS_ABI_LIBRARY llvm
#else
#define NANLENS_ABI_LIBRARY gnu
#endif
#if NANLENS_HAS_EXCEPTIONS
#define NANLENS_ABI_EXCEPTIONS throws
#else
#define NANLENS_ABI_EXCEPTIONS nothrow
#endif
#if defined(__FAST_MATH__)
#define NANLENS_ABI_MATH fast
#else
#define NANLENS_ABI_MATH exact
#endif
#define NANLENS_JOIN_TEXTS(a, b, c, d) a##_##b##_##c##_##d
#define NANLENS_JOIN(a, b, c, d) NANLENS_JOIN_TEXTS(a, b, c, d)
#define NANLENS_ABI NANLENS_JOIN(NANLENS_ABI_ISA, NANLENS_ABI_LIBRARY, NANLENS_ABI_EXCEPTIONS, NANLENS_ABI_MATH)
#endif

/// What no other module of the process may see or replace: the recorder's own parts.
#if defined(__GNUC__)
#define NANLENS_HIDDEN [[gnu::visibility("hidden")]]
#define NANLENS_VISIBLE [[gnu::visibility("default")]]
#else
#define NANLENS_HIDDEN
#define NANLENS_VISIBLE
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
