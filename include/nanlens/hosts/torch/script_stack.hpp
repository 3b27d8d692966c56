/// @file
/// Where a TorchScript program is: the lines of its source, and its modules.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <torch/csrc/jit/runtime/interpreter.h>

#include <nanlens/capture/client.hpp>
#include <nanlens/capture/hash.hpp>
#include <nanlens/config.hpp>
#include <nanlens/hosts/torch/forward_stacks.hpp>
#include <nanlens/hosts/torch/script_scopes.hpp>
#include <nanlens/hosts/torch/tensor_names.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN torch_host {

using ScriptFrames = std::vector<::torch::jit::StackEntry>;

/// A key of what the frames are: sources may end, and others take their addresses.
inline std::uint64_t hash_frames(const ScriptFrames& frames) {
  std::uint64_t hash = 0;
  for (const auto& [function, range] : frames) {
    hash = nanlens::detail::mix(nanlens::detail::mix(hash, range.start()), range.end());
    if (const auto& source = range.source())
      hash =
          nanlens::detail::mix(nanlens::detail::mix(hash, nanlens::detail::hash_text(source->filename().value_or(""))),
                               source->starting_line_no());
  }
  return hash;
}

/// The recorder's number of the frames, innermost first, within the stack that called the program.
inline std::uint32_t define_script_stack(const ScriptFrames& frames, std::uint32_t caller) {
  std::vector<std::string> files;
  files.reserve(frames.size());
  std::vector<nanlens::detail::SourcePlace> places;
  for (std::size_t i = frames.size(); i-- > 0;) {
    const auto line = frames[i].range.file_line_col();
    if (!line) continue;
    files.push_back(std::get<0>(*line));
    places.emplace_back(files.back().c_str(), frames[i].filename.c_str(),
                        static_cast<std::uint32_t>(std::get<1>(*line)), static_cast<std::uint32_t>(std::get<2>(*line)));
  }
  if (places.empty()) return caller;
  const std::uint32_t number = nanlens::detail::recorder().add_stack(places.data(), places.size());
  return joined_stack(caller, number);
}

/// Where in its modules a TorchScript program is.
struct ScriptNames {
  std::string module;  ///< "net.sub.fc" of "TOP(Net)::forward", "sub(Sub)::forward", "fc(Linear)::forward"
  std::string path;    ///< "net/sub/fc"; functions that are called there have their names in it, too
};

inline void append(std::string& to, char separator, std::string_view name) {
  if (!to.empty() && !name.empty()) to += separator;
  to += name;
}

/// The outermost module has the name of the root, or else its class's. Functions are no modules.
inline ScriptNames script_names(const std::vector<std::string>& hierarchy, const ScriptRoot& root) {
  ScriptNames names;
  bool in_modules = true;
  for (const std::string_view entry : hierarchy) {
    const std::size_t open = entry.find('(');
    std::string_view name = entry.substr(0, open);
    if (name == "TOP") {
      const std::string_view class_name = entry.substr(open + 1, entry.find(')') - open - 1);
      names.module = root.module != nullptr ? *root.module : class_name;
      names.path = root.path != nullptr ? *root.path : names.module;
      continue;
    }
    in_modules = in_modules && open != std::string_view::npos;
    if (open == std::string_view::npos) name = entry.substr(entry.rfind(':') + 1);
    if (in_modules) append(names.module, '.', name);
    append(names.path, '/', name);
  }
  std::replace(names.path.begin(), names.path.end(), '.', '/');
  return names;
}

/// Where an op of a TorchScript program is.
struct ScriptPlace {
  ForwardPlace place;
  const std::string* path = nullptr;  ///< of its modules and functions; null: it is in no program
};

// The autograd engine runs the backward pass of a part of a program as a program of its own, whose lines are PyTorch's.
inline bool is_backward(const ScriptFrames& frames) { return frames.back().filename == "<backward op>"; }

/// Where the op is that begins; of others than TorchScript's, `caller` itself.
inline ScriptPlace script_place(const ForwardPlace& caller, const ScriptRoot& root) {
  const ScriptFrames frames = ::torch::jit::currentCallstack();
  if (frames.empty() || is_backward(frames)) return {caller};
  struct Known {
    std::uint64_t hash;
    std::uint32_t stack;
  };
  static thread_local std::array<Known, 256> known{};
  const std::uint64_t hash = nanlens::detail::mix(hash_frames(frames), caller.stack);
  Known& entry = known[hash % known.size()];
  if (entry.hash != hash) entry = {hash, define_script_stack(frames, caller.stack)};
  const ScriptNames names = script_names(::torch::jit::currentModuleHierarchy(), root);
  return {{entry.stack, names.module.empty() ? caller.module : &kept_name(names.module)}, &kept_name(names.path)};
}

}  // namespace NANLENS_HIDDEN torch_host
}  // namespace nanlens::inline NANLENS_ABI
