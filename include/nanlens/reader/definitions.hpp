/// @file
/// What events refer to: graphs, ops, stack frames, source files and devices of one run.
///
/// A reference may be read before what it refers to (traces reach the disk before their graph in live logdirs). It then
/// makes an undeclared entry, which the declaration fills in when it arrives.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <nanlens/logdir/events.hpp>
#include <nanlens/logdir/file_set.hpp>
#include <nanlens/logdir/limits.hpp>
#include <nanlens/reader/columns.hpp>
#include <nanlens/reader/string_pool.hpp>

namespace nanlens::reader {

inline constexpr std::uint32_t none = 0xffffffffu;

/// A graph. Strings are numbers in the run's pool.
struct Graph {
  std::uint32_t id = 0;
  std::uint32_t name = 0;
  std::uint32_t outer = none;  ///< index of the enclosing graph, or none
  std::vector<std::uint32_t> inner;
  std::vector<std::uint32_t> ops;  ///< in creation order
  bool declared = false;           ///< a DebuggedGraph record was read
  Locator where;                   ///< its record, or the first that refers to it
  logdir::FileKind where_file = logdir::FileKind::graphs;
};

/// An op of a graph; the rest of its record is read again on demand.
struct Op {
  std::uint32_t graph = 0;
  std::uint32_t name = 0;
  std::uint32_t type = 0;
  std::int32_t num_outputs = 0;
  bool declared = false;
  Locator where;
  logdir::FileKind where_file = logdir::FileKind::graphs;
};

/// A source file; its text is read again on demand.
struct SourceFileEntry {
  std::string host_name;
  std::string file_path;
  std::uint32_t num_lines = 0;
  Locator where;
  bool readable = false;  ///< false: the record is damaged; it keeps its place, since frames refer to files by position
};

struct StackFrame {
  std::string host_name;
  std::string file_path;
  std::int32_t line = 0;
  std::string function;
};

struct FrameEntry {
  std::string id;
  std::uint32_t set = 0;
  std::int32_t file_index = 0;
  std::int32_t line = 0;
  std::string function;
  Locator where;
};

struct Device {
  std::uint32_t set = 0;  ///< ids belong to a file set
  std::int32_t device_id = 0;
  std::string device_name;
};

/// Graphs and ops by name. References to unknown ones make undeclared entries.
class GraphTable {
 public:
  /// Index of a graph; an undeclared entry at `where` if it is new.
  std::uint32_t graph(std::string_view id, Locator where, logdir::FileKind file) {
    const std::uint32_t name = strings_.add(id);
    const auto [found, is_new] = graph_by_id_.try_emplace(name, static_cast<std::uint32_t>(graphs_.size()));
    if (is_new) {
      Graph g;
      g.id = name;
      g.where = where;
      g.where_file = file;
      graphs_.push_back(std::move(g));
    }
    return found->second;
  }
  /// Index of an op; an undeclared entry at `where` if it is new.
  std::uint32_t op(std::uint32_t graph, std::string_view name, Locator where, logdir::FileKind file) {
    const std::uint64_t key = std::uint64_t{graph} << 32 | strings_.add(name);
    const auto [found, is_new] = op_by_name_.try_emplace(key, static_cast<std::uint32_t>(ops_.size()));
    if (is_new) {
      Op o;
      o.graph = graph;
      o.name = static_cast<std::uint32_t>(key);
      o.where = where;
      o.where_file = file;
      ops_.push_back(o);
    }
    return found->second;
  }
  [[nodiscard]] std::uint32_t find_graph(std::string_view id) const {
    const auto found = graph_by_id_.find(strings_.find(id));
    return found == graph_by_id_.end() ? none : found->second;
  }
  [[nodiscard]] std::uint32_t find_op(std::uint32_t graph, std::string_view name) const {
    const auto found = op_by_name_.find(std::uint64_t{graph} << 32 | strings_.find(name));
    return found == op_by_name_.end() ? none : found->second;
  }

  [[nodiscard]] std::vector<Graph>& graphs() noexcept { return graphs_; }
  [[nodiscard]] std::vector<Op>& ops() noexcept { return ops_; }
  [[nodiscard]] const std::vector<Graph>& graphs() const noexcept { return graphs_; }
  [[nodiscard]] const std::vector<Op>& ops() const noexcept { return ops_; }
  [[nodiscard]] StringPool& strings() noexcept { return strings_; }
  [[nodiscard]] std::string_view text(std::uint32_t number) const noexcept { return strings_[number]; }

  /// Ids of a graph and the graphs around it, outermost first. Only a damaged logdir nests deeper than
  /// `limits::graph_nesting`, or a graph in itself; the outer ones are left out then.
  [[nodiscard]] std::vector<std::string> graph_ids(std::uint32_t graph) const {
    std::vector<std::string> ids;
    const std::size_t most = std::min(limits::graph_nesting, graphs_.size());
    for (std::uint32_t g = graph; g != none && ids.size() < most; g = graphs_[g].outer)
      ids.emplace_back(strings_[graphs_[g].id]);
    std::reverse(ids.begin(), ids.end());
    return ids;
  }
  /// Graphs that are nested deeper than `limits::graph_nesting`, or in themselves.
  [[nodiscard]] std::vector<std::uint32_t> too_deep() const {
    constexpr std::uint32_t deepest = limits::graph_nesting;
    std::vector<std::uint32_t> depth(graphs_.size(), 0);  // 0: not known yet
    std::vector<std::uint32_t> path;
    std::vector<std::uint32_t> found;
    for (std::uint32_t graph = 0; graph < graphs_.size(); ++graph) {
      std::uint32_t g = graph;
      for (path.clear(); g != none && depth[g] == 0 && path.size() <= deepest; g = graphs_[g].outer) path.push_back(g);
      if (g != none && depth[g] == 0) {
        depth[graph] = deepest + 1;
      } else {
        std::uint32_t around = g == none ? 0 : depth[g];
        for (; !path.empty(); path.pop_back()) depth[path.back()] = around = std::min(around + 1, deepest + 1);
      }
      if (depth[graph] > deepest) found.push_back(graph);
    }
    return found;
  }

 private:
  StringPool strings_;
  std::vector<Graph> graphs_;
  std::vector<Op> ops_;
  std::unordered_map<std::uint32_t, std::uint32_t> graph_by_id_;
  std::unordered_map<std::uint64_t, std::uint32_t> op_by_name_;
};

}  // namespace nanlens::reader
