/// @file
/// Standing between a program and ONNX Runtime's C API: a table in which the functions that create sessions put probes
/// into the model first, and all others are the library's own.
///
/// What gets the probes is the model as ONNX Runtime has optimised it: that is what the program runs, as fast as it
/// does. NANLENS_ONNX_GRAPH=written: the model as it was written, which is then not optimised across what is looked at.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <system_error>

#include <link.h>
#include <unistd.h>

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

/// A copy of the program's options for a session, to be added to.
class CopiedOptions {
 public:
  explicit CopiedOptions(const SessionOptions* options) {
    is_fine_ = options == nullptr ? real_api.is_fine(real_api(function::create_options, &options_))
                                  : real_api.is_fine(real_api(function::clone_options, options, &options_));
  }
  CopiedOptions(const CopiedOptions&) = delete;
  CopiedOptions& operator=(const CopiedOptions&) = delete;
  ~CopiedOptions() {
    if (options_ != nullptr) real_api(function::release_options, options_);
  }

  /// The optimised model is saved there; an empty path: nowhere, whatever the program wants.
  void save_optimised(const std::string& path) {
    is_fine_ = is_fine_ && real_api.is_fine(real_api(function::set_optimized_path, options_, path.c_str()));
  }
  /// Not that the saved model is for this machine alone.
  void say_errors_only() { is_fine_ = is_fine_ && real_api.is_fine(real_api(function::set_log_level, options_, 3)); }
  void leave_unoptimised() {
    is_fine_ = is_fine_ && real_api.is_fine(real_api(function::set_optimization_level, options_, 0));
  }
  /// `folder`: where the model's weights lie, if they are in files beside it.
  void add_probes(const std::string& folder) {
    constexpr const char* key = "session.model_external_initializers_file_folder_path";
    is_fine_ = is_fine_ && real_api.is_fine(add_ops(real_api, options_));
    if (!folder.empty())
      is_fine_ = is_fine_ && real_api.is_fine(real_api(function::add_config, options_, key, folder.c_str()));
  }
  /// Null if they can't be made.
  [[nodiscard]] const SessionOptions* get() const noexcept { return is_fine_ ? options_ : nullptr; }

 private:
  SessionOptions* options_ = nullptr;
  bool is_fine_ = false;
};

/// A session as the program asks for it. `create(options, model, session)` creates it; a null model: the program's own.
struct SessionRequest {
  std::string name;
  std::string folder;
  const SessionOptions* options;
  std::function<Status*(const SessionOptions*, const std::string* model, Session**)> create;
};

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// The model as ONNX Runtime optimises it; empty if it can't be saved (one of more than 2 GB, or compiled for a
/// device).
inline std::string optimised_model(const SessionRequest& request) {
  static std::atomic<unsigned> number{0};
  std::error_code error;
  const std::filesystem::path directory = std::filesystem::temp_directory_path(error);
  if (error) return {};
  const std::filesystem::path path =
      directory / ("nanlens-" + std::to_string(::getpid()) + "-" + std::to_string(number.fetch_add(1)) + ".onnx");
  CopiedOptions options(request.options);
  options.save_optimised(path.string());
  options.say_errors_only();
  Session* session = nullptr;
  std::string model;
  if (options.get() != nullptr && real_api.is_fine(request.create(options.get(), nullptr, &session))) {
    real_api(function::release_session, session);
    model = read_file(path);
  }
  std::filesystem::remove(path, error);
  return model;
}

/// A session of the model with probes; null if there is none, and then a word has said why, unless the library will.
inline Session* recorded_session(const SessionRequest& request, std::string_view model) {
  const char* const graph = std::getenv("NANLENS_ONNX_GRAPH");
  const bool as_written = graph != nullptr && std::string_view(graph) == "written";
  const std::string optimised = as_written ? std::string() : optimised_model(request);
  if (!optimised.empty()) model = optimised;
  const Instrumented probed = add_probes({reinterpret_cast<const unsigned char*>(model.data()), model.size()},
                                         request.name + (optimised.empty() ? " (as written)" : " (optimised)"));
  if (!probed.why_not.empty()) {
    say_unrecorded(request.name, probed.why_not);
    return nullptr;
  }
  CopiedOptions options(request.options);
  options.save_optimised({});
  options.add_probes(request.folder);
  if (!optimised.empty()) options.leave_unoptimised();
  Session* session = nullptr;
  Status* const status = options.get() == nullptr ? real_api(function::create_status, 1, "its options can't be copied")
                                                  : request.create(options.get(), &probed.model, &session);
  if (status == nullptr) return session;
  say_unrecorded(request.name, real_api(function::error_message, status));
  real_api(function::release_status, status);
  return nullptr;
}

/// What the program gets for a request. Nothing may be thrown into a program that calls C.
inline Status* answer(const SessionRequest& request, const std::function<std::string_view()>& model,
                      Session** session) noexcept {
  *session = nullptr;
  try {
    if (const std::string_view bytes = model(); !bytes.empty()) *session = recorded_session(request, bytes);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "nanlens: a model is not recorded: %s\n", error.what());
  }
  return *session != nullptr ? nullptr : request.create(request.options, nullptr, session);
}

/// The same for a model in a file.
template <class FromFile, class FromArray>
Status* answer_file(const char* path, const SessionOptions* options, const FromFile& from_file,
                    const FromArray& from_array, Session** session) {
  std::error_code error;
  const std::filesystem::path file = std::filesystem::absolute(path, error);
  const SessionRequest request{file.filename().string(), file.parent_path().string(), options,
                               [&](const SessionOptions* with, const std::string* model, Session** made) {
                                 return model == nullptr ? from_file(with, made) : from_array(with, *model, made);
                               }};
  std::string bytes;
  return answer(request, [&] { return std::string_view(bytes = read_file(file)); }, session);
}

/// The same for a model in memory.
template <class FromArray>
Status* answer_array(std::string_view bytes, const SessionOptions* options, const FromArray& from_array,
                     Session** session) {
  const SessionRequest request{
      "model", {}, options, [&](const SessionOptions* with, const std::string* model, Session** made) {
        return from_array(with, model == nullptr ? bytes : std::string_view(*model), made);
      }};
  return answer(request, [&] { return bytes; }, session);
}

/// @name What stands in the table instead of the library's functions
///@{
inline Status* create_session(const Environment* environment, const char* path, const SessionOptions* options,
                              Session** session) noexcept {
  return answer_file(
      path, options,
      [&](const SessionOptions* with, Session** made) {
        return real_api(function::create_session, environment, path, with, made);
      },
      [&](const SessionOptions* with, std::string_view model, Session** made) {
        return real_api(function::create_session_from_array, environment, static_cast<const void*>(model.data()),
                        model.size(), with, made);
      },
      session);
}

inline Status* create_session_with_weights(const Environment* environment, const char* path,
                                           const SessionOptions* options, PrepackedWeights* weights,
                                           Session** session) noexcept {
  return answer_file(
      path, options,
      [&](const SessionOptions* with, Session** made) {
        return real_api(function::create_session_with_weights, environment, path, with, weights, made);
      },
      [&](const SessionOptions* with, std::string_view model, Session** made) {
        return real_api(function::create_session_from_array_with_weights, environment,
                        static_cast<const void*>(model.data()), model.size(), with, weights, made);
      },
      session);
}

inline Status* create_session_from_array(const Environment* environment, const void* bytes, std::size_t size,
                                         const SessionOptions* options, Session** session) noexcept {
  return answer_array(
      {static_cast<const char*>(bytes), size}, options,
      [&](const SessionOptions* with, std::string_view model, Session** made) {
        return real_api(function::create_session_from_array, environment, static_cast<const void*>(model.data()),
                        model.size(), with, made);
      },
      session);
}

inline Status* create_session_from_array_with_weights(const Environment* environment, const void* bytes,
                                                      std::size_t size, const SessionOptions* options,
                                                      PrepackedWeights* weights, Session** session) noexcept {
  return answer_array(
      {static_cast<const char*>(bytes), size}, options,
      [&](const SessionOptions* with, std::string_view model, Session** made) {
        return real_api(function::create_session_from_array_with_weights, environment,
                        static_cast<const void*>(model.data()), model.size(), with, weights, made);
      },
      session);
}
///@}

/// The table with these functions in it.
class HookedTable {
 public:
  explicit HookedTable(const void* const* table) {
    std::copy_n(table, readable_bytes(table, sizeof entries_) / sizeof *table, entries_.begin());
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
