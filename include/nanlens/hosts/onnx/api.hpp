/// @file
/// ONNX Runtime's C API, as far as it is called: its table by number, since each release only appends to it. So one
/// build serves every version from 1.21 on, and needs none of its headers.
#pragma once

#include <cstddef>
#include <cstdint>

#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI::onnx_host {

/// The version that a library must offer.
inline constexpr std::uint32_t api_version = 21;

/// OrtApiBase.
struct ApiBase {
  const void* const* (*get_api)(std::uint32_t version) noexcept;
  const char* (*get_version)() noexcept;
};

/// What `OrtGetApiBase` is.
using GetApiBase = const ApiBase*() noexcept;

/// @name Objects that are the library's own
///@{
struct Status;
struct SessionOptions;
struct Session;
struct Environment;
struct KernelInfo;
struct KernelContext;
struct Value;
struct TensorInfo;
struct TypeInfo;
struct MemoryInfo;
struct Allocator;
struct OpDomain;
struct RunOptions;
struct PrepackedWeights;
///@}

/// ONNXTensorElementDataType.
enum class ElementType : std::int32_t {
  undefined,
  float32,
  uint8,
  int8,
  uint16,
  int16,
  int32,
  int64,
  string,
  boolean,
  float16,
  float64,
  uint32,
  uint64,
  complex64,
  complex128,
  bfloat16,
  float8_e4m3fn,
  float8_e4m3fnuz,
  float8_e5m2,
  float8_e5m2fnuz,
};

/// OrtCustomOp: an op of ours. What is null is left to the library.
struct CustomOp {
  std::uint32_t version = api_version;
  void* (*create_kernel)(const CustomOp* op, const void* const* api, const KernelInfo* info) = nullptr;
  const char* (*name)(const CustomOp* op) = nullptr;
  const char* (*provider)(const CustomOp* op) = nullptr;
  ElementType (*input_type)(const CustomOp* op, std::size_t index) = nullptr;
  std::size_t (*num_inputs)(const CustomOp* op) = nullptr;
  ElementType (*output_type)(const CustomOp* op, std::size_t index) = nullptr;
  std::size_t (*num_outputs)(const CustomOp* op) = nullptr;
  void (*compute)(void* kernel, KernelContext* context) = nullptr;
  void (*destroy_kernel)(void* kernel) = nullptr;
  int (*input_characteristic)(const CustomOp* op, std::size_t index) = nullptr;  ///< 0: required, 1: optional
  int (*output_characteristic)(const CustomOp* op, std::size_t index) = nullptr;
  int (*input_memory)(const CustomOp* op, std::size_t index) = nullptr;
  int (*variadic_input_arity)(const CustomOp* op) = nullptr;
  int (*variadic_input_homogeneity)(const CustomOp* op) = nullptr;
  int (*variadic_output_arity)(const CustomOp* op) = nullptr;
  int (*variadic_output_homogeneity)(const CustomOp* op) = nullptr;
  Status* (*create_kernel_v2)(const CustomOp* op, const void* const* api, const KernelInfo* info,
                              void** kernel) = nullptr;
  Status* (*compute_v2)(void* kernel, KernelContext* context) = nullptr;
  Status* (*infer_shapes)(const CustomOp* op, void* context) = nullptr;
  int (*start_version)(const CustomOp* op) = nullptr;
  int (*end_version)(const CustomOp* op) = nullptr;
  std::size_t (*may_inplace)(int** inputs, int** outputs) = nullptr;
  void (*release_may_inplace)(int* inputs, int* outputs) = nullptr;
  std::size_t (*alias_map)(int** inputs, int** outputs) = nullptr;
  void (*release_alias_map)(int* inputs, int* outputs) = nullptr;
};

/// A function of the table: its signature, and its number.
template <class Signature, std::size_t Number>
struct ApiFunction {};

/// @name The functions
///@{
namespace function {

using CreateSession = Status*(const Environment*, const char* path, const SessionOptions*, Session**) noexcept;
using CreateSessionFromArray = Status*(const Environment*, const void* model, std::size_t size, const SessionOptions*,
                                       Session**) noexcept;
using CreateSessionWithWeights = Status*(const Environment*, const char* path, const SessionOptions*, PrepackedWeights*,
                                         Session**) noexcept;
using CreateSessionFromArrayWithWeights = Status*(const Environment*, const void* model, std::size_t size,
                                                  const SessionOptions*, PrepackedWeights*, Session**) noexcept;

inline constexpr ApiFunction<Status*(int code, const char* message) noexcept, 0> create_status;
inline constexpr ApiFunction<const char*(const Status*) noexcept, 2> error_message;
inline constexpr ApiFunction<Status*(int level, const char* id, Environment**) noexcept, 3> create_environment;
inline constexpr ApiFunction<CreateSession, 7> create_session;
inline constexpr ApiFunction<CreateSessionFromArray, 8> create_session_from_array;
inline constexpr ApiFunction<Status*(Session*, const RunOptions*, const char* const* input_names, const Value* const*,
                                     std::size_t num_inputs, const char* const* output_names, std::size_t num_outputs,
                                     Value** outputs) noexcept,
                             9>
    run;
inline constexpr ApiFunction<Status*(SessionOptions**) noexcept, 10> create_options;
inline constexpr ApiFunction<Status*(SessionOptions*, const char* path) noexcept, 11> set_optimized_path;
inline constexpr ApiFunction<Status*(const SessionOptions*, SessionOptions**) noexcept, 12> clone_options;
inline constexpr ApiFunction<Status*(SessionOptions*, int level) noexcept, 22> set_log_level;
inline constexpr ApiFunction<Status*(SessionOptions*, int level) noexcept, 23> set_optimization_level;
inline constexpr ApiFunction<Status*(const char* domain, OpDomain**) noexcept, 26> create_domain;
inline constexpr ApiFunction<Status*(OpDomain*, const CustomOp*) noexcept, 27> add_to_domain;
inline constexpr ApiFunction<Status*(SessionOptions*, OpDomain*) noexcept, 28> add_domain;
inline constexpr ApiFunction<Status*(const Session*, std::size_t*) noexcept, 30> num_inputs;
inline constexpr ApiFunction<Status*(const Session*, std::size_t*) noexcept, 31> num_outputs;
inline constexpr ApiFunction<Status*(const Session*, std::size_t index, TypeInfo**) noexcept, 33> input_type;
inline constexpr ApiFunction<Status*(const Session*, std::size_t index, Allocator*, char**) noexcept, 36> input_name;
inline constexpr ApiFunction<Status*(const Session*, std::size_t index, Allocator*, char**) noexcept, 37> output_name;
inline constexpr ApiFunction<Status*(const MemoryInfo*, void* data, std::size_t size, const std::int64_t* shape,
                                     std::size_t rank, ElementType, Value**) noexcept,
                             49>
    create_tensor;
inline constexpr ApiFunction<Status*(Value*, void** data) noexcept, 51> tensor_data;
inline constexpr ApiFunction<Status*(const TypeInfo*, const TensorInfo**) noexcept, 55> tensor_info_of_type;
inline constexpr ApiFunction<Status*(const TensorInfo*, ElementType*) noexcept, 60> element_type;
inline constexpr ApiFunction<Status*(const TensorInfo*, std::size_t*) noexcept, 61> rank;
inline constexpr ApiFunction<Status*(const TensorInfo*, std::int64_t* shape, std::size_t rank) noexcept, 62> shape;
inline constexpr ApiFunction<Status*(const Value*, TensorInfo**) noexcept, 65> tensor_info;
inline constexpr ApiFunction<Status*(int allocator, int type, MemoryInfo**) noexcept, 69> create_cpu_memory;
inline constexpr ApiFunction<Status*(Allocator*, void*) noexcept, 76> free_memory;
inline constexpr ApiFunction<Status*(Allocator**) noexcept, 78> default_allocator;
inline constexpr ApiFunction<Status*(const KernelInfo*, const char* name, std::int64_t*) noexcept, 86>
    integer_attribute;
inline constexpr ApiFunction<Status*(const KernelInfo*, const char* name, char* text, std::size_t* size) noexcept, 87>
    text_attribute;
inline constexpr ApiFunction<Status*(const KernelContext*, std::size_t index, const Value**) noexcept, 90> kernel_input;
inline constexpr ApiFunction<
    Status*(KernelContext*, std::size_t index, const std::int64_t* shape, std::size_t rank, Value**) noexcept, 91>
    kernel_output;
inline constexpr ApiFunction<void(Environment*) noexcept, 92> release_environment;
inline constexpr ApiFunction<void(Status*) noexcept, 93> release_status;
inline constexpr ApiFunction<void(MemoryInfo*) noexcept, 94> release_memory_info;
inline constexpr ApiFunction<void(Session*) noexcept, 95> release_session;
inline constexpr ApiFunction<void(Value*) noexcept, 96> release_value;
inline constexpr ApiFunction<void(TypeInfo*) noexcept, 98> release_type_info;
inline constexpr ApiFunction<void(TensorInfo*) noexcept, 99> release_tensor_info;
inline constexpr ApiFunction<void(SessionOptions*) noexcept, 100> release_options;
inline constexpr ApiFunction<Status*(SessionOptions*, const char* key, const char* value) noexcept, 130> add_config;
inline constexpr ApiFunction<CreateSessionWithWeights, 168> create_session_with_weights;
inline constexpr ApiFunction<CreateSessionFromArrayWithWeights, 169> create_session_from_array_with_weights;

}  // namespace function
///@}

/// The table of a library.
class Api {
 public:
  explicit Api(const void* const* table = nullptr) noexcept : table_(table) {}

  [[nodiscard]] bool exists() const noexcept { return table_ != nullptr; }
  [[nodiscard]] const void* const* table() const noexcept { return table_; }

  template <class Result, class... Parameters, std::size_t Number, class... Arguments>
  Result operator()(ApiFunction<Result(Parameters...) noexcept, Number> /*which*/,
                    Arguments... arguments) const noexcept {
    return reinterpret_cast<Result (*)(Parameters...) noexcept>(const_cast<void*>(table_[Number]))(arguments...);
  }
  /// True if all went well; else the status is released.
  [[nodiscard]] bool is_fine(Status* status) const noexcept {
    if (status != nullptr) (*this)(function::release_status, status);
    return status == nullptr;
  }

 private:
  const void* const* table_;
};

}  // namespace nanlens::inline NANLENS_ABI::onnx_host
