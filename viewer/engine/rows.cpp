#include "rows.hpp"

#include <algorithm>

#include "badges.hpp"

namespace nanlens::viewer {

void RowFilter::set(const std::string& query, bool only_bad) {
  if (query == asked_ && only_bad == only_bad_) return;
  asked_ = query;
  filter::Error error;
  auto parsed = filter::parse(query, error);
  if (!parsed) {
    error_ = error;
    if (only_bad == only_bad_) return;
  } else {
    error_.reset();
    query_ = std::move(*parsed);
    text_ = query;
  }
  only_bad_ = only_bad;
  restart();
}

void RowFilter::set_roles(RowRoles roles) {
  roles_ = std::move(roles);
  if (text_.find("input") != std::string::npos || text_.find("consumer") != std::string::npos) restart();
}

void RowFilter::set_pinned(const std::vector<std::int64_t>& rows) {
  if (rows == pinned_) return;
  pinned_ = rows;
  if (text_.find("pinned") != std::string::npos) restart();
}

void RowFilter::restart() {
  everything_ = query_.root.kind == filter::Node::Kind::all && query_.root.children.empty() && !only_bad_;
  hits_.clear();
  recorded_.clear();  // the run may have grown: what was unknown may be known now
  call_names_.clear();
  find_mode();
  next_ = everything_ ? index_.run().num_traces() : 0;
  leaf_of_op_.assign(query_.leaves, {});
  order_.restart();
}

bool RowFilter::step(std::chrono::steady_clock::time_point deadline) {
  const std::size_t end = index_.run().num_traces();
  if (everything_) next_ = end;
  while (next_ < end) {
    const std::size_t slice = std::min(end, next_ + 512);
    for (; next_ < slice; ++next_)
      if (passes(next_)) hits_.push_back(static_cast<std::uint32_t>(next_));
    if (std::chrono::steady_clock::now() >= deadline) break;
  }
  if (next_ == end && !order_.complete())
    order_.step(num_shown(), [this](std::uint64_t position) { return passing(position); }, deadline);
  return !complete();
}

std::vector<std::uint32_t> RowFilter::shown() const {
  std::vector<std::uint32_t> rows(static_cast<std::size_t>(num_shown()));
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<std::uint32_t>(row_at(i));
  return rows;
}

std::uint64_t RowFilter::position_of(std::int64_t row) const {
  if (complete() && !order_.natural()) return order_.position_of(static_cast<std::uint64_t>(row));
  if (everything_) return static_cast<std::uint64_t>(std::max<std::int64_t>(0, row));
  return static_cast<std::uint64_t>(std::lower_bound(hits_.begin(), hits_.end(), row) - hits_.begin());
}

Row RowFilter::describe(std::uint64_t index) {
  const reader::Run& run = index_.run();
  Row row = recorded(index);
  row.event_class = explain_.of_row(static_cast<std::int64_t>(index));
  const std::uint32_t call = run.trace_execution(static_cast<std::size_t>(index));
  row.execution = call == reader::none ? -1 : static_cast<std::int64_t>(call);
  return row;
}

const std::string& RowFilter::call_name(std::uint32_t call) {
  if (call_names_.size() > most_kept) call_names_.clear();
  const auto [found, is_new] = call_names_.try_emplace(call);
  if (is_new)
    if (const auto execution = index_.run().execution(call)) found->second = execution->event.op_type;
  return found->second;
}

const Row& RowFilter::recorded(std::uint64_t index) {
  if (recorded_.size() > most_kept) recorded_.clear();
  const auto [found, is_new] = recorded_.try_emplace(index);
  Row& row = found->second;
  if (!is_new) return row;
  reader::Run& run = index_.run();
  const auto i = static_cast<std::size_t>(index);
  const auto& op = index_.op(run.trace_op(i));
  row.index = index;
  row.op_name = index_.text(op.name);
  row.op_type = index_.text(op.type);
  row.graph_id = index_.text(index_.graph(op.graph).id);
  row.graph_name = index_.text(index_.graph(op.graph).name);
  row.bad = (run.trace_flags(i) & reader::bad_flags) != 0;
  if (const auto detail = run.trace(i)) {
    row.slot = detail->event.output_slot;
    row.device = detail->event.device_name;
    row.time = index_.since_start(detail->wall_time);
    row.badges = badges_of(*detail);
  } else {
    row.badges.push_back(missing_badge(Missing::unreadable));
  }
  return row;
}

Rows RowFilter::fill(const View& view, std::int64_t focus_row) {
  Rows rows;
  reader::Run& run = index_.run();
  rows.total = run.num_traces();
  rows.shown = num_shown();
  rows.complete = filtered();
  rows.sorting = rows.complete && !order_.complete();
  rows.filter = text_;
  if (error_) {
    rows.filter_error = error_->reason;
    rows.error_begin = static_cast<std::uint32_t>(error_->begin);
    rows.error_end = static_cast<std::uint32_t>(error_->end);
  }
  rows.filter_note = missing_facts();
  rows.first = std::min<std::uint64_t>(view.row_first, rows.shown);
  const std::uint64_t end = std::min<std::uint64_t>(rows.shown, rows.first + view.row_count);
  std::uint32_t previous =
      rows.first == 0 ? reader::none - 1 : run.trace_execution(static_cast<std::size_t>(row_at(rows.first - 1)));
  for (std::uint64_t position = rows.first; position < end; ++position) {
    const std::uint64_t index = row_at(position);
    Row row = describe(index);
    const std::uint32_t call = run.trace_execution(static_cast<std::size_t>(index));
    row.call_begins = call != previous && order_.by_call();
    if (call != reader::none && (call != previous || position == rows.first)) row.call = call_name(call);
    previous = call;
    rows.rows.push_back(std::move(row));
  }
  if (focus_row >= 0) {
    const std::uint64_t position = position_of(focus_row);
    const bool there = position < rows.shown && row_at(position) == static_cast<std::uint64_t>(focus_row);
    rows.focus_position = there ? static_cast<std::int64_t>(position) : -1;
    if (there || order_.natural()) rows.position_before_focus = static_cast<std::int64_t>(position);
  }
  for (const std::int64_t row : view.pinned)
    if (row >= 0 && static_cast<std::size_t>(row) < run.num_traces())
      rows.pinned.push_back(describe(static_cast<std::uint64_t>(row)));
  rows.minimap.assign(view.minimap_cells, 0);
  if (view.minimap_cells > 0)
    for (std::uint64_t position = 0; position < rows.shown; ++position)
      if ((run.trace_flags(static_cast<std::size_t>(row_at(position))) & reader::bad_flags) != 0)
        rows.minimap[static_cast<std::size_t>(position * view.minimap_cells / rows.shown)] = 1;
  return rows;
}

}  // namespace nanlens::viewer
