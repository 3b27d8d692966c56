/// @file
/// The ops that a model with probes has, for ONNX Runtime.
#pragma once

#include <atomic>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nanlens/config.hpp>
#include <nanlens/hosts/onnx/api.hpp>
#include <nanlens/hosts/onnx/probes.hpp>
#include <nanlens/hosts/onnx/recording.hpp>
#include <nanlens/summary/summarize.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN onnx_host {

/// The dtype of the same elements; `invalid` for those that nanlens has no name for.
inline DType dtype_of(ElementType type) noexcept {
  switch (type) {
    case ElementType::float32: return DType::float32;
    case ElementType::uint8: return DType::uint8;
    case ElementType::int8: return DType::int8;
    case ElementType::uint16: return DType::uint16;
    case ElementType::int16: return DType::int16;
    case ElementType::int32: return DType::int32;
    case ElementType::int64: return DType::int64;
    case ElementType::boolean: return DType::boolean;
    case ElementType::float16: return DType::float16;
    case ElementType::float64: return DType::float64;
    case ElementType::uint32: return DType::uint32;
    case ElementType::uint64: return DType::uint64;
    case ElementType::complex64: return DType::complex64;
    case ElementType::complex128: return DType::complex128;
    case ElementType::bfloat16: return DType::bfloat16;
    case ElementType::float8_e4m3fn: return DType::float8_e4m3fn;
    case ElementType::float8_e5m2: return DType::float8_e5m2;
    default: return DType::invalid;
  }
}

/// What a kernel was given, and gives.
class KernelCall {
 public:
  KernelCall(const Api& api, KernelContext* context) noexcept : api_(api), context_(context) {}

  /// False if there is no such tensor.
  bool input(std::size_t index, TensorView& view) const {
    const Value* value = nullptr;
    TensorInfo* info = nullptr;
    if (!api_.is_fine(api_(function::kernel_input, context_, index, &value)) || value == nullptr) return false;
    if (!api_.is_fine(api_(function::tensor_info, value, &info))) return false;
    const bool is_known = describe(info, view);
    api_(function::release_tensor_info, info);
    void* data = nullptr;
    if (!is_known || !api_.is_fine(api_(function::tensor_data, const_cast<Value*>(value), &data))) return false;
    view.data = data;
    return true;
  }
  [[nodiscard]] RunToken token() const {
    TensorView view;
    RunToken token;
    if (!input(0, view) || view.dtype != DType::int64 || num_elements(view.shape) != 2) return {-1, 0};
    std::memcpy(&token, view.data, sizeof token);
    return token;
  }
  void give(const RunToken& token) const {
    constexpr std::int64_t shape[] = {2};
    Value* value = nullptr;
    void* data = nullptr;
    if (!api_.is_fine(api_(function::kernel_output, context_, std::size_t{0}, shape, std::size_t{1}, &value))) return;
    if (api_.is_fine(api_(function::tensor_data, value, &data))) std::memcpy(data, &token, sizeof token);
  }

 private:
  bool describe(const TensorInfo* info, TensorView& view) const {
    ElementType type{};
    std::size_t rank = 0;
    std::vector<std::int64_t> extents;
    if (!api_.is_fine(api_(function::element_type, info, &type))) return false;
    if (!api_.is_fine(api_(function::rank, info, &rank))) return false;
    extents.resize(rank);
    if (!api_.is_fine(api_(function::shape, info, extents.data(), rank))) return false;
    for (const std::int64_t extent : extents) view.shape.push_back(extent);
    view.dtype = dtype_of(type);
    return view.dtype != DType::invalid;
  }

  const Api& api_;
  KernelContext* context_;
};

inline std::int64_t integer_attribute(const Api& api, const KernelInfo* info, std::string_view name) {
  std::int64_t value = 0;
  return api.is_fine(api(function::integer_attribute, info, std::string(name).c_str(), &value)) ? value : 0;
}

/// Begins a run.
struct BeginKernel {
  Api api;
  std::shared_ptr<RecordedModel> model;

  BeginKernel(const Api& a, const KernelInfo* info) : api(a) {
    const std::string name(model_attribute);
    std::size_t size = 0;
    std::string text;
    if (!api.is_fine(api(function::text_attribute, info, name.c_str(), static_cast<char*>(nullptr), &size))) return;
    text.resize(size);
    if (!api.is_fine(api(function::text_attribute, info, name.c_str(), text.data(), &size)) || size == 0) return;
    text.resize(size - 1);  // without the zero behind it
    model = model_of(text);
    if (model == nullptr) std::fprintf(stderr, "nanlens: a model's probes are damaged: it is not recorded\n");
  }
  void compute(const KernelCall& call) const {
    const bool is_wanted = model != nullptr && nanlens::detail::is_active() && nanlens::detail::active_bits() != 0;
    call.give(is_wanted ? ModelRuns::get().begin(model) : RunToken{-1, 0});
  }
};

/// Begins an iteration of a loop, whose number is the second input.
struct EnterKernel {
  ValueNumber begin;
  ValueNumber end;

  EnterKernel(const Api& api, const KernelInfo* info)
      : begin(static_cast<ValueNumber>(integer_attribute(api, info, begin_attribute))),
        end(static_cast<ValueNumber>(integer_attribute(api, info, end_attribute))) {}
  void compute(const KernelCall& call) const {
    const RunToken token = call.token();
    call.give(token);
    TensorView iteration;
    ModelRun* const run = ModelRuns::get().at(token);
    if (run == nullptr || !call.input(1, iteration) || iteration.dtype != DType::int64) return;
    if (num_elements(iteration.shape) == 1 && *static_cast<const std::int64_t*>(iteration.data) == 0)
      run->forget(token.number, begin, end);
  }
};

/// Looks at a value. What never changes is looked at again only if it is bad.
struct ProbeKernel {
  ValueNumber value;
  bool is_constant;
  mutable std::atomic<bool> is_clean{false};

  ProbeKernel(const Api& api, const KernelInfo* info)
      : value(static_cast<ValueNumber>(integer_attribute(api, info, value_attribute))),
        is_constant(integer_attribute(api, info, constant_attribute) != 0) {}
  void compute(const KernelCall& call) const {
    if (is_constant && is_clean.load(std::memory_order_relaxed)) return;
    const RunToken token = call.token();
    ModelRun* const run = ModelRuns::get().at(token);
    TensorView view;
    if (run == nullptr || !call.input(1, view)) return;
    run->record(token.number, value, view);
    if (is_constant && !has_non_finite(view)) is_clean.store(true, std::memory_order_relaxed);
  }
};

/// The kernel and the table of which library: what a session keeps of a node.
template <class Kernel>
struct KernelOf {
  Api api;
  Kernel kernel;
};

/// Nothing may be thrown into ONNX Runtime's C functions: false where memory has run out.
template <class Body>
bool has_memory_for(const Body& body) noexcept {
#if NANLENS_HAS_EXCEPTIONS
  try {
    body();
  } catch (...) {
    return false;
  }
#else
  body();
#endif
  return true;
}

/// An op of one kind of kernel, with so many inputs and outputs.
template <class Kernel, std::size_t NumInputs, std::size_t NumOutputs>
struct OpOf : CustomOp {
  explicit OpOf(const char* op_name) : text(op_name) {
    name = [](const CustomOp* op) { return static_cast<const OpOf*>(op)->text; };
    provider = [](const CustomOp*) -> const char* { return nullptr; };
    num_inputs = [](const CustomOp*) { return NumInputs; };
    num_outputs = [](const CustomOp*) { return NumOutputs; };
    input_type = [](const CustomOp*, std::size_t index) {
      return index + 1 == NumInputs ? ElementType::undefined : ElementType::int64;
    };
    output_type = [](const CustomOp*, std::size_t) { return ElementType::int64; };
    input_characteristic = [](const CustomOp*, std::size_t) { return NumInputs == 1 ? 1 : 0; };
    output_characteristic = [](const CustomOp*, std::size_t) { return 0; };
    input_memory = [](const CustomOp*, std::size_t) { return 0; };
    variadic_input_arity = variadic_output_arity = [](const CustomOp*) { return 1; };
    variadic_input_homogeneity = variadic_output_homogeneity = [](const CustomOp*) { return 1; };
    start_version = [](const CustomOp*) { return 1; };
    end_version = [](const CustomOp*) { return INT_MAX; };
    create_kernel_v2 = &create;
    compute_v2 = &run;
    destroy_kernel = [](void* kernel) { delete static_cast<KernelOf<Kernel>*>(kernel); };
  }
  const char* text;

 private:
  static Status* create(const CustomOp* /*op*/, const void* const* table, const KernelInfo* info, void** kernel) {
    const Api api(table);
    const bool is_made = has_memory_for([&] { *kernel = new KernelOf<Kernel>{api, Kernel(api, info)}; });
    return is_made ? nullptr : api(function::create_status, 1, "nanlens: no memory for a probe");
  }
  // Without memory what is lost is one value.
  static Status* run(void* kernel, KernelContext* context) {
    const auto& all = *static_cast<const KernelOf<Kernel>*>(kernel);
    (void)has_memory_for([&] { all.kernel.compute(KernelCall(all.api, context)); });
    return nullptr;
  }
};

/// Adds the ops to the options of a session. What went wrong, for the caller to release; null: nothing.
inline Status* add_ops(const Api& api, SessionOptions* options) {
  static const auto* const begin = new OpOf<BeginKernel, 1, 1>("Begin");
  static const auto* const enter = new OpOf<EnterKernel, 2, 1>("Enter");
  static const auto* const probe = new OpOf<ProbeKernel, 2, 0>("Probe");
  OpDomain* domain = nullptr;  // the options refer to it for as long as any session may: it is never released
  if (Status* const status = api(function::create_domain, std::string(probe_domain).c_str(), &domain)) return status;
  for (const CustomOp* op :
       {static_cast<const CustomOp*>(begin), static_cast<const CustomOp*>(enter), static_cast<const CustomOp*>(probe)})
    if (Status* const status = api(function::add_to_domain, domain, op)) return status;
  return api(function::add_domain, options, domain);
}

}  // namespace NANLENS_HIDDEN onnx_host
}  // namespace nanlens::inline NANLENS_ABI
