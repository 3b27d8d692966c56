/// @file
/// What `nanlens onnx` has done in a process of its own: a model is given probes, run, or saved as it is optimised.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <dlfcn.h>

#include <nanlens/config.hpp>
#include <nanlens/hosts/onnx/feeds.hpp>
#include <nanlens/hosts/onnx/instrument.hpp>
#include <nanlens/hosts/onnx/kernels.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN onnx_host {

inline std::string read_model_file(const std::string& path) {
  std::error_code error;
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path, error)) throw Refusal("'" + path + "' can't be read");
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A model's bytes with probes; throws Refusal if it can have none.
inline std::string probed_model(const std::string& path, const std::string& name) {
  const std::string model = read_model_file(path);
  Instrumented probed = add_probes({reinterpret_cast<const unsigned char*>(model.data()), model.size()}, name);
  if (!probed.why_not.empty()) throw Refusal("'" + path + "': " + probed.why_not);
  return std::move(probed.model);
}

/// A library of ONNX Runtime, opened; throws Refusal if there is none, or one that is too old. An empty path: where the
/// loader looks.
inline Api open_library(const std::string& path) {
  const char* const name = path.empty() ? "libonnxruntime.so.1" : path.c_str();
  void* const library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    throw Refusal(
        std::string("ONNX Runtime can't be loaded: ") + ::dlerror() +
        (path.empty() ? " (--library says where it is; Python's onnxruntime has it in onnxruntime/capi)" : ""));
  const auto get_base = reinterpret_cast<GetApiBase*>(::dlsym(library, "OrtGetApiBase"));
  if (get_base == nullptr) throw Refusal(std::string(name) + " is no library of ONNX Runtime");
  const Api api(get_base()->get_api(api_version));
  if (!api.exists())
    throw Refusal(std::string(name) + " is ONNX Runtime " + get_base()->get_version() + ": 1.21 or later is needed");
  return api;
}

/// A model in a session of its own. Everything throws Refusal with what ONNX Runtime says.
class ModelSession {
 public:
  /// `level`: of optimisation, as ONNX Runtime counts; the optimised model is saved.
  ModelSession(const Api& api, std::string path, int level, const std::string& saved_as)
      : api_(api), path_(std::move(path)) {
    create_options(level);
    check(api_(function::set_optimized_path, options_, saved_as.c_str()));
    check(api_(function::create_session, environment_, path_.c_str(), options_, &session_));
  }
  /// The same of a model with probes, as it is; `folder` has the files with its weights, if there are any.
  ModelSession(const Api& api, std::string path, const std::string& probed, const std::string& folder)
      : api_(api), path_(std::move(path)) {
    create_options(0);
    check(add_ops(api_, options_));
    check(api_(function::add_config, options_, "session.model_external_initializers_file_folder_path", folder.c_str()));
    check(api_(function::create_session_from_array, environment_, static_cast<const void*>(probed.data()),
               probed.size(), options_, &session_));
  }
  ModelSession(const ModelSession&) = delete;
  ModelSession& operator=(const ModelSession&) = delete;
  ~ModelSession() {
    if (session_ != nullptr) api_(function::release_session, session_);
    if (options_ != nullptr) api_(function::release_options, options_);
    if (environment_ != nullptr) api_(function::release_environment, environment_);
  }

  [[nodiscard]] std::vector<ModelInput> inputs() const {
    std::size_t count = 0;
    check(api_(function::num_inputs, session_, &count));
    std::vector<ModelInput> inputs(count);
    for (std::size_t i = 0; i < count; ++i) {
      inputs[i].name = name_of(function::input_name, i);
      TypeInfo* type = nullptr;
      check(api_(function::input_type, session_, i, &type));
      describe(type, inputs[i]);
      api_(function::release_type_info, type);
    }
    return inputs;
  }

  void run(std::vector<Feed>& feeds) const {
    MemoryInfo* memory = nullptr;
    check(api_(function::create_cpu_memory, 1, 0, &memory));
    std::vector<const char*> input_names;
    std::vector<Value*> values;
    for (Feed& feed : feeds) {
      input_names.push_back(feed.name.c_str());
      check(api_(function::create_tensor, memory, static_cast<void*>(feed.content.data()), feed.content.size(),
                 feed.shape.data(), feed.shape.size(), feed.type, &values.emplace_back()));
    }
    std::size_t count = 0;
    check(api_(function::num_outputs, session_, &count));
    std::vector<std::string> names;
    for (std::size_t i = 0; i < count; ++i) names.push_back(name_of(function::output_name, i));
    std::vector<const char*> output_names;
    for (const std::string& name : names) output_names.push_back(name.c_str());
    std::vector<Value*> outputs(count);
    Status* const status = api_(function::run, session_, nullptr, input_names.data(), values.data(), values.size(),
                                output_names.data(), count, outputs.data());
    for (Value* const value : values) api_(function::release_value, value);
    for (Value* const value : outputs)
      if (value != nullptr) api_(function::release_value, value);
    api_(function::release_memory_info, memory);
    check(status);
  }

 private:
  void create_options(int level) {
    constexpr int only_fatal = 4;  // an error is told by who meets it
    check(api_(function::create_environment, only_fatal, "nanlens", &environment_));
    check(api_(function::create_options, &options_));
    check(api_(function::set_optimization_level, options_, level));
  }
  void check(Status* status) const {
    if (status == nullptr) return;
    std::string message = api_(function::error_message, status);
    api_(function::release_status, status);
    throw Refusal("'" + path_ + "' can't be run: " + message.substr(0, message.find('\n')));
  }
  template <class Function>
  [[nodiscard]] std::string name_of(Function function, std::size_t index) const {
    Allocator* allocator = nullptr;
    char* text = nullptr;
    check(api_(function::default_allocator, &allocator));
    check(api_(function, session_, index, allocator, &text));
    std::string name(text);
    (void)api_.is_fine(api_(function::free_memory, allocator, static_cast<void*>(text)));
    return name;
  }
  void describe(const TypeInfo* type, ModelInput& input) const {
    const TensorInfo* info = nullptr;
    std::size_t rank = 0;
    if (!api_.is_fine(api_(function::tensor_info_of_type, type, &info)) || info == nullptr) return;
    check(api_(function::element_type, info, &input.type));
    check(api_(function::rank, info, &rank));
    input.shape.resize(rank);
    check(api_(function::shape, info, input.shape.data(), rank));
  }

  Api api_;
  std::string path_;
  Environment* environment_ = nullptr;
  SessionOptions* options_ = nullptr;
  Session* session_ = nullptr;
};

/// What each input gets: "name=FILE", or FILE for those in the order of the model. Without `seed` those that get
/// nothing are told, and so is what has no input.
inline std::vector<Feed> find_feeds(const std::vector<ModelInput>& inputs, std::span<const char* const> words,
                                    const std::optional<std::uint64_t>& seed) {
  std::vector<std::string> paths(inputs.size());
  std::size_t next = 0;
  for (const std::string_view word : words) {
    const std::string_view name = word.substr(0, word.find('='));
    std::size_t at = 0;
    while (at < inputs.size() && (inputs[at].name != name || name.size() == word.size())) ++at;
    const bool is_named = at < inputs.size();
    if (!is_named) at = next++;
    if (at >= inputs.size()) throw Refusal("the model has no input for '" + std::string(word) + "'");
    paths[at] = is_named ? word.substr(name.size() + 1) : word;
  }
  std::vector<Feed> feeds;
  std::string missing;
  std::mt19937_64 random(seed.value_or(0));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!paths[i].empty())
      feeds.push_back(feed_from(inputs[i], paths[i]));
    else if (seed)
      feeds.push_back(random_feed(inputs[i], random));
    else
      missing += (missing.empty() ? "" : "; ") + ("'" + inputs[i].name + "': " + inputs[i].words());
  }
  if (!missing.empty())
    throw Refusal("the model needs " + missing + ": give --input NAME=FILE.npy for each, or --random SEED");
  return feeds;
}

/// Of inputs that were made up: what may be why a model refuses them, and what to do; empty if there is nothing.
inline std::string guess_words(const std::vector<ModelInput>& inputs, const std::vector<Feed>& feeds) {
  for (std::size_t i = 0; i < inputs.size(); ++i)
    for (std::size_t axis = 0; axis < inputs[i].shape.size(); ++axis)
      if (inputs[i].shape[axis] < 0 && feeds[i].shape[axis] == 1)
        return "; '" + inputs[i].name + "' is " + inputs[i].words() +
               ", and --random takes 1 for an extent that is open: give --input " + inputs[i].name + "=FILE.npy";
  return {};
}

/// "instrument MODEL NAME OUT", "optimise LIBRARY MODEL OUT", "run LIBRARY MODEL NAME FOLDER SEED INPUT…" (no seed:
/// "").
inline void drive(std::span<const char* const> words) {
  const auto word = [&](std::size_t i) { return i < words.size() ? std::string(words[i]) : std::string(); };
  constexpr int all = 99;
  if (word(0) == "instrument") {
    const std::string model = probed_model(word(1), word(2));
    std::ofstream file(word(3), std::ios::binary);
    file.write(model.data(), static_cast<std::streamsize>(model.size()));
    if (!file.flush()) throw Refusal("'" + word(3) + "' can't be written");
    return;
  }
  const Api api = open_library(word(1));
  if (word(0) == "optimise") {
    const ModelSession session(api, word(2), all, word(3));
    return;
  }
  const std::string model = probed_model(word(2), word(3));
  const ModelSession session(api, word(2), model, word(4));
  std::optional<std::uint64_t> seed;
  if (!word(5).empty()) seed = std::strtoull(words[5], nullptr, 10);
  const std::vector<ModelInput> inputs = session.inputs();
  std::vector<Feed> feeds = find_feeds(inputs, words.subspan(6), seed);
  try {
    session.run(feeds);
  } catch (const Refusal& refusal) {
    throw Refusal(refusal.what() + (seed ? guess_words(inputs, feeds) : std::string()));
  }
}

}  // namespace NANLENS_HIDDEN onnx_host
}  // namespace nanlens::inline NANLENS_ABI
