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

void EagerNames::count(std::vector<std::size_t>& places, std::uint32_t number, std::uint32_t execution, bool bad) {
  if (number >= places.size()) places.resize(number + 1, reader::none);
  if (places[number] == reader::none) {
    places[number] = list_.size();
    list_.push_back({{}, 0, 0, execution});
  }
  Entry& entry = list_[places[number]];
  ++entry.count;
  if (bad && entry.bad++ == 0) entry.shown = execution;
}

const std::vector<EagerNames::Entry>& EagerNames::update(const reader::Run& run, const causes::CallTable& calls) {
  for (; counted_ < calls.size(); ++counted_) {
    if (calls.is_call(counted_)) continue;
    const bool bad = (run.execution_flags(counted_) & reader::bad_flags) != 0;
    count(of_type_, calls.op_type_number(counted_), counted_, bad);
    if (const std::uint32_t name = calls.op_name_number(counted_); name != 0) count(of_name_, name, counted_, bad);
  }
  for (std::uint32_t type = 0; type < of_type_.size(); ++type)
    if (of_type_[type] != reader::none) list_[of_type_[type]].name = calls.op_type_of(type);
  for (std::uint32_t name = 0; name < of_name_.size(); ++name)
    if (of_name_[name] != reader::none) list_[of_name_[name]].name = calls.op_name(name);
  return list_;
}

Search search(RunIndex& index, Explain& explain, EagerNames& eager, const std::string& text) {
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
    for (const EagerNames::Entry& op : eager.update(index.run(), *calls))
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
