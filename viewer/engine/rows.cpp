#include "rows.hpp"

#include <algorithm>

#include "badges.hpp"
#include "regex/regex.hpp"

namespace nanlens::viewer {

void RowFilter::set(const std::string& text, bool only_bad) {
  if (text == asked_ && only_bad == only_bad_) return;
  asked_ = text;
  query::Error error;
  auto parsed = query::parse(text, error, regex::compiler());
  if (!parsed) {
    error_ = FilterError{error.begin, error.end, filter_error_text(error)};
    if (only_bad == only_bad_) return;
  } else {
    error_.reset();
    query_ = std::move(*parsed);
    text_ = text;
  }
  only_bad_ = only_bad;
  restart();
}

void RowFilter::set_roles(const Selection& selection) {
  const auto rows = [&](const std::vector<std::int64_t>& traces, const std::vector<Focus>& executions) {
    std::vector<std::int64_t> list = traces;
    if (source_.of_executions()) {
      list.clear();
      for (const Focus& place : executions) list.push_back(place.execution);
    }
    std::sort(list.begin(), list.end());
    return list;
  };
  inputs_ = rows(selection.input_rows, selection.input_places);
  consumers_ = rows(selection.consumer_rows, selection.consumer_places);
  if (text_.find("input") != std::string::npos || text_.find("consumer") != std::string::npos) restart();
}

void RowFilter::set_pinned(const std::vector<std::int64_t>& rows) {
  if (rows == pinned_) return;
  pinned_ = rows;
  if (text_.find("pinned") != std::string::npos) restart();
}

bool RowFilter::sort(const std::string& column, bool descending) {
  if (!shown_.order.set(column, descending)) return false;
  if (renewed_) renew();
  return true;
}

void RowFilter::restart() {
  everything_ = query_.root.kind == query::Node::Kind::all && query_.root.children.empty() && !only_bad_;
  shown_.hits.clear();
  shown_.next = everything_ ? source_.size() : 0;
  shown_.order.restart();
  renewed_.reset();
  renew_again_ = false;
  recorded_.clear();
  call_names_.clear();
  matcher_.set(query_);
  (void)definitions_changed();
}

bool RowFilter::passes(std::size_t row) {
  if (only_bad_ && (source_.flags(row) & reader::bad_flags) == 0) return false;
  return matcher_.passes(source_.event(row));
}

causes::EventClass RowFilter::Around::class_of(causes::EventRef row) {
  return row.is_execution ? filter_.explain_.of_output(row.index, row.slot) : filter_.explain_.of_row(row.index);
}

bool RowFilter::Around::is_pinned(causes::EventRef row) {
  return !row.is_execution &&
         std::find(filter_.pinned_.begin(), filter_.pinned_.end(), row.index) != filter_.pinned_.end();
}

bool RowFilter::Around::is_input(causes::EventRef row) {
  return std::binary_search(filter_.inputs_.begin(), filter_.inputs_.end(), row.index);
}

bool RowFilter::Around::is_consumer(causes::EventRef row) {
  return std::binary_search(filter_.consumers_.begin(), filter_.consumers_.end(), row.index);
}

// Has anything been declared that rows already referred to?
bool RowFilter::definitions_changed() {
  const auto& definitions = index_.run().definitions();
  std::size_t declared = 0;
  for (const reader::Op& op : definitions.ops()) declared += op.declared ? 1 : 0;
  for (const reader::Graph& graph : definitions.graphs()) declared += graph.declared ? 1 : 0;
  const bool changed = num_undeclared_ > 0 && declared != num_declared_;
  num_declared_ = declared;
  num_undeclared_ = definitions.ops().size() + definitions.graphs().size() - declared;
  return changed;
}

void RowFilter::grow(bool loading) {
  recorded_.clear();  // what was unknown may be known now
  call_names_.clear();
  if (source_.update(loading)) return restart();
  if (everything_) shown_.next = source_.size();
  shown_.order.grow();
  if (renewed_) renewed_->order.grow();
  const bool renamed = definitions_changed();
  if (renamed) matcher_.restart();
  if (everything_ || !(renamed || query_.uses_calls)) return;
  if (renewed_)
    renew_again_ = true;
  else
    renew();
}

void RowFilter::explained() {
  if (query_.uses_classes) renew();
}

void RowFilter::say_again() {
  recorded_.clear();
  query::Error error;
  if (error_ && !query::parse(asked_, error, regex::compiler())) error_->reason = filter_error_text(error);
}

// Looks at all rows again, beside those on show.
void RowFilter::renew() {
  renew_again_ = false;
  renewed_.emplace(source_);
  renewed_->order = shown_.order;
  renewed_->order.restart();
}

void RowFilter::give_up(const std::string& reason) {
  error_ = FilterError{0, text_.size(), reason};
  query_ = {};
  text_.clear();
  only_bad_ = false;
  shown_.order.set("", false);
  restart();
}

bool RowFilter::step(std::chrono::steady_clock::time_point deadline) {
  if (!is_complete(shown_)) {
    step(shown_, deadline);
  } else if (renewed_) {
    step(*renewed_, deadline);
    if (is_complete(*renewed_)) {
      shown_ = std::move(*renewed_);
      renewed_.reset();
      if (renew_again_) renew();
    }
  }
  return !complete();
}

void RowFilter::step(RowList& list, std::chrono::steady_clock::time_point deadline) {
  const std::size_t end = source_.size();
  if (everything_) list.next = end;
  while (list.next < end) {
    const std::size_t slice = std::min(end, list.next + 512);
    constexpr std::size_t most_effort = 1 << 16;
    matcher_.reset_effort();
    for (; list.next < slice && matcher_.effort() < most_effort; ++list.next)
      if (passes(list.next)) list.hits.push_back(static_cast<std::uint32_t>(list.next));
    if (std::chrono::steady_clock::now() >= deadline) return;
  }
  if (!list.order.complete(num_passing(list)))
    list.order.step(num_passing(list), [&](std::uint64_t position) { return passing(list, position); }, deadline);
}

std::vector<std::uint32_t> RowFilter::shown() const {
  std::vector<std::uint32_t> rows(static_cast<std::size_t>(num_shown()));
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<std::uint32_t>(row_at(i));
  return rows;
}

std::uint64_t RowFilter::position_of(std::int64_t row) const {
  if (shown_.order.ready()) return shown_.order.position_of(static_cast<std::uint64_t>(row));
  if (everything_) return static_cast<std::uint64_t>(std::max<std::int64_t>(0, row));
  const auto& hits = shown_.hits;
  return static_cast<std::uint64_t>(std::lower_bound(hits.begin(), hits.end(), row) - hits.begin());
}

Row RowFilter::describe(std::uint64_t index) {
  Row row = recorded(index);
  row.event_class = row.is_execution ? explain_.of_output(row.execution, row.slot)
                                     : explain_.of_row(static_cast<std::int64_t>(index));
  if (row.is_execution) return row;
  const std::uint32_t call = source_.call(index);
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
  if (is_new) found->second = source_.recorded(index);
  return found->second;
}

Rows RowFilter::fill(const View& view, const Focus& focus) {
  Rows rows;
  rows.of_executions = source_.of_executions();
  rows.total = source_.size();
  rows.shown = num_shown();
  rows.complete = filtered();
  rows.sorting = rows.complete && !shown_.order.complete(num_passing(shown_));
  rows.filter = text_;
  if (error_) {
    rows.filter_error = error_->reason;
    rows.error_begin = static_cast<std::uint32_t>(error_->begin);
    rows.error_end = static_cast<std::uint32_t>(error_->end);
  }
  rows.filter_note = missing_facts();
  fill_window(view, rows);
  fill_focus(source_.focused(focus), rows);
  for (const std::int64_t row : view.pinned)
    if (!rows.of_executions && row >= 0 && static_cast<std::size_t>(row) < rows.total)
      rows.pinned.push_back(describe(static_cast<std::uint64_t>(row)));
  fill_minimap(view, rows);
  return rows;
}

void RowFilter::fill_window(const View& view, Rows& rows) {
  rows.first = std::min<std::uint64_t>(view.row_first, rows.shown);
  const std::uint64_t end = rows.first + std::min<std::uint64_t>(rows.shown - rows.first, view.row_count);
  std::uint32_t previous = rows.first == 0 ? reader::none - 1 : source_.call(row_at(rows.first - 1));
  for (std::uint64_t position = rows.first; position < end; ++position) {
    const std::uint64_t index = row_at(position);
    Row row = describe(index);
    const std::uint32_t call = source_.call(index);
    row.call_begins = !row.is_execution && call != previous && shown_.order.by_call();
    if (call != reader::none && (call != previous || position == rows.first)) row.call = call_name(call);
    previous = call;
    rows.rows.push_back(std::move(row));
  }
}

void RowFilter::fill_focus(std::int64_t focus_row, Rows& rows) const {
  if (focus_row < 0) return;
  const std::uint64_t position = position_of(focus_row);
  const bool there = position < rows.shown && row_at(position) == static_cast<std::uint64_t>(focus_row);
  rows.focus_position = there ? static_cast<std::int64_t>(position) : -1;
  if (there || shown_.order.natural()) rows.position_before_focus = static_cast<std::int64_t>(position);
}

void RowFilter::fill_minimap(const View& view, Rows& rows) const {
  rows.minimap.assign(std::min(view.minimap_cells, most_minimap_cells), 0);
  if (rows.minimap.empty()) return;
  rows.minimap_of_run = !everything_ && shown_.order.natural();
  if (rows.minimap_of_run)
    fill_minimap_of_run(rows);
  else
    fill_minimap_of_list(rows);
}

// What passes a filter, among all rows of the run: where in it the hits and the bad rows are.
void RowFilter::fill_minimap_of_run(Rows& rows) const {
  const std::uint64_t cells = rows.minimap.size();
  const auto cell_of = [&](std::uint64_t row) { return static_cast<std::size_t>(row * cells / rows.total); };
  rows.minimap_places.assign(rows.minimap.size(), rows.shown);
  for (std::uint64_t position = rows.shown; position-- > 0;) {
    const std::size_t cell = cell_of(passing(shown_, position));
    rows.minimap[cell] |= minimap_hit;
    rows.minimap_places[cell] = position;
  }
  for (std::size_t i = rows.minimap.size(); i-- > 1;)
    rows.minimap_places[i - 1] = std::min(rows.minimap_places[i - 1], rows.minimap_places[i]);
  for (const reader::AlertRef& alert : index_.run().alerts())
    if (alert.is_execution == source_.of_executions()) rows.minimap[cell_of(alert.event)] |= minimap_bad;
  if (signs_ == nullptr || source_.of_executions()) return;
  for (std::size_t row = 0; row < std::min<std::size_t>(signs_->size(), static_cast<std::size_t>(rows.total)); ++row)
    if ((*signs_)[row] != 0) rows.minimap[cell_of(row)] |= (*signs_)[row];
}

// The rows shown, in their order. Calls are marked where no two of them begin in one cell.
void RowFilter::fill_minimap_of_list(Rows& rows) const {
  const std::uint64_t cells = rows.minimap.size();
  const auto cell_of = [&](std::uint64_t position) { return static_cast<std::size_t>(position * cells / rows.shown); };
  bool calls = shown_.order.by_call();
  std::uint32_t previous = reader::none;
  for (std::uint64_t position = 0; position < rows.shown; ++position) {
    const auto row = static_cast<std::size_t>(row_at(position));
    std::uint8_t& cell = rows.minimap[cell_of(position)];
    if ((source_.flags(row) & reader::bad_flags) != 0) cell |= minimap_bad;
    cell |= signs_of(row);
    if (!calls) continue;
    const std::uint32_t call = source_.call(row);
    if (position > 0 && call != previous) {
      calls = (cell & minimap_call) == 0;
      cell |= minimap_call;
    }
    previous = call;
  }
  if (!calls)
    for (std::uint8_t& cell : rows.minimap) cell &= static_cast<std::uint8_t>(~minimap_call);
}

}  // namespace nanlens::viewer
