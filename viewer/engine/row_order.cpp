#include "row_order.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <string_view>
#include <utility>

#include "badges.hpp"

namespace nanlens::viewer {

namespace {

constexpr const char* sortable[] = {"index", "tensor", "op",   "health", "dtype",   "shape",
                                    "size",  "graph",  "call", "time",   "job_rank"};
constexpr double untold = std::numeric_limits<double>::quiet_NaN();

bool shows_text(const std::string& column) { return column == "tensor" || column == "op" || column == "graph"; }

double number_of(const std::vector<Badge>& badges, BadgeKind kind) {
  const Badge* const badge = find_badge(badges, kind);
  return badge == nullptr ? untold : badge->number;
}

double bad_count(const std::vector<Badge>& badges) {
  double bad = 0;
  for (const Badge& b : badges)
    if (b.kind == BadgeKind::nan || b.kind == BadgeKind::ninf || b.kind == BadgeKind::pinf || b.kind == BadgeKind::curt)
      bad += b.number;
  return bad;
}

double told_by(const std::string& column, const std::vector<Badge>& badges) {
  if (column == "health") return bad_count(badges);
  if (column == "dtype") return number_of(badges, BadgeKind::dtype);
  return number_of(badges, column == "size" ? BadgeKind::size : BadgeKind::rank);
}

}  // namespace

bool is_sortable(const std::string& column) {
  return std::find(std::begin(sortable), std::end(sortable), column) != std::end(sortable);
}

bool RowOrder::set(const std::string& column, bool descending) {
  const std::string wanted = column == "index" && !descending ? "" : column;
  if (wanted == column_ && descending == descending_) return false;
  column_ = wanted;
  descending_ = descending;
  restart();
  return true;
}

void RowOrder::restart() {
  sorted_ = false;
  entries_.clear();
  coming_.clear();
  rank_of_op_.clear();
  number_of_text_.clear();
  rank_of_text_.clear();
  if (shows_text(column_) && !source_->of_executions()) rank_ops();
}

// Names may have been declared and calls may have ended since; what a record says does not change.
void RowOrder::grow() {
  if (source_->of_executions() || (!shows_text(column_) && column_ != "call")) return;
  if (shows_text(column_)) rank_ops();
  for (Entry& e : entries_) e.value = value_of(e.row);
  for (Entry& e : coming_) e.value = value_of(e.row);
  const auto less = [this](const Entry& a, const Entry& b) { return before(a, b); };
  if (!std::is_sorted(entries_.begin(), entries_.end(), less)) std::sort(entries_.begin(), entries_.end(), less);
}

void RowOrder::rank_ops() {
  const auto& definitions = source_->index().run().definitions();
  std::vector<std::pair<std::string_view, std::uint32_t>> texts;
  for (std::uint32_t i = 0; i < definitions.ops().size(); ++i) {
    const reader::Op& op = source_->index().op(i);
    const std::uint32_t number = column_ == "tensor" ? op.name
                                 : column_ == "op"   ? op.type
                                                     : source_->index().graph(op.graph).name;
    texts.emplace_back(definitions.text(number), i);
  }
  std::sort(texts.begin(), texts.end());
  rank_of_op_.resize(texts.size());
  std::uint32_t rank = 0;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (i > 0 && texts[i].first != texts[i - 1].first) ++rank;
    rank_of_op_[texts[i].second] = rank;
  }
}

double RowOrder::value_of(std::uint64_t row) {
  if (column_ == "index") return static_cast<double>(row);
  if (!rank_of_op_.empty()) return rank_of_op_[source_->index().run().trace_op(static_cast<std::size_t>(row))];
  if (column_ == "job_rank") {
    const std::int32_t rank = source_->job_rank(row);
    return rank < 0 ? untold : rank;
  }
  if (column_ == "call") return source_->call(row) == reader::none ? untold : source_->call(row);
  const std::uint8_t flags = source_->flags(row);
  if (column_ == "health" && (flags & reader::bad_flags) == 0)
    return (flags & reader::has_summary_flag) == 0 ? untold : 0;
  return source_->of_executions() ? value_of_execution(row) : recorded_value(row);
}

double RowOrder::value_of_execution(std::uint64_t row) {
  if (column_ == "graph") return untold;
  if (shows_text(column_)) {
    RowSource::Names names = source_->names_of_execution(row);
    return number_of_text(std::move(column_ == "op" ? names.type : names.name));
  }
  const Row recorded = source_->recorded(row);
  return column_ == "time" ? recorded.time : told_by(column_, recorded.badges);
}

double RowOrder::number_of_text(std::string text) {
  return number_of_text_.try_emplace(std::move(text), static_cast<std::uint32_t>(number_of_text_.size())).first->second;
}

// Those that were ranked before stay in their order.
void RowOrder::rank_texts() {
  if (rank_of_text_.size() == number_of_text_.size()) return;
  std::vector<std::pair<std::string_view, std::uint32_t>> texts(number_of_text_.begin(), number_of_text_.end());
  std::sort(texts.begin(), texts.end());
  rank_of_text_.resize(texts.size());
  for (std::uint32_t rank = 0; rank < texts.size(); ++rank) rank_of_text_[texts[rank].second] = rank;
}

double RowOrder::recorded_value(std::uint64_t row) {
  const auto detail = source_->index().run().trace(static_cast<std::size_t>(row));
  if (!detail) return untold;
  if (column_ == "time") return detail->wall_time;
  return told_by(column_, badges_of(*detail));
}

bool RowOrder::before(const Entry& a, const Entry& b) const {
  if (std::isnan(a.value) != std::isnan(b.value)) return std::isnan(b.value);
  const auto value = [this](const Entry& e) {
    return rank_of_text_.empty() || std::isnan(e.value) ? e.value : rank_of_text_[static_cast<std::size_t>(e.value)];
  };
  const double one = value(a);
  const double other = value(b);
  if (one < other || one > other) return descending_ ? one > other : one < other;
  return a.row < b.row;
}

void RowOrder::merge() {
  rank_texts();
  const auto less = [this](const Entry& a, const Entry& b) { return before(a, b); };
  std::sort(coming_.begin(), coming_.end(), less);
  std::vector<Entry> merged(entries_.size() + coming_.size());
  std::merge(entries_.begin(), entries_.end(), coming_.begin(), coming_.end(), merged.begin(), less);
  entries_ = std::move(merged);
  coming_ = {};
  sorted_ = true;
}

std::uint64_t RowOrder::position_of(std::uint64_t row) const {
  const auto at = std::find_if(entries_.begin(), entries_.end(), [row](const Entry& e) { return e.row == row; });
  return static_cast<std::uint64_t>(at - entries_.begin());
}

}  // namespace nanlens::viewer
