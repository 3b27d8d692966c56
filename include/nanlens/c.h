/** @file
 * nanlens for programs in C, for other languages, and for adapters that are loaded at run time: C11, plain structs.
 *
 * The functions are those of libnanlens_c (CMake target `nanlens::c`). They reach the one recorder of the process, so
 * that what is recorded through them lies in one logdir with what C++ code of the same process records. All may be
 * called from any thread. Nothing that they are given is kept: texts, extents and tensors need last during the call
 * only.
 */
#ifndef NANLENS_C_H
#define NANLENS_C_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define NANLENS_C_API __attribute__((visibility("default")))
#else
#define NANLENS_C_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** Element types, by the numbers of TensorFlow's DataType; all others of it may be used, too. */
enum {
  NANLENS_FLOAT32 = 1,
  NANLENS_FLOAT64 = 2,
  NANLENS_INT32 = 3,
  NANLENS_UINT8 = 4,
  NANLENS_INT8 = 6,
  NANLENS_COMPLEX64 = 8,
  NANLENS_INT64 = 9,
  NANLENS_BOOL = 10,
  NANLENS_BFLOAT16 = 14,
  NANLENS_COMPLEX128 = 18,
  NANLENS_FLOAT16 = 19
};

/** What is recorded of a tensor, by the numbers of TensorFlow's TensorDebugMode. */
enum {
  NANLENS_NO_TENSOR = 1,
  NANLENS_CURT_HEALTH = 2,
  NANLENS_CONCISE_HEALTH = 3,
  NANLENS_FULL_HEALTH = 4,
  NANLENS_SHAPE = 5,
  NANLENS_FULL_TENSOR = 7
};

/** A tensor: memory, element type, extents, strides and device. */
typedef struct nanlens_tensor {
  const void* data;       /**< first element; NULL where the values can't be read here (device memory) */
  int32_t dtype;          /**< NANLENS_FLOAT32, … */
  int32_t rank;           /**< at most 16 */
  const int64_t* shape;   /**< `rank` extents, outermost first */
  const int64_t* strides; /**< `rank` distances in elements; NULL: dense, the last dimension varies fastest */
  const char* device;     /**< full device name; NULL: this process's memory */
} nanlens_tensor;

/** What to record, and where to. Set all of it to 0 first. What it does not name is as DumpOptions of C++ has it. */
typedef struct nanlens_options {
  const char* logdir;           /**< a directory; it is made if it is missing */
  int32_t tensor_debug_mode;    /**< 0: NANLENS_FULL_HEALTH */
  int32_t statistics;           /**< not 0: minimum, maximum, mean, exponents */
  int64_t circular_buffer_size; /**< keep the last so many events; 0: write everything */
} nanlens_options;

/** An op that has run. */
typedef struct nanlens_op_info {
  const char* type;     /**< "MatMul" */
  const char* name;     /**< the op's own name; NULL: none */
  const char* file;     /**< where it was called; NULL: not known */
  const char* function; /**< NULL: not known */
  uint32_t line;        /**< 0: not known */
  uint64_t duration_ns; /**< 0: not known */
  const nanlens_tensor* inputs;
  size_t num_inputs;
  const nanlens_tensor* outputs;
  size_t num_outputs;
} nanlens_op_info;

/** An op under way. */
typedef struct nanlens_scope nanlens_scope;

/** A call of a function under way. */
typedef struct nanlens_function nanlens_function;

/** Starts recording. NULL, or what is wrong: a text that stays valid until this thread's next call. */
NANLENS_C_API const char* nanlens_open(const nanlens_options* options);
/** Stops recording and completes the logdir. Does nothing if recording is off. */
NANLENS_C_API void nanlens_close(void);
/** Hands everything recorded so far to the operating system. */
NANLENS_C_API void nanlens_flush(void);
/** Ends a step of the program, and begins the next: what NANLENS_EVERY and NANLENS_STEPS count. */
NANLENS_C_API void nanlens_step(void);
/** Not 0: from now on nanlens_op tells of outputs with a NaN or infinity, as TensorFlow's check_numerics does. */
NANLENS_C_API void nanlens_check_numerics(int on);

/** Records an op. NULL, or what check_numerics has found: a text that stays valid until this thread's next call. */
NANLENS_C_API const char* nanlens_op(const nanlens_op_info* op);

/** Begins an op that writes over what it reads: its inputs are looked at now, and its time is taken. `op` needs no
 * outputs and no duration. NULL if recording is off. */
NANLENS_C_API nanlens_scope* nanlens_begin_op(const nanlens_op_info* op);
/** Ends it, and records it with what it has written; where `outputs` is NULL, nothing is recorded. Returns what
 * nanlens_op does. A NULL scope is fine. */
NANLENS_C_API const char* nanlens_end_op(nanlens_scope* scope, const nanlens_tensor* outputs, size_t num_outputs);

/** Begins a function: ops that this thread records until it ends form its graph. `op` has its name as type, its
 * arguments as inputs, and its place; `names` has a name for each argument. NULL if recording is off. */
NANLENS_C_API nanlens_function* nanlens_begin_function(const nanlens_op_info* op, const char* const* names);
/** Ends it, on the thread that began it, innermost first. NULL is fine. */
NANLENS_C_API void nanlens_end_function(nanlens_function* function, const nanlens_tensor* results, size_t num_results);

/** The tensor of a DLTensor (DLPack 0.2 to 1.x), which it points into. NULL, or why it can't be described. */
NANLENS_C_API const char* nanlens_from_dlpack(const void* dl_tensor, nanlens_tensor* to);

#ifdef __cplusplus
}
#endif

#endif
