// What the filter's box says of a query: why it can't be read, or what the run can't answer.
#include <algorithm>

#include <nanlens/query/names.hpp>
#include <nanlens/query/numbers.hpp>

#include "rows.hpp"
#include "texts/texts.hpp"

namespace nanlens::viewer {

namespace {

using query::Needed;
using query::Problem;

Text text_of(Problem problem) {
  switch (problem) {
    case Problem::no_open: return Text::filter_no_open;
    case Problem::no_close: return Text::filter_no_close;
    case Problem::too_deep: return Text::filter_too_deep;
    case Problem::number_missing: return Text::filter_number_missing;
    case Problem::number_odd: return Text::filter_number_odd;
    case Problem::text_missing: return Text::filter_text_missing;
    case Problem::quote_missing: return Text::filter_quote_missing;
    case Problem::slash_missing: return Text::filter_slash_missing;
    case Problem::regex_unknown: return Text::filter_regex;
    case Problem::regex_escape: return Text::filter_regex_escape;
    case Problem::regex_class: return Text::filter_regex_class;
    case Problem::regex_bracket: return Text::filter_regex_bracket;
    case Problem::regex_repeat: return Text::filter_regex_repeat;
    case Problem::regex_group: return Text::filter_regex_group;
    case Problem::regex_large: return Text::filter_regex_large;
    default: return Text::filter_missing;
  }
}

std::string what_is_needed(query::NumberField field, TensorDebugMode mode, bool statistics) {
  const Needed needed = query::needed_for(field);
  if (query::tells_needed(mode, statistics, needed)) return {};
  const std::string word(query::name_of(field));
  switch (needed) {
    case Needed::non_finite_counts:
      return tr(Text::filter_needs_one, {{"word", word}, {"mode", "CONCISE_HEALTH"}, {"other", "FULL_HEALTH"}});
    case Needed::finite_counts: return tr(Text::filter_needs, {{"word", word}, {"mode", "FULL_HEALTH"}});
    case Needed::rank: return tr(Text::filter_needs_one, {{"word", word}, {"mode", "FULL_HEALTH"}, {"other", "SHAPE"}});
    case Needed::statistics: return tr(Text::filter_needs_stats, {{"word", word}});
    default: return tr(Text::filter_needs_any, {{"word", word}});
  }
}

// Adds what rows of this mode do not tell of the numbers that are asked for. `statistics`: they have some.
void collect_missing(const query::Node& node, TensorDebugMode mode, bool statistics, std::string& missing) {
  for (const query::Node& child : node.children) collect_missing(child, mode, statistics, missing);
  if (!node.asks_number()) return;
  const std::string text = what_is_needed(node.number_field, mode, statistics);
  if (!text.empty()) missing.append(missing.empty() ? "" : ", ").append(text);
}

// Have any of the first rows statistics? Those of integers have none.
bool any_statistics(const RowSource& source, query::RowReader& reader) {
  constexpr std::size_t first = 16;
  for (std::size_t i = 0; i < std::min(first, source.size()); ++i) {
    reader.begin(source.event(i));
    if (const auto* const record = reader.record(); record != nullptr && record->facts.statistics) return true;
  }
  return false;
}

}  // namespace

std::string filter_error_text(const query::Error& error) {
  switch (error.problem) {
    case Problem::no_field: return tr(Text::filter_no_field, {{"name", error.name}, {"nearest", error.nearest}});
    case Problem::no_number: return tr(Text::filter_no_number, {{"name", error.name}, {"nearest", error.nearest}});
    case Problem::too_many: return tr(Text::filter_too_many, {{"n", query::most_conditions}});
    default: return tr(text_of(error.problem));
  }
}

std::string RowFilter::missing_facts() const {
  if (everything_ || source_.size() == 0) return {};
  query::RowReader reader(index_.run());
  reader.begin(source_.event(0));
  const auto* const first = reader.record();
  if (first == nullptr) return {};
  const auto mode = static_cast<TensorDebugMode>(first->mode);
  std::string missing;
  collect_missing(query_.root, mode, any_statistics(source_, reader), missing);
  return missing.empty() ? missing : tr(Text::filter_has, {{"needs", missing}, {"mode", debug_mode_name(mode)}});
}

}  // namespace nanlens::viewer
