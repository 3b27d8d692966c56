/// @file
/// ONNX Runtime's host as a library of its own: what `register_custom_ops_library` takes, for models with probes; and
/// what `nanlens run` and `nanlens onnx` load. One translation unit of a shared library includes this, and nothing else
/// does.
#pragma once

#include <cstdio>
#include <exception>

#include <nanlens/hosts/onnx/driver.hpp>
#include <nanlens/hosts/onnx/instrument.hpp>
#include <nanlens/hosts/onnx/kernels.hpp>
#include <nanlens/hosts/onnx/session_hooks.hpp>

#define NANLENS_EXPORTED extern "C" __attribute__((visibility("default")))

/// What ONNX Runtime calls when it loads the library for a session.
NANLENS_EXPORTED nanlens::onnx_host::Status* RegisterCustomOps(nanlens::onnx_host::SessionOptions* options,
                                                               const nanlens::onnx_host::ApiBase* base) {
  using namespace nanlens::onnx_host;
  const Api api(base->get_api(api_version));
  if (!api.exists()) {
    const Api oldest(base->get_api(1));
    return oldest(function::create_status, 1, "nanlens needs ONNX Runtime 1.21 or later");
  }
  return add_ops(api, options);
}

/// What a program gets for OrtGetApiBase's result, under `nanlens run`.
NANLENS_EXPORTED const nanlens::onnx_host::ApiBase* nanlens_onnx_hook(const nanlens::onnx_host::ApiBase* base) {
  return nanlens::onnx_host::hooked_base(base);
}

/// What `nanlens onnx` calls in a process of its own; see `drive`. Its exit code: 0, or 2 once stderr has said why.
NANLENS_EXPORTED int nanlens_onnx_drive(std::size_t num_words, const char* const* words) {
  try {
    nanlens::onnx_host::drive({words, num_words});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "nanlens: %s\n", error.what());
    return 2;
  }
  return 0;
}
