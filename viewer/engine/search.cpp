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

// The executions of one type, or of one name.
struct Eager {
  std::string_view name;
  std::uint64_t count = 0;
  std::uint64_t bad = 0;
  std::uint32_t shown = 0;  // the first bad one, or the first
};

// What ran eagerly, by type and by name, in the order of the first of each. Calls of functions are found as graphs.
std::vector<Eager> eager_ops(RunIndex& index, const causes::CallTable& calls) {
  std::vector<Eager> list;
  std::vector<std::size_t> of_type;
  std::vector<std::size_t> of_name;
  const auto count = [&](std::vector<std::size_t>& places, std::uint32_t number, std::string_view name,
                         std::uint32_t execution, bool bad) {
    if (number >= places.size()) places.resize(number + 1, reader::none);
    if (places[number] == reader::none) {
      places[number] = list.size();
      list.push_back({name, 0, 0, execution});
    }
    Eager& op = list[places[number]];
    ++op.count;
    if (bad && op.bad++ == 0) op.shown = execution;
  };
  for (std::uint32_t i = 0; i < calls.size(); ++i) {
    if (calls.is_call(i)) continue;
    const bool bad = (index.run().execution_flags(i) & reader::bad_flags) != 0;
    const std::uint32_t type = calls.op_type_number(i);
    count(of_type, type, calls.op_type_of(type), i, bad);
    if (const std::uint32_t name = calls.op_name_number(i); name != 0)
      count(of_name, name, calls.op_name(name), i, bad);
  }
  return list;
}

}  // namespace

Search search(RunIndex& index, Explain& explain, const std::string& text) {
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
  if (const causes::CallTable* const calls = explain.calls())
    for (const Eager& op : eager_ops(index, *calls))
      add(op.name, [&] {
        Found found;
        found.title = op.name;
        found.note = tr(Text::found_executions, {{"n", op.count}, {"bad", op.bad}});
        found.execution = op.shown;
        return found;
      });
  for (auto& list : by_rank)
    for (Found& found : list)
      if (answer.list.size() < most_found) answer.list.push_back(std::move(found));
  return answer;
}

}  // namespace nanlens::viewer
