/// @file
/// The functions of ggml that the adapter calls: those that a program is linked with, or those of a library that was
/// found in it.
#pragma once

#include <cstddef>
#include <cstdint>

#include <nanlens/config.hpp>
#include <nanlens/hosts/ggml/types.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN ggml_host {

/// Each is ggml's function of the name beside it.
struct Calls {
  const char* (*op_desc)(const ::ggml_tensor*) = nullptr;                         // ggml_op_desc
  std::size_t (*num_bytes)(const ::ggml_tensor*) = nullptr;                       // ggml_nbytes
  std::int64_t (*block_elements)(::ggml_type) = nullptr;                          // ggml_blck_size
  std::size_t (*block_bytes)(::ggml_type) = nullptr;                              // ggml_type_size
  int (*graph_size)(::ggml_cgraph*) = nullptr;                                    // ggml_graph_n_nodes
  ::ggml_tensor* (*graph_node)(::ggml_cgraph*, int) = nullptr;                    // ggml_graph_node
  bool (*is_host)(::ggml_backend_buffer*) = nullptr;                              // ggml_backend_buffer_is_host
  const char* (*buffer_name)(::ggml_backend_buffer*) = nullptr;                   // ggml_backend_buffer_name
  void (*read)(const ::ggml_tensor*, void*, std::size_t, std::size_t) = nullptr;  // ggml_backend_tensor_get
  /// Whether the buffer is of the CPU's own device: one that is not "host" there holds weights in another order, and
  /// can't be read.
  bool (*is_of_cpu)(::ggml_backend_buffer*) = nullptr;
  const ::ggml_type_traits* (*traits)(::ggml_type) = nullptr;  // ggml_get_type_traits; null: it is not to be trusted

  /// @name A graph of one node
  ///@{
  ::ggml_context* (*init)(::ggml_init_params) = nullptr;                                 // ggml_init
  void (*free)(::ggml_context*) = nullptr;                                               // ggml_free
  std::size_t (*graph_overhead)(std::size_t size, bool grads) = nullptr;                 // ggml_graph_overhead_custom
  ::ggml_cgraph* (*new_graph)(::ggml_context*, std::size_t size, bool grads) = nullptr;  // ggml_new_graph_custom
  void (*clear_graph)(::ggml_cgraph*) = nullptr;                                         // ggml_graph_clear
  void (*add_node)(::ggml_cgraph*, ::ggml_tensor*) = nullptr;                            // ggml_graph_add_node
  ///@}
};

/// Filled in before anything else of the adapter runs.
inline Calls calls;

}  // namespace NANLENS_HIDDEN ggml_host
}  // namespace nanlens::inline NANLENS_ABI
