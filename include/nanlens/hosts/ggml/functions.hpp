/// @file
/// The functions of a ggml that was found in a program.
#pragma once

#define NANLENS_GGML_DECLARED

#include <cstddef>
#include <cstdint>
#include <string>

#include <dlfcn.h>

#include <nanlens/config.hpp>
#include <nanlens/hosts/ggml/calls.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN ggml_host {

/// Looks up functions of one library.
class Library {
 public:
  explicit Library(void* handle) noexcept : handle_(handle) {}
  template <class Function>
  void find(Function*& function, const char* name) {
    function = reinterpret_cast<Function*>(::dlsym(handle_, name));
    if (function == nullptr && missing_.empty()) missing_ = name;
  }
  /// The first function that it does not have; empty if it has all.
  [[nodiscard]] const std::string& missing() const noexcept { return missing_; }

 private:
  void* handle_;
  std::string missing_;
};

/// Functions that are needed to see how tensors are laid out.
struct Makers {
  ::ggml_tensor* (*new_tensor_4d)(::ggml_context*, ::ggml_type, std::int64_t, std::int64_t, std::int64_t, std::int64_t);
  ::ggml_tensor* (*view_2d)(::ggml_context*, ::ggml_tensor*, std::int64_t, std::int64_t, std::size_t, std::size_t);
  ::ggml_tensor* (*add)(::ggml_context*, ::ggml_tensor*, ::ggml_tensor*);
  ::ggml_tensor* (*set_name)(::ggml_tensor*, const char*);
  const char* (*get_name)(const ::ggml_tensor*);
  void* (*get_data)(const ::ggml_tensor*);
  void (*set_input)(::ggml_tensor*);
  const char* (*op_name)(::ggml_op);
  const char* (*type_name)(::ggml_type);
  void* (*cpu_buffer_type)();
  ::ggml_backend_buffer* (*alloc)(::ggml_context*, void* buffer_type);
  void (*free_buffer)(::ggml_backend_buffer*);
};

/// Functions behind Calls::is_of_cpu.
struct DeviceCalls {
  void* (*type_of)(::ggml_backend_buffer*) = nullptr;
  void* (*device_of)(void* buffer_type) = nullptr;
  int (*kind_of)(void* device) = nullptr;
};
inline DeviceCalls device_calls;
inline bool is_of_cpu(::ggml_backend_buffer* buffer) {
  void* const device = device_calls.device_of(device_calls.type_of(buffer));
  return device == nullptr || device_calls.kind_of(device) == 0;
}

inline void find_calls(Library& library, Calls& found) {
  library.find(found.op_desc, "ggml_op_desc");
  library.find(found.num_bytes, "ggml_nbytes");
  library.find(found.block_elements, "ggml_blck_size");
  library.find(found.block_bytes, "ggml_type_size");
  library.find(found.graph_size, "ggml_graph_n_nodes");
  library.find(found.graph_node, "ggml_graph_node");
  library.find(found.is_host, "ggml_backend_buffer_is_host");
  library.find(found.read, "ggml_backend_tensor_get");
  library.find(found.init, "ggml_init");
  library.find(found.free, "ggml_free");
  library.find(found.graph_overhead, "ggml_graph_overhead_custom");
  library.find(found.new_graph, "ggml_new_graph_custom");
  library.find(found.clear_graph, "ggml_graph_clear");
  library.find(found.add_node, "ggml_graph_add_node");
}

/// Looks all of them up. The first that the library does not have; empty if it has all.
inline std::string find_functions(void* handle, Calls& found, Makers& make) {
  Library library(handle);
  find_calls(library, found);
  library.find(make.new_tensor_4d, "ggml_new_tensor_4d");
  library.find(make.view_2d, "ggml_view_2d");
  library.find(make.add, "ggml_add");
  library.find(make.set_name, "ggml_set_name");
  library.find(make.get_name, "ggml_get_name");
  library.find(make.get_data, "ggml_get_data");
  library.find(make.set_input, "ggml_set_input");
  library.find(make.op_name, "ggml_op_name");
  library.find(make.type_name, "ggml_type_name");
  library.find(make.cpu_buffer_type, "ggml_backend_cpu_buffer_type");
  library.find(make.alloc, "ggml_backend_alloc_ctx_tensors_from_buft");
  library.find(make.free_buffer, "ggml_backend_buffer_free");
  library.find(device_calls.type_of, "ggml_backend_buffer_get_type");
  library.find(device_calls.device_of, "ggml_backend_buft_get_device");
  library.find(device_calls.kind_of, "ggml_backend_dev_type");
  return library.missing();
}

}  // namespace NANLENS_HIDDEN ggml_host
}  // namespace nanlens::inline NANLENS_ABI
