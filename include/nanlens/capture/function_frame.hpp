/// @file
/// What a thread keeps of a function call while it runs.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <nanlens/capture/catalog.hpp>
#include <nanlens/capture/content_mark.hpp>
#include <nanlens/capture/tensor_handle.hpp>
#include <nanlens/capture/tensor_registry.hpp>
#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN detail {

struct ThreadState;

/// One call of a function under way. Several threads may record into it: `lock` is for what changes.
struct FunctionFrame {
  SpinLock lock;
  ThreadState* state = nullptr;    // of the thread that began it
  bool handed_over = false;        // no thread has it for its innermost function, unless for a while
  std::atomic<bool> ended{false};  // by another thread than the one that began it, which may still have it
  FunctionFrame* outer = nullptr;
  CatalogGraph* graph = nullptr;
  std::uint64_t call_id = 0;  // of the outermost call, whose Execution owns all rows
  std::uint64_t graph_run = 0;
  std::uint64_t started_ns = 0;
  SourcePlace where;
  std::vector<InputRef> arguments;         // with the links they had outside
  std::vector<TensorIdentity> identities;  // the same, by their memory
  std::vector<TensorLink> inner_links;
  struct Result {
    OutputRef output;
    InputRef inside;   // what the result is in this graph
    ContentMark mark;  // its memory may be gone when the call ends
  };
  std::vector<Result> results;
  std::string result_protos;  // encoded as fields of the Execution
  std::vector<std::uint64_t> written_variables;
  std::vector<std::uint64_t> read_variables;
  /// How often this site was passed in this call before. Beyond 4,096 its last node runs again, as the body of a loop
  /// does.
  std::uint32_t occurrence(std::uint64_t site) {
    if (2 * sites_used >= sites.size()) grow();
    Site& entry = find(site);
    if (entry.run == graph_run) return is_last(entry.count) ? entry.count : ++entry.count;
    if (sites_used == most_sites) return last_occurrence;
    ++sites_used;
    entry = {site, graph_run, 0};
    return 0;
  }

  /// Is it the last that has a node of its own?
  static bool is_last(std::uint32_t occurrence) noexcept { return occurrence == last_occurrence; }

  // A hash table whose entries of earlier calls count as empty: nothing is cleared or allocated from call to call.
  struct Site {
    std::uint64_t site = 0;
    std::uint64_t run = 0;
    std::uint32_t count = 0;
  };
  std::vector<Site> sites;
  std::size_t sites_used = 0;

 private:
  static constexpr std::uint32_t last_occurrence = 4095;
  static constexpr std::size_t most_sites = 131'072;  // of one call; further ones are not told apart by occurrence

  Site& find(std::uint64_t site) noexcept {
    std::size_t i = site % sites.size();
    while (sites[i].run == graph_run && sites[i].site != site) i = (i + 1) % sites.size();
    return sites[i];
  }
  void grow() {
    std::vector<Site> old(std::max<std::size_t>(64, 2 * sites.size()));
    old.swap(sites);
    for (const Site& s : old)
      if (s.run == graph_run) find(s.site) = s;
  }
};

}  // namespace NANLENS_HIDDEN detail
}  // namespace nanlens::inline NANLENS_ABI
