/// @file
/// What a thread keeps of a function call while it runs.
#pragma once

#include <cstdint>
#include <source_location>
#include <string>
#include <vector>

#include <nanlens/capture/catalog.hpp>
#include <nanlens/capture/tensor_handle.hpp>

namespace nanlens::detail {

/// One call of a function under way.
struct FunctionFrame {
  FunctionFrame* outer = nullptr;
  CatalogGraph* graph = nullptr;
  std::uint64_t call_id = 0;  // of the outermost call, whose Execution owns all rows
  std::uint64_t graph_run = 0;
  std::uint64_t started_ns = 0;
  std::source_location where;
  std::vector<InputRef> arguments;  // with the links they had outside
  std::vector<TensorLink> inner_links;
  struct Result {
    TensorKey key;
    TensorLink* handle;
    const char* device;
  };
  std::vector<Result> results;
  std::string result_protos;  // encoded as fields of the Execution
  struct Count {
    std::uint64_t site = 0;
    std::uint32_t count = 0;
  };
  std::vector<Count> occurrences;

  /// How often this site was passed in this call before. Beyond 4,096 its last node runs again, as the body of a loop
  /// does.
  std::uint32_t occurrence(std::uint64_t site) {
    constexpr std::uint32_t most = 4096;
    for (Count& c : occurrences)
      if (c.site == site) return c.count + 1 < most ? ++c.count : c.count;
    occurrences.push_back({site, 0});
    return 0;
  }
};

}  // namespace nanlens::detail
