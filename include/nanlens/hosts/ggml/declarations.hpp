/// @file
/// What the adapter needs of ggml's headers, for the library that is loaded into programs as they are: it is built
/// where there is no ggml. layout.hpp looks whether the ggml of the program is laid out like this before any of it is
/// used.
#pragma once

#include <cstddef>
#include <cstdint>

enum ggml_type : int {};
enum ggml_op : int {};
struct ggml_backend_buffer;
struct ggml_cgraph;
struct ggml_context;

struct ggml_tensor {
  ggml_type type;
  ggml_backend_buffer* buffer;
  std::int64_t ne[4];
  std::size_t nb[4];
  ggml_op op;
  std::int32_t op_params[16];
  std::int32_t flags;
  ggml_tensor* src[10];
  ggml_tensor* view_src;
  std::size_t view_offs;
  void* data;
  char name[64];
};

struct ggml_type_traits {
  const char* type_name;
  std::int64_t blck_size;
  std::int64_t blck_size_interleave;
  std::size_t type_size;
  bool is_quantized;
  void (*to_float)(const void* from, float* to, std::int64_t count);
};

/// The argument of ggml_init, which is passed by value.
struct ggml_init_params {
  std::size_t mem_size;
  void* mem_buffer;
  bool no_alloc;
};
