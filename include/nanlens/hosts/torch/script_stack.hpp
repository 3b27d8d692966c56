/// @file
/// Where a TorchScript program is: the lines of its source, and its modules.
#pragma once

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

/// "net.sub.fc" of "TOP(Net)::forward", "sub(Sub)::forward", "fc(Linear)::forward"; the outermost one is called `root`,
/// or as its class is. Functions are no modules.
inline std::string script_module(const std::vector<std::string>& hierarchy, const std::string* root) {
  std::string path;
  for (const std::string_view entry : hierarchy) {
    const std::size_t open = entry.find('(');
    if (open == std::string_view::npos) break;
    std::string_view name = entry.substr(0, open);
    if (name == "TOP") name = root != nullptr ? *root : entry.substr(open + 1, entry.find(')') - open - 1);
    if (!path.empty() && !name.empty()) path += '.';
    path += name;
  }
  return path;
}

/// Where an op of a running TorchScript program is; of others, `caller` itself.
inline ForwardPlace script_place(const ForwardPlace& caller) {
  const ScriptFrames frames = ::torch::jit::currentCallstack();
  if (frames.empty()) return caller;
  struct Known {
    std::uint64_t hash;
    std::uint32_t stack;
  };
  static thread_local std::array<Known, 256> known{};
  const std::uint64_t hash = nanlens::detail::mix(hash_frames(frames), caller.stack);
  Known& entry = known[hash % known.size()];
  if (entry.hash != hash) entry = {hash, define_script_stack(frames, caller.stack)};
  const std::string module = script_module(::torch::jit::currentModuleHierarchy(), caller.module);
  return {entry.stack, module.empty() ? caller.module : &kept_name(module)};
}

}  // namespace NANLENS_HIDDEN torch_host
}  // namespace nanlens::inline NANLENS_ABI
