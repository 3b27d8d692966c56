// Which rows pass a query.
#include <algorithm>

#include "badges.hpp"
#include "rows.hpp"
#include "texts/texts.hpp"

namespace nanlens::viewer {

using filter::Comparison;
using filter::Flag;
using filter::Node;
using filter::NumberField;
using filter::TextField;

namespace {

BadgeKind badge_of(NumberField field) {
  switch (field) {
    case NumberField::nan: return BadgeKind::nan;
    case NumberField::ninf: return BadgeKind::ninf;
    case NumberField::pinf: return BadgeKind::pinf;
    case NumberField::neg: return BadgeKind::neg;
    case NumberField::zero: return BadgeKind::zero;
    case NumberField::pos: return BadgeKind::pos;
    case NumberField::size: return BadgeKind::size;
    case NumberField::rank: return BadgeKind::rank;
    default: return BadgeKind::none;
  }
}

}  // namespace

// A row under test; its record is read at most once, and only if a condition needs it.
struct RowFilter::RowContext {
  RunIndex& index;
  std::size_t row;
  bool read = false;
  std::optional<reader::TraceDetail> detail = std::nullopt;
  std::vector<Badge> badges = {};

  const std::optional<reader::TraceDetail>& trace() {
    if (!read) {
      read = true;
      detail = index.run().trace(row);
      if (detail) badges = badges_of(*detail);
    }
    return detail;
  }
  // The count of a kind; nothing if the row's mode does not tell it.
  std::optional<double> count(BadgeKind kind) {
    if (!trace()) return std::nullopt;
    if (const Badge* badge = find_badge(badges, kind)) return badge->number;
    const auto mode = static_cast<TensorDebugMode>(detail->event.tensor_debug_mode);
    const bool finite_kind = kind == BadgeKind::neg || kind == BadgeKind::zero || kind == BadgeKind::pos;
    const bool counts = tells(mode, finite_kind ? Told::finite_counts : Told::non_finite_counts);
    const bool checked = find_badge(badges, BadgeKind::size) != nullptr;
    if (kind == BadgeKind::size || kind == BadgeKind::rank || !counts || !checked) return std::nullopt;
    return 0;
  }
  std::optional<double> count(NumberField field) {
    if (field != NumberField::inf) return count(badge_of(field));
    const auto low = count(BadgeKind::ninf);
    const auto high = count(BadgeKind::pinf);
    return low && high ? std::optional(*low + *high) : std::nullopt;
  }
};

namespace {

bool decided_by_op(TextField field) {
  return field == TextField::any || field == TextField::op || field == TextField::type || field == TextField::graph ||
         field == TextField::file || field == TextField::fn || field == TextField::host;
}

bool compare(double value, const Node& node, double low, double high) {
  if (node.kind == Node::Kind::range) return value >= low && value <= high;
  switch (node.comparison) {
    case Comparison::equal: return value == low;
    case Comparison::not_equal: return value != low;
    case Comparison::less: return value < low;
    case Comparison::less_equal: return value <= low;
    case Comparison::greater: return value > low;
    default: return value >= low;
  }
}

// Adds the name of a number that rows of this mode do not have, with a mode that has it. `stats`: they have statistics.
void collect_missing(const Node& node, TensorDebugMode mode, bool stats, std::string& missing) {
  for (const Node& child : node.children) collect_missing(child, mode, stats, missing);
  if (node.kind != Node::Kind::number && node.kind != Node::Kind::range) return;
  const auto concise_or_full = [&](const char* word) {
    return tells(mode, Told::non_finite_counts)
               ? ""
               : tr(Text::filter_needs_one, {{"word", word}, {"mode", "CONCISE_HEALTH"}, {"other", "FULL_HEALTH"}});
  };
  const auto only_full = [&](const char* word) {
    return tells(mode, Told::finite_counts) ? "" : tr(Text::filter_needs, {{"word", word}, {"mode", "FULL_HEALTH"}});
  };
  std::string text;
  switch (node.number_field) {
    case NumberField::nan: text = concise_or_full("nan"); break;
    case NumberField::inf: text = concise_or_full("inf"); break;
    case NumberField::ninf: text = concise_or_full("ninf"); break;
    case NumberField::pinf: text = concise_or_full("pinf"); break;
    case NumberField::neg: text = only_full("neg"); break;
    case NumberField::zero: text = only_full("zero"); break;
    case NumberField::pos: text = only_full("pos"); break;
    case NumberField::rank:
      if (!tells(mode, Told::rank))
        text = tr(Text::filter_needs_one, {{"word", "rank"}, {"mode", "FULL_HEALTH"}, {"other", "SHAPE"}});
      break;
    case NumberField::min:
    case NumberField::max:
      if (!stats)
        text = tr(Text::filter_needs_stats, {{"word", node.number_field == NumberField::min ? "min" : "max"}});
      break;
    case NumberField::size:
      if (!tells(mode, Told::size)) text = tr(Text::filter_needs_any, {{"word", "size"}});
      break;
    default: break;
  }
  if (!text.empty()) missing.append(missing.empty() ? "" : ", ").append(text);
}

// Extreme values come with a histogram; without one the record has the other members of TensorStats alone.
bool has_statistics(const reader::TraceDetail& row) {
  const auto& outputs = row.extension.outputs;
  return !outputs.empty() && !outputs.front().exponent_histogram.empty();
}

// Have any of the first rows statistics? Those of integers have none.
bool any_statistics(reader::Run& run) {
  constexpr std::size_t first = 16;
  for (std::size_t i = 0; i < std::min(first, run.num_traces()); ++i)
    if (const auto row = run.trace(i); row && has_statistics(*row)) return true;
  return false;
}

// Flags of which a row must have one for the count to be above zero.
std::uint8_t flags_of(NumberField field) {
  switch (field) {
    case NumberField::nan: return reader::nan_flag;
    case NumberField::ninf: return reader::neg_inf_flag;
    case NumberField::pinf: return reader::pos_inf_flag;
    case NumberField::inf: return reader::neg_inf_flag | reader::pos_inf_flag;
    case NumberField::neg: return reader::negative_flag;
    case NumberField::zero: return reader::zero_flag;
    case NumberField::pos: return reader::positive_flag;
    default: return 0;
  }
}

}  // namespace

bool RowFilter::passes(std::size_t row) {
  if (only_bad_ && (index_.run().trace_flags(row) & reader::bad_flags) == 0) return false;
  RowContext context{index_, row};
  return matches(query_.root, context);
}

bool RowFilter::matches(const Node& node, RowContext& row) {
  switch (node.kind) {
    case Node::Kind::all:
      return std::all_of(node.children.begin(), node.children.end(), [&](const Node& c) { return matches(c, row); });
    case Node::Kind::any:
      return std::any_of(node.children.begin(), node.children.end(), [&](const Node& c) { return matches(c, row); });
    case Node::Kind::negation: return !matches(node.children.front(), row);
    case Node::Kind::flag: return matches_flag(node.flag, row);
    case Node::Kind::text: return matches_text(node, row);
    default: return matches_number(node, row);
  }
}

bool RowFilter::matches_flag(Flag flag, RowContext& row) {
  const std::uint8_t flags = index_.run().trace_flags(row.row);
  const auto number = static_cast<std::int64_t>(row.row);
  const auto contains = [&](const std::vector<std::int64_t>& rows) {
    return std::binary_search(rows.begin(), rows.end(), number);
  };
  const auto class_of = [&](const RowContext& r) { return explain_.of_row(static_cast<std::int64_t>(r.row)); };
  const auto& alerts = index_.run().alerts();
  switch (flag) {
    case Flag::bad: return (flags & reader::bad_flags) != 0;
    case Flag::ok: return (flags & reader::has_summary_flag) != 0 && (flags & reader::bad_flags) == 0;
    case Flag::first: return !alerts.empty() && !alerts.front().is_execution && alerts.front().event == row.row;
    case Flag::input: return contains(roles_.inputs);
    case Flag::consumer: return contains(roles_.consumers);
    case Flag::function: return index_.run().trace_execution(row.row) != reader::none;
    case Flag::eager: return false;
    case Flag::pinned: return std::find(pinned_.begin(), pinned_.end(), number) != pinned_.end();
    case Flag::made: return class_of(row) == EventClass::producer;
    case Flag::passed: return class_of(row) == EventClass::propagator || class_of(row) == EventClass::relay;
    case Flag::removed: return class_of(row) == EventClass::killer;
    case Flag::source: return class_of(row) == EventClass::source;
    case Flag::unknown: return (flags & reader::bad_flags) != 0 && class_of(row) == EventClass::unknown;
    case Flag::expected: return class_of(row) == EventClass::expected;
    case Flag::empty: return (flags & reader::empty_flag) != 0;
    default: return (flags & reader::has_summary_flag) == 0;
  }
}

bool RowFilter::leaf_matches_op(const Node& node, std::uint32_t op, std::optional<reader::OpDetail>& detail) {
  const auto& o = index_.op(op);
  const auto& match = *node.match;
  const auto& texts = index_.run().definitions();
  const auto stack = [&] {
    if (!detail) detail = index_.run().op(op);
    return detail ? reader::resolve_stack(index_.run(), detail->event.code_location)
                  : std::vector<reader::StackFrame>{};
  };
  switch (node.text_field) {
    case TextField::op: return match(texts.text(o.name));
    case TextField::type: return match(texts.text(o.type));
    case TextField::graph: return match(texts.text(index_.graph(o.graph).name));
    case TextField::host:
    case TextField::file:
    case TextField::fn: {
      const auto frames = stack();
      return std::any_of(frames.begin(), frames.end(), [&](const reader::StackFrame& f) {
        if (node.text_field == TextField::host) return match(f.host_name);
        return match(node.text_field == TextField::file ? f.file_path : f.function);
      });
    }
    default:
      return match(texts.text(o.name)) || match(texts.text(o.type)) || match(texts.text(index_.graph(o.graph).name));
  }
}

RowFilter::OfOp RowFilter::leaf_of_op(const Node& node, std::uint32_t op) {
  std::optional<reader::OpDetail> detail;
  const auto& o = index_.op(op);
  effort_ += index_.run().definitions().text(o.name).size();
  if (leaf_matches_op(node, op, detail)) return OfOp::yes;
  const bool names_tensors = node.text_field == TextField::any || node.text_field == TextField::op;
  if (!names_tensors || !node.match->may_need_slot() || o.num_outputs <= 0) return OfOp::no;
  if (o.num_outputs > 1) return OfOp::by_slot;
  return (*node.match)(index_.text(o.name) + ":0") ? OfOp::yes : OfOp::no;
}

// What the analysis says of a row, by its name in JSON or in words: "made", "removed here". Rows without a story of
// their own have none.
bool RowFilter::matches_class(const Node& node, const RowContext& row) {
  const EventClass event_class = explain_.of_row(static_cast<std::int64_t>(row.row));
  const bool bad = (index_.run().trace_flags(row.row) & reader::bad_flags) != 0;
  if (!bad && event_class != EventClass::killer) return false;
  return (*node.match)(causes::class_name(event_class)) || (*node.match)(causes::class_words(event_class));
}

bool RowFilter::matches_text(const Node& node, RowContext& row) {
  const std::uint32_t op = index_.run().trace_op(row.row);
  if (decided_by_op(node.text_field)) {
    auto& known = leaf_of_op_[node.leaf];
    if (known.size() <= op) known.resize(index_.run().definitions().ops().size());
    if (known[op] == OfOp::unknown) known[op] = leaf_of_op(node, op);
    if (known[op] != OfOp::by_slot) return known[op] == OfOp::yes;
    // "Split:1" names a tensor: the op's name alone has no slot.
    const auto& detail = row.trace();
    return detail && (*node.match)(detail->event.op_name + ":" + std::to_string(detail->event.output_slot));
  }
  if (node.text_field == TextField::event_class) return matches_class(node, row);
  const auto& detail = row.trace();
  if (!detail) return false;
  if (node.text_field == TextField::device) return (*node.match)(detail->event.device_name);
  if (node.text_field == TextField::mode)
    return (*node.match)(debug_mode_name(static_cast<TensorDebugMode>(detail->event.tensor_debug_mode)));
  if (node.text_field == TextField::dtype) {
    const Badge* const dtype = find_badge(row.badges, BadgeKind::dtype);
    return dtype != nullptr && (*node.match)(dtype->text);
  }
  const std::uint32_t call = index_.run().trace_execution(row.row);
  if (call == reader::none) return false;
  const auto execution = index_.run().execution(call);
  return execution && (*node.match)(execution->event.op_type);
}

namespace {

// What the flags of a row tell of a count, without reading its record; nothing if they do not.
std::optional<bool> decided_by_flags(const Node& node, std::uint8_t flags, bool kinds_told) {
  const std::uint8_t needed = flags_of(node.number_field);
  if (needed == 0 || node.kind != Node::Kind::number) return std::nullopt;
  const bool above = node.comparison == Comparison::greater;
  const bool from = node.comparison == Comparison::greater_equal;
  const bool wants_some = (above && node.low >= 0) || (from && node.low > 0);
  if (wants_some && (flags & needed) == 0) return false;
  // "nan>0" needs no more than the flag, where the mode tells one kind from another.
  const bool any_will_do = !node.percent && ((above && node.low == 0) || (from && node.low == 1));
  return any_will_do && kinds_told ? std::optional(true) : std::nullopt;
}

}  // namespace

bool RowFilter::matches_count(const Node& node, RowContext& row) {
  if (const auto decided = decided_by_flags(node, index_.run().trace_flags(row.row), counts_)) return *decided;
  const auto count = row.count(node.number_field);
  const auto whole = node.percent ? row.count(BadgeKind::size) : std::optional(1.0);
  return count && whole && compare(*count, node, node.low * *whole, node.high * *whole);
}

bool RowFilter::matches_number(const Node& node, RowContext& row) {
  switch (node.number_field) {
    case NumberField::row: return compare(static_cast<double>(row.row), node, node.low, node.high);
    case NumberField::exec: {
      const std::uint32_t call = index_.run().trace_execution(row.row);
      return call != reader::none && compare(call, node, node.low, node.high);
    }
    case NumberField::job_rank: {
      const std::int32_t rank = index_.run().rank_of_set(index_.run().set_of_trace(row.row));
      return rank >= 0 && compare(rank, node, node.low, node.high);
    }
    case NumberField::slot: return row.trace() && compare(row.detail->event.output_slot, node, node.low, node.high);
    case NumberField::time:
      return row.trace() && compare(index_.since_start(row.detail->wall_time), node, node.low, node.high);
    case NumberField::line: return matches_line(node, row);
    case NumberField::min:
    case NumberField::max: return matches_extreme(node, row);
    default: return matches_count(node, row);
  }
}

// The least or greatest value, where the recorder was asked for statistics.
bool RowFilter::matches_extreme(const Node& node, RowContext& row) {
  if (!row.trace() || !has_statistics(*row.detail)) return false;
  const logdir::TensorStats& stats = row.detail->extension.outputs.front();
  const double value = node.number_field == NumberField::min ? stats.min : stats.max;
  const bool any_finite = stats.min <= stats.max;
  return any_finite && compare(value, node, node.low, node.high);
}

// Was the op made by a line in this range, or in a function that one called?
bool RowFilter::matches_line(const Node& node, const RowContext& row) {
  const auto op = index_.run().op(index_.run().trace_op(row.row));
  if (!op) return false;
  const auto frames = reader::resolve_stack(index_.run(), op->event.code_location);
  return std::any_of(frames.begin(), frames.end(),
                     [&](const auto& f) { return compare(f.line, node, node.low, node.high); });
}

void RowFilter::find_mode() {
  counts_ = false;
  if (index_.run().num_traces() == 0) return;
  const auto first = index_.run().trace(0);
  if (!first) return;
  const auto mode = static_cast<TensorDebugMode>(first->event.tensor_debug_mode);
  counts_ = tells(mode, Told::non_finite_counts);
}

std::string RowFilter::missing_facts() const {
  if (everything_ || index_.run().num_traces() == 0) return {};
  const auto first = index_.run().trace(0);
  if (!first) return {};
  const auto mode = static_cast<TensorDebugMode>(first->event.tensor_debug_mode);
  std::string missing;
  collect_missing(query_.root, mode, any_statistics(index_.run()), missing);
  return missing.empty() ? missing : tr(Text::filter_has, {{"needs", missing}, {"mode", debug_mode_name(mode)}});
}

}  // namespace nanlens::viewer
