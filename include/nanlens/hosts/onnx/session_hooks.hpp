/// @file
/// Standing between a program and ONNX Runtime's C API: a table in which the functions that create sessions put probes
/// into the model first, and all others are the library's own.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>

#include <link.h>

#include <nanlens/config.hpp>
#include <nanlens/hosts/onnx/instrument.hpp>
#include <nanlens/hosts/onnx/kernels.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN onnx_host {

/// The library's own functions.
inline Api real_api;

/// How many bytes from `begin` on are there to be read, `most` at most: the library's table grows with its version, and
/// does not tell its size.
inline std::size_t readable_bytes(const void* begin, std::size_t most) {
  struct Range {
    std::uintptr_t begin;
    std::size_t bytes;
  } range{reinterpret_cast<std::uintptr_t>(begin), 0};
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t /*size*/, void* to) {
        auto& found = *static_cast<Range*>(to);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& segment = info->dlpi_phdr[i];
          const std::uintptr_t start = info->dlpi_addr + segment.p_vaddr;
          if (segment.p_type == PT_LOAD && found.begin >= start && found.begin < start + segment.p_memsz)
            found.bytes = start + segment.p_memsz - found.begin;
        }
        return 0;
      },
      &range);
  return std::min(range.bytes, most);
}

/// Says why a session is not recorded, and goes on without.
inline void say_unrecorded(const std::string& model, const std::string& why) {
  std::fprintf(stderr, "nanlens: %s is not recorded: %s\n", model.c_str(), why.c_str());
}

/// Options of a session with the probes' ops, beside the program's own.
class ProbedOptions {
 public:
  /// `folder`: where the model's weights lie, if they are in files beside it.
  ProbedOptions(const SessionOptions* options, const std::string& folder) {
    const bool is_made = options == nullptr ? real_api.is_fine(real_api(function::create_options, &options_))
                                            : real_api.is_fine(real_api(function::clone_options, options, &options_));
    is_fine_ = is_made && real_api.is_fine(add_ops(real_api, options_));
    if (is_fine_ && !folder.empty())
      is_fine_ = real_api.is_fine(real_api(function::add_config, options_,
                                           "session.model_external_initializers_file_folder_path", folder.c_str()));
  }
  ProbedOptions(const ProbedOptions&) = delete;
  ProbedOptions& operator=(const ProbedOptions&) = delete;
  ~ProbedOptions() {
    if (options_ != nullptr) real_api(function::release_options, options_);
  }
  /// Null if they can't be made.
  [[nodiscard]] const SessionOptions* get() const noexcept { return is_fine_ ? options_ : nullptr; }

 private:
  SessionOptions* options_ = nullptr;
  bool is_fine_ = false;
};

/// A session of the model with probes; null if there is none, and then a word has said why. `create(options, model)`
/// creates it.
template <class Create>
Session* recorded_session(std::string_view model, const std::string& name, const SessionOptions* options,
                          const std::string& folder, const Create& create) {
  const Instrumented probed = add_probes({reinterpret_cast<const unsigned char*>(model.data()), model.size()}, name);
  if (!probed.why_not.empty()) {
    say_unrecorded(name, probed.why_not);
    return nullptr;
  }
  const ProbedOptions with_ops(options, folder);
  Session* session = nullptr;
  Status* const status = with_ops.get() == nullptr ? real_api(function::create_status, 1, "its options can't be copied")
                                                   : create(with_ops.get(), probed.model, &session);
  if (status == nullptr) return session;
  say_unrecorded(name, real_api(function::error_message, status));
  real_api(function::release_status, status);
  return nullptr;
}

/// The same of a model in a file. What is no model is for the library to tell.
template <class Create>
Session* recorded_file(const char* path, const SessionOptions* options, const Create& create) {
  std::error_code error;
  const std::filesystem::path file = std::filesystem::absolute(path, error);
  std::ifstream stream(file, std::ios::binary);
  if (error || !stream) return nullptr;
  const std::string model(std::istreambuf_iterator<char>(stream), {});
  return recorded_session(model, file.filename().string(), options, file.parent_path().string(), create);
}

// Nothing may be thrown into a program that calls C.
template <class Record>
Session* without_throwing(const Record& record) noexcept {
  try {
    return record();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "nanlens: a model is not recorded: %s\n", error.what());
    return nullptr;
  }
}

/// @name What stands in the table instead of the library's functions
///@{
inline Status* create_session(const Environment* environment, const char* path, const SessionOptions* options,
                              Session** session) noexcept {
  *session = without_throwing([&] {
    return recorded_file(path, options, [&](const SessionOptions* with_ops, const std::string& model, Session** made) {
      return real_api(function::create_session_from_array, environment, static_cast<const void*>(model.data()),
                      model.size(), with_ops, made);
    });
  });
  return *session != nullptr ? nullptr : real_api(function::create_session, environment, path, options, session);
}

inline Status* create_session_with_weights(const Environment* environment, const char* path,
                                           const SessionOptions* options, PrepackedWeights* weights,
                                           Session** session) noexcept {
  *session = without_throwing([&] {
    return recorded_file(path, options, [&](const SessionOptions* with_ops, const std::string& model, Session** made) {
      return real_api(function::create_session_from_array_with_weights, environment,
                      static_cast<const void*>(model.data()), model.size(), with_ops, weights, made);
    });
  });
  return *session != nullptr
             ? nullptr
             : real_api(function::create_session_with_weights, environment, path, options, weights, session);
}

inline Status* create_session_from_array(const Environment* environment, const void* bytes, std::size_t size,
                                         const SessionOptions* options, Session** session) noexcept {
  *session = without_throwing([&] {
    return recorded_session({static_cast<const char*>(bytes), size}, "model", options, {},
                            [&](const SessionOptions* with_ops, const std::string& model, Session** made) {
                              return real_api(function::create_session_from_array, environment,
                                              static_cast<const void*>(model.data()), model.size(), with_ops, made);
                            });
  });
  return *session != nullptr
             ? nullptr
             : real_api(function::create_session_from_array, environment, bytes, size, options, session);
}

inline Status* create_session_from_array_with_weights(const Environment* environment, const void* bytes,
                                                      std::size_t size, const SessionOptions* options,
                                                      PrepackedWeights* weights, Session** session) noexcept {
  *session = without_throwing([&] {
    return recorded_session({static_cast<const char*>(bytes), size}, "model", options, {},
                            [&](const SessionOptions* with_ops, const std::string& model, Session** made) {
                              return real_api(function::create_session_from_array_with_weights, environment,
                                              static_cast<const void*>(model.data()), model.size(), with_ops, weights,
                                              made);
                            });
  });
  return *session != nullptr ? nullptr
                             : real_api(function::create_session_from_array_with_weights, environment, bytes, size,
                                        options, weights, session);
}
///@}

/// The table with these functions in it.
class HookedTable {
 public:
  explicit HookedTable(const void* const* table) {
    std::memcpy(entries_.data(), table, readable_bytes(table, sizeof entries_));
    put(function::create_session, &create_session);
    put(function::create_session_from_array, &create_session_from_array);
    put(function::create_session_with_weights, &create_session_with_weights);
    put(function::create_session_from_array_with_weights, &create_session_from_array_with_weights);
  }
  [[nodiscard]] const void* const* entries() const noexcept { return entries_.data(); }

 private:
  template <class Signature, std::size_t Number>
  void put(ApiFunction<Signature, Number> /*which*/, Signature* function) {
    entries_[Number] = reinterpret_cast<const void*>(function);
  }
  std::array<const void*, 1024> entries_{};  // 1.31 has some 400
};

inline const ApiBase* real_base;

/// The library's table of a version, hooked; what the library says where it has none.
inline const void* const* hooked_api(std::uint32_t version) noexcept {
  static std::mutex lock;
  static const HookedTable* hooked = nullptr;  // versions are the beginnings of one table
  const std::lock_guard guard(lock);
  const void* const* const table = real_base->get_api(version);
  if (table == nullptr) return nullptr;
  if (hooked != nullptr) return hooked->entries();
  const void* const* const needed = real_base->get_api(api_version);
  if (needed == nullptr) {
    static std::atomic<bool> said{false};
    if (!said.exchange(true))
      std::fprintf(stderr, "nanlens: onnx is not recorded: this is ONNX Runtime %s, and 1.21 or later is needed\n",
                   real_base->get_version());
    return table;
  }
  real_api = Api(needed);
  hooked = new (std::nothrow) HookedTable(needed);
  return hooked == nullptr ? table : hooked->entries();
}

/// What `OrtGetApiBase` gives to the program instead.
inline const ApiBase* hooked_base(const ApiBase* base) noexcept {
  static const ApiBase hooked{&hooked_api, base->get_version};
  real_base = base;
  return &hooked;
}

}  // namespace NANLENS_HIDDEN onnx_host
}  // namespace nanlens::inline NANLENS_ABI
