/// @file
/// ONNX Runtime, 1.21 and later: every value of a model is recorded, with
///
///     #include <nanlens/hosts/onnx.hpp>
///     nanlens::onnx::Probed model = nanlens::onnx::instrument(bytes, "model.onnx");
///     nanlens::onnx::register_ops(options, OrtGetApiBase());
///     Ort::Session session(env, model.bytes.data(), model.bytes.size(), options);
///
/// or with no change to the program: `nanlens run -- PROGRAM`, where it uses the shared library. Turn recording on as
/// anywhere, by enable_dump_debug_info or the environment. Nothing of ONNX Runtime is included.
///
/// The model gets nodes that look at each value when it is made. What it computes is the same, but nodes whose values
/// are looked at are not fused. Branches and the bodies of loops are recorded node by node, each iteration for itself;
/// of sequences, maps and optionals what is put in and taken out. A run of the model is a run of its graph.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <nanlens/config.hpp>
#include <nanlens/nanlens.hpp>
#if !defined(NANLENS_DISABLE)
#include <nanlens/hosts/onnx/instrument.hpp>
#include <nanlens/hosts/onnx/kernels.hpp>
#endif

namespace nanlens::inline NANLENS_ABI {

/// ONNX Runtime as a host.
namespace onnx {

/// A model to be run; without probes where `why_not` says why it can have none.
struct Probed {
  std::string bytes;
  std::string why_not;
};

#if defined(NANLENS_DISABLE)
inline Probed instrument(std::string_view model, std::string_view /*name*/) { return {std::string(model), "disabled"}; }
template <class Options>
bool register_ops(Options& /*options*/, const void* /*base*/) {
  return true;
}
#else
/// The model with probes, called `name` on record. Weights in files beside the model are found by the session's option
/// "session.model_external_initializers_file_folder_path".
inline Probed instrument(std::string_view model, std::string_view name) {
  onnx_host::Instrumented probed =
      onnx_host::add_probes({reinterpret_cast<const unsigned char*>(model.data()), model.size()}, std::string(name));
  if (!probed.why_not.empty()) return {std::string(model), std::move(probed.why_not)};
  return {std::move(probed.model), {}};
}

/// Tells a session's options (an Ort::SessionOptions, or an OrtSessionOptions*) the ops of the probes; `base` is what
/// OrtGetApiBase() gives. False if this ONNX Runtime is too old.
template <class Options>
bool register_ops(Options& options, const void* base) {
  auto* const own = &*options;
  const onnx_host::Api api(static_cast<const onnx_host::ApiBase*>(base)->get_api(onnx_host::api_version));
  return api.exists() && api.is_fine(onnx_host::add_ops(api, reinterpret_cast<onnx_host::SessionOptions*>(own)));
}
#endif

}  // namespace onnx

}  // namespace nanlens::inline NANLENS_ABI
