#include "source.hpp"

#include <map>
#include <unordered_map>

namespace nanlens::viewer {

namespace {

constexpr std::size_t most_listed = 64;  // ops of one line that can be chosen from

std::vector<bool> bad_ops(const reader::Run& run) {
  std::vector<bool> bad(run.definitions().ops().size());
  for (const auto& alert : run.alerts())
    if (!alert.is_execution) bad[alert.op] = true;
  return bad;
}

}  // namespace

Source source_of(RunIndex& index, const std::string& host, const std::string& path) {
  reader::Run& run = index.run();
  Source source;
  source.host = host;
  source.path = path;
  for (std::size_t i = 0; i < run.source_files().size(); ++i) {
    const auto& file = run.source_files()[i];
    if (file.file_path != path || (!host.empty() && file.host_name != host)) continue;
    source.found = true;
    source.lines = run.source_lines(i);
    break;
  }
  const std::vector<bool> bad = bad_ops(run);
  std::map<std::int32_t, LineMark> marks;
  std::unordered_map<std::string, std::int32_t> line_of_stack;  // most ops share a stack with others
  for (std::uint32_t i = 0; i < run.definitions().ops().size(); ++i) {
    const auto detail = run.op(i);
    if (!detail || !detail->event.code_location) continue;
    std::string key;
    for (const auto& id : detail->event.code_location->stack_frame_ids) key += id + ",";
    auto [found, is_new] = line_of_stack.try_emplace(std::move(key), 0);
    if (is_new)
      for (const auto& frame : reader::resolve_stack(run, detail->event.code_location))
        if (frame.file_path == path) found->second = frame.line;
    if (found->second <= 0) continue;
    LineMark& mark = marks[found->second];
    mark.line = found->second;
    ++mark.ops;
    mark.bad = mark.bad || bad[i];
    if (mark.list.size() >= most_listed) continue;
    OpCard card;
    card.op_name = detail->event.op_name;
    card.op_type = detail->event.op_type;
    card.bad = bad[i];
    mark.list.push_back(std::move(card));
    mark.graph_ids.push_back(detail->event.graph_id);
  }
  for (auto& [line, mark] : marks) source.marks.push_back(std::move(mark));
  return source;
}

std::string source_line_of(RunIndex& index, const std::string& host, const std::string& path, std::int32_t line) {
  return reader::source_line(index.run(), {host, path, line, {}}).value_or("");
}

}  // namespace nanlens::viewer
