/// @file
/// Which graphs of a program are the same: they get one name, and so are recorded once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include <nanlens/capture/hash.hpp>
#include <nanlens/config.hpp>
#include <nanlens/hosts/ggml/calls.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN ggml_host {

inline constexpr std::size_t most_sources = sizeof(::ggml_tensor::src) / sizeof(::ggml_tensor*);

/// Of ops, names, types and inputs. Not of extents, which change from token to token, nor of where tensors lie.
inline std::uint64_t digest_of(::ggml_cgraph* graph) {
  using nanlens::detail::hash_text;
  using nanlens::detail::mix;
  std::unordered_map<const ::ggml_tensor*, std::uint64_t> numbers;
  const int size = calls.graph_size(graph);
  std::uint64_t digest = 0;
  for (int i = 0; i < size; ++i) {
    const ::ggml_tensor* const node = calls.graph_node(graph, i);
    std::uint64_t own =
        mix(hash_text(calls.op_desc(node)), mix(hash_text(node->name), static_cast<std::uint64_t>(node->type)));
    for (const ::ggml_tensor* const source : node->src) {
      if (source == nullptr) continue;
      const auto made = numbers.find(source);
      own = mix(own, made != numbers.end() ? made->second : hash_text(source->name));
    }
    numbers.emplace(node, static_cast<std::uint64_t>(i));
    digest = mix(digest, own);
  }
  return digest;
}

/// "ggml_graph" for the first, "ggml_graph_2" for the next that is another one; a program that always makes others
/// comes to an end with them.
inline std::string name_of(std::uint64_t digest) {
  static auto* const names = new std::unordered_map<std::uint64_t, std::string>;
  static std::mutex lock;
  const std::lock_guard guard(lock);
  constexpr std::size_t most = 4096;
  if (names->size() >= most && !names->contains(digest)) return "further_ggml_graphs";
  std::string& name = (*names)[digest];
  if (name.empty()) name = names->size() == 1 ? "ggml_graph" : "ggml_graph_" + std::to_string(names->size());
  return name;
}

}  // namespace NANLENS_HIDDEN ggml_host
}  // namespace nanlens::inline NANLENS_ABI
