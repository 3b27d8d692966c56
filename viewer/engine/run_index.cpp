#include "run_index.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "time_axis.hpp"

namespace nanlens::viewer {

void RunIndex::refresh() {
  calls_.assign(run_.num_executions(), {});
  ops_.assign(run_.definitions().ops().size(), {});
  for (std::size_t row = 0; row < run_.num_traces(); ++row) {
    OpRows& op = ops_[run_.trace_op(row)];
    const bool bad = (run_.trace_flags(row) & reader::bad_flags) != 0;
    if (op.count++ == 0) op.first = static_cast<std::int64_t>(row);
    if (bad && op.bad++ == 0) op.first_bad = static_cast<std::int64_t>(row);
    const std::uint32_t execution = run_.trace_execution(row);
    if (execution >= calls_.size()) continue;
    Span& span = calls_[execution];
    if (span.first < 0) span.first = static_cast<std::int64_t>(row);
    span.last = static_cast<std::int64_t>(row);
    ++span.count;
  }
  ranks_.refresh();
}

RunIndex::Span RunIndex::rows_of_call(std::int64_t execution) const {
  if (execution < 0 || static_cast<std::size_t>(execution) >= calls_.size()) return {};
  return calls_[static_cast<std::size_t>(execution)];
}

const std::vector<Gap>& RunIndex::gaps() {
  if (std::exchange(gaps_at_executions_, run_.num_executions()) == run_.num_executions()) return gaps_;
  std::vector<double> times;
  times.reserve(run_.num_executions() + 1);
  times.push_back(0);  // the run begins before its first execution
  for (std::size_t i = 0; i < run_.num_executions(); ++i)
    if (const double time = since_start(run_.execution_wall_time(i)); std::isfinite(time)) times.push_back(time);
  std::sort(times.begin(), times.end());  // several hosts need not be in order
  gaps_ = find_gaps(times);
  return gaps_;
}

std::string stripped_name(const std::string& op_type) {
  std::string_view name = op_type;
  for (const std::string_view prefix : {"__forward_", "__backward_", "__inference_"})
    if (name.starts_with(prefix)) {
      name.remove_prefix(prefix.size());
      const std::size_t digits = name.find_last_not_of("0123456789");
      if (digits != std::string_view::npos && digits + 1 < name.size() && name[digits] == '_')
        name = name.substr(0, digits);
      break;
    }
  return std::string(name);
}

}  // namespace nanlens::viewer
