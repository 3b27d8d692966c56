#include "timeline.hpp"

#include <algorithm>
#include <cmath>

#include "badges.hpp"
#include "time_axis.hpp"

namespace nanlens::viewer {

namespace {

// Pixel columns, however many are asked for: more than any screen has.
constexpr std::uint32_t most_columns = 1 << 14;

}  // namespace

Box box_of(RunIndex& index, std::size_t i) {
  reader::Run& run = index.run();
  Box box;
  box.index = i;
  const std::uint8_t flags = run.execution_flags(i);
  box.function = (flags & reader::function_flag) != 0;
  box.bad = (flags & reader::bad_flags) != 0;
  box.time = index.since_start(run.execution_wall_time(i));
  if (const auto detail = run.execution(i)) {
    box.op_type = detail->event.op_type;
    if (!detail->event.output_tensor_device_ids.empty())
      box.device = index.device_of_execution(i, detail->event.output_tensor_device_ids.front());
    constexpr std::size_t most_outputs = 6;  // what a tooltip has room for
    for (std::size_t k = 0; k < std::min(most_outputs, detail->debug_tensor_values.size()); ++k)
      box.outputs.push_back(
          badges_of(detail->event.tensor_debug_mode, detail->debug_tensor_values[k], &detail->event.tensor_protos[k]));
  }
  return box;
}

namespace {

void add(Density& column, const reader::Run& run, std::size_t i) {
  const std::uint8_t flags = run.execution_flags(i);
  ++column.count;
  if ((flags & reader::function_flag) != 0) ++column.functions;
  if ((flags & reader::bad_flags) != 0) ++column.bad;
}

// Where an execution is on the axis by time.
double place_of(RunIndex& index, std::size_t i) {
  return to_axis(index.gaps(), index.since_start(index.run().execution_wall_time(i)));
}

std::vector<Density> columns_of(RunIndex& index, bool time_mode, double begin, double end, std::uint32_t count) {
  count = std::min(count, most_columns);
  std::vector<Density> columns(count);
  const reader::Run& run = index.run();
  const double scale = end > begin ? count / (end - begin) : 0;
  std::size_t first = 0;
  std::size_t last = run.num_executions();
  if (!time_mode) {
    first = static_cast<std::size_t>(std::clamp(std::floor(begin), 0.0, static_cast<double>(last)));
    last = static_cast<std::size_t>(std::clamp(std::ceil(end), 0.0, static_cast<double>(last)));
  }
  for (std::size_t i = first; i < last; ++i) {
    const double at = time_mode ? place_of(index, i) : static_cast<double>(i);
    const double column = (at - begin) * scale;
    if (column >= 0 && column < count + 1e-6)
      add(columns[std::min<std::size_t>(count - 1, static_cast<std::size_t>(column))], run, i);
  }
  return columns;
}

}  // namespace

Timeline timeline_of(RunIndex& index, const View& view) {
  if (index.ranks().several()) return rank_timeline_of(index, view);
  reader::Run& run = index.run();
  Timeline t;
  const std::size_t executions = run.num_executions();
  t.total = executions;
  t.time_mode = view.time_mode;
  constexpr std::size_t last_few = 64;  // several hosts: the last one need not be the latest
  for (std::size_t i = executions - std::min(executions, last_few); i < executions; ++i)
    t.duration =
        std::max(t.duration, view.time_mode ? place_of(index, i) : index.since_start(run.execution_wall_time(i)));
  if (view.time_mode) t.gaps = index.gaps();
  t.begin = std::isnan(view.timeline_begin) ? 0 : view.timeline_begin;
  t.end = std::isnan(view.timeline_end) ? t.begin : view.timeline_end;
  const double whole = view.time_mode ? t.duration : static_cast<double>(t.total);
  if (view.overview_columns > 0 && t.total > 0)
    t.overview = columns_of(index, view.time_mode, 0, std::max(whole, 1e-9), view.overview_columns);
  std::vector<std::size_t> inside;
  if (view.time_mode) {
    for (std::size_t i = 0; i < t.total && inside.size() <= most_boxes; ++i) {
      const double at = place_of(index, i);
      if (at >= t.begin && at <= t.end) inside.push_back(i);
    }
  } else {
    const auto first = static_cast<std::size_t>(std::clamp(std::floor(t.begin), 0.0, static_cast<double>(t.total)));
    const auto last = static_cast<std::size_t>(std::clamp(std::ceil(t.end), 0.0, static_cast<double>(t.total)));
    for (std::size_t i = first; i < last && inside.size() <= most_boxes; ++i) inside.push_back(i);
  }
  if (inside.size() <= most_boxes)
    for (const std::size_t i : inside) {
      t.boxes.push_back(box_of(index, i));
      if (view.time_mode) t.boxes.back().at = place_of(index, i);
    }
  else if (view.timeline_columns > 0)
    t.columns = columns_of(index, view.time_mode, t.begin, t.end, view.timeline_columns);
  return t;
}

}  // namespace nanlens::viewer
