#include "search.hpp"

#include <algorithm>
#include <utility>

#include <nanlens/query/lower_case.hpp>

#include "texts/texts.hpp"

namespace nanlens::viewer {

namespace {

constexpr std::size_t most_found = 50;

// 0: exact, 1: beginning, 2: part, 3: not found.
std::size_t rank_of(std::string_view name, const std::string& wanted) {
  const std::string low = query::lower_case(name);
  if (low == wanted) return 0;
  const std::size_t at = low.find(wanted);
  return at == 0 ? 1 : at == std::string::npos ? 3 : 2;
}

}  // namespace

Search search(RunIndex& index, const std::string& text) {
  Search answer;
  answer.text = text;
  const std::string wanted = query::lower_case(text);
  std::vector<Found> by_rank[3];
  const auto add = [&](std::string_view name, auto&& make) {
    const std::size_t rank = rank_of(name, wanted);
    if (rank < 3 && by_rank[rank].size() < most_found) by_rank[rank].push_back(make());
  };
  const auto& table = index.run().definitions();
  for (const reader::Graph& g : table.graphs())
    add(table.text(g.name),
        [&] { return Found{index.text(g.name), tr(Text::found_graph), index.text(g.id), "", "", ""}; });
  for (const auto& file : index.run().source_files())
    add(file.file_path,
        [&] { return Found{file.file_path, tr(Text::found_source), "", "", file.file_path, file.host_name}; });
  for (const reader::Op& op : table.ops())
    add(table.text(op.name), [&] {
      const reader::Graph& g = index.graph(op.graph);
      const std::string type = index.text(op.type);
      const std::string graph = index.text(g.name);
      std::string note = graph.empty() ? type : tr(Text::tensor_in_graph, {{"tensor", type}, {"graph", graph}});
      return Found{index.text(op.name), std::move(note), index.text(g.id), index.text(op.name), "", ""};
    });
  for (auto& list : by_rank)
    for (Found& found : list)
      if (answer.list.size() < most_found) answer.list.push_back(std::move(found));
  return answer;
}

}  // namespace nanlens::viewer
