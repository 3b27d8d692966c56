/// @file
/// The functions of <nanlens/c.h>. One translation unit of a program or library includes it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nanlens/c.h>
#include <nanlens/capture/check_numerics.hpp>
#include <nanlens/capture/dump.hpp>
#include <nanlens/capture/op.hpp>
#include <nanlens/tensor/dlpack_types.hpp>
#if !defined(NANLENS_SPLIT)
#include <nanlens/capture/implementation.hpp>
#include <nanlens/capture/rules.hpp>
#endif

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN detail {

/// The text that a call returns, until the thread's next one.
inline const char* returned(std::string_view text) {
  thread_local char kept[2048];
  const std::size_t size = std::min(text.size(), sizeof kept - 1);
  std::copy_n(text.data(), size, kept);
  kept[size] = '\0';
  return kept;
}

inline std::string_view text_or_nothing(const char* text) noexcept { return text == nullptr ? "" : text; }

inline TensorView view_of_c(const nanlens_tensor& tensor) noexcept {
  TensorView view;
  view.data = tensor.data;
  view.dtype = static_cast<DType>(tensor.dtype);
  for (std::int32_t i = 0; tensor.shape != nullptr && i < tensor.rank; ++i) {
    view.shape.push_back(tensor.shape[i]);
    if (tensor.strides != nullptr) view.strides.push_back(tensor.strides[i]);
  }
  if (tensor.device != nullptr) view.device = tensor.device;
  return view;
}

inline OpRef op_of_c(const nanlens_op_info& op) noexcept {
  const std::string_view type = text_or_nothing(op.type);
  const SourcePlace where(op.file == nullptr ? "" : op.file, op.function == nullptr ? "" : op.function, op.line, 0);
  return {type, op.name == nullptr ? type : std::string_view(op.name), where};
}

inline std::vector<InputRef> inputs_of_c(const nanlens_tensor* tensors, std::size_t count) {
  std::vector<InputRef> refs;
  for (const nanlens_tensor& tensor : std::span(tensors, count)) refs.push_back(input_ref(view_of_c(tensor)));
  return refs;
}

inline std::vector<OutputRef> outputs_of_c(const nanlens_tensor* tensors, std::size_t count) {
  std::vector<OutputRef> refs;
  for (const nanlens_tensor& tensor : std::span(tensors, count)) {
    TensorView view = view_of_c(tensor);
    refs.push_back(output_ref(view, true));
  }
  return refs;
}

/// DLTensor as dlpack.h declares it: a layout that does not change.
struct DlTensor {
  void* data;
  std::int32_t device_type;
  std::int32_t device_id;
  std::int32_t ndim;
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
  std::int64_t* shape;
  std::int64_t* strides;
  std::uint64_t byte_offset;
};

/// What check_numerics has to say, as this thread's text; null: nothing.
inline const char* message_of(const NumericsRef* found) {
  if (found == nullptr) return nullptr;
  const char* const message = returned(found->message.view());
  found->release(found);
  return message;
}

/// Runs the body of a C function: what runs out of memory is left out.
template <class Body>
void without_escape(Body&& body) noexcept {
#if NANLENS_HAS_EXCEPTIONS
  try {
    body();
  } catch (...) {
  }
#else
  body();
#endif
}

}  // namespace NANLENS_HIDDEN detail
}  // namespace nanlens::inline NANLENS_ABI

struct nanlens_scope {
  nanlens_scope(const nanlens::detail::OpRef& ref, std::span<const nanlens::detail::InputRef> inputs)
      : op(ref, inputs) {}
  nanlens::detail::BegunOp op;
};

extern "C" {

const char* nanlens_open(const nanlens_options* options) {
  using namespace nanlens;
  const char* wrong = nullptr;
  detail::without_escape([&] {
    if (options == nullptr) return void(wrong = detail::returned("nanlens_open needs options"));
    DumpOptions wanted;
    wanted.logdir = detail::text_or_nothing(options->logdir);
    wanted.tensor_debug_mode = options->tensor_debug_mode == 0
                                   ? TensorDebugMode::full_health
                                   : static_cast<TensorDebugMode>(options->tensor_debug_mode);
    wanted.circular_buffer_size = options->circular_buffer_size;
    wanted.statistics = options->statistics != 0;
    std::string why;
    if (!detail::start_dump(wanted, why)) wrong = detail::returned(why);
  });
  return wrong;
}

void nanlens_close(void) { nanlens::disable_dump_debug_info(); }

void nanlens_flush(void) { nanlens::flush_debug_info(); }

void nanlens_step(void) { nanlens::step(); }

void nanlens_check_numerics(int on) {
  nanlens::detail::without_escape([&] {
    if (on != 0)
      nanlens::enable_check_numerics();
    else
      nanlens::disable_check_numerics();
  });
}

const char* nanlens_op(const nanlens_op_info* op) {
  using namespace nanlens::detail;
  const char* found = nullptr;
  if (op == nullptr || !takes_op() || active_bits() == 0) return found;
  without_escape([&] {
    auto inputs = inputs_of_c(op->inputs, op->num_inputs);
    auto outputs = outputs_of_c(op->outputs, op->num_outputs);
    found = message_of(recorder().record(op_of_c(*op), inputs.data(), inputs.size(), outputs.data(), outputs.size(),
                                         {op->duration_ns, 0}));
  });
  return found;
}

nanlens_scope* nanlens_begin_op(const nanlens_op_info* op) {
  using namespace nanlens::detail;
  nanlens_scope* scope = nullptr;
  if (op == nullptr || !takes_op() || active_bits() == 0) return scope;
  without_escape([&] {
    const auto inputs = inputs_of_c(op->inputs, op->num_inputs);
    scope = std::make_unique<nanlens_scope>(op_of_c(*op), inputs).release();
  });
  return scope;
}

const char* nanlens_end_op(nanlens_scope* scope, const nanlens_tensor* outputs, size_t num_outputs) {
  using namespace nanlens::detail;
  const std::unique_ptr<nanlens_scope> ended(scope);
  const char* found = nullptr;
  if (scope == nullptr || outputs == nullptr) return found;
  without_escape([&] {
    auto written = outputs_of_c(outputs, num_outputs);
    found = message_of(scope->op.finish(written));
  });
  return found;
}

nanlens_function* nanlens_begin_function(const nanlens_op_info* op, const char* const* names) {
  using namespace nanlens::detail;
  void* call = nullptr;
  if (op == nullptr || !is_active() || active_bits() == 0) return nullptr;
  without_escape([&] {
    const auto arguments = inputs_of_c(op->inputs, op->num_inputs);
    std::vector<TextRef> texts;
    for (std::size_t i = 0; i < arguments.size(); ++i)
      texts.emplace_back(text_or_nothing(names == nullptr ? nullptr : names[i]));
    const auto traced = std::make_unique<bool[]>(arguments.size());
    std::fill_n(traced.get(), arguments.size(), true);
    const OpRef function = op_of_c(*op);
    call = recorder().enter_function(
        {function.type(), 0, function.where(), arguments.data(), texts.data(), traced.get(), arguments.size()});
  });
  return static_cast<nanlens_function*>(call);
}

void nanlens_end_function(nanlens_function* function, const nanlens_tensor* results, size_t num_results) {
  using namespace nanlens::detail;
  if (function == nullptr) return;
  without_escape([&] {
    auto outputs = outputs_of_c(results, num_results);
    const auto inside = inputs_of_c(results, num_results);
    for (std::size_t i = 0; i < num_results; ++i) recorder().add_result(function, outputs[i], inside[i]);
  });
  recorder().leave_function(function, false);
}

const char* nanlens_from_dlpack(const void* dl_tensor, nanlens_tensor* to) {
  using namespace nanlens::detail;
  const auto* const from = static_cast<const DlTensor*>(dl_tensor);
  if (from == nullptr || to == nullptr) return "there is no tensor";
  if (from->lanes != 1) return "elements of several lanes have no dtype";
  if (from->ndim > static_cast<std::int32_t>(nanlens::max_rank)) return "more than 16 dimensions";
  const nanlens::DType dtype = dtype_of_dlpack(from->code, from->bits);
  if (dtype == nanlens::DType::invalid) return "an element type that nanlens does not know";
  const bool readable = is_readable_dlpack(from->device_type);
  to->data = readable ? static_cast<const unsigned char*>(from->data) + from->byte_offset : nullptr;
  to->dtype = static_cast<std::int32_t>(dtype);
  to->rank = from->ndim;
  to->shape = from->shape;
  to->strides = from->strides;
  to->device = readable ? nullptr : nanlens::gpu_device;
  return nullptr;
}

}  // extern "C"
