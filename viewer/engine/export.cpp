#include "export.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <span>
#include <utility>

#include "badges.hpp"
#include "texts/utf8.hpp"

namespace nanlens::viewer {

namespace {

constexpr std::array counted = {BadgeKind::size, BadgeKind::nan,  BadgeKind::ninf, BadgeKind::pinf,
                                BadgeKind::neg,  BadgeKind::zero, BadgeKind::pos};

std::string shortest(double value) {
  if (!std::isfinite(value)) return {};
  char text[32];
  const auto [end, error] = std::to_chars(text, text + sizeof text, value);
  return error == std::errc{} ? std::string(text, end) : std::string();
}

std::string quoted_for_json(const std::string& text) {
  constexpr char digits[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20) {
      out.append("\\u00").append(1, digits[byte >> 4]).append(1, digits[byte & 15]);
    } else {
      out += c;
    }
  }
  return out + '"';
}

// Quotes double, and a field with a comma, quote or line break stands in quotes (RFC 4180).
std::string quoted_for_csv(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out.append(c == '"' ? 2 : 1, c);
  return out + '"';
}

struct Field {
  const char* name;
  std::string value;
  bool number;  ///< an empty one is null
};

std::string line_of(std::span<const Field> fields, bool csv) {
  std::string out = csv ? "" : "{";
  for (const Field& f : fields) {
    if (&f != fields.data()) out += csv ? "," : ", ";
    if (csv) {
      out += quoted_for_csv(valid_utf8(f.value));
      continue;
    }
    out.append("\"").append(f.name).append("\": ");
    out += !f.number ? quoted_for_json(valid_utf8(f.value)) : f.value.empty() ? "null" : f.value;
  }
  return csv ? out : out + "}";
}

std::string names_of(std::span<const Field> fields) {
  std::string out;
  for (const Field& f : fields) out.append(&f == fields.data() ? "" : ",").append(f.name);
  return out;
}

// A count that the badges leave out is 0 if they count at all; else it is unknown.
std::string count_of(const std::vector<Badge>& badges, BadgeKind kind) {
  if (const Badge* b = find_badge(badges, kind)) return shortest(b->number);
  const bool counts = std::any_of(badges.begin(), badges.end(),
                                  [](const Badge& b) { return b.kind >= BadgeKind::nan && b.kind <= BadgeKind::pos; });
  return counts && kind != BadgeKind::size ? "0" : "";
}

std::string index_of(std::int64_t index) { return index < 0 ? "" : std::to_string(index); }

std::vector<Field> fields_of(const Row& row) {
  std::vector<Field> fields = {{"row", std::to_string(row.index), true},
                               {"op_name", row.op_name, false},
                               {"output_slot", std::to_string(row.slot), true},
                               {"op_type", row.op_type, false},
                               {"graph_id", row.graph_id, false},
                               {"graph_name", row.graph_name, false},
                               {"execution", index_of(row.execution), true},
                               {"time", shortest(row.time), true},
                               {"device", row.device, false},
                               {"bad", row.bad ? "true" : "false", true},
                               {"class", causes::class_name(row.event_class), false}};
  const Badge* const dtype = find_badge(row.badges, BadgeKind::dtype);
  const Badge* const rank = find_badge(row.badges, BadgeKind::rank);
  const Badge* const shape = find_badge(row.badges, BadgeKind::shape);
  fields.push_back({"dtype", dtype == nullptr ? "" : dtype->text, false});
  fields.push_back({"rank", rank == nullptr ? "" : shortest(rank->number), true});
  fields.push_back({"shape", shape == nullptr ? "" : shape->text, false});
  for (const BadgeKind kind : counted) fields.push_back({badge_kind_name(kind), count_of(row.badges, kind), true});
  return fields;
}

std::vector<Field> fields_of(const AlertLine& line) {
  std::vector<Field> fields = {{"alert", index_of(line.index), true},
                               {"op_name", line.op_name, false},
                               {"output_slot", std::to_string(line.output_slot), true},
                               {"op_type", line.op_type, false},
                               {"graph_name", line.graph_name, false},
                               {"row", index_of(line.trace), true},
                               {"execution", index_of(line.call), true},
                               {"class", causes::class_name(line.event_class), false}};
  for (const BadgeKind kind : {BadgeKind::nan, BadgeKind::ninf, BadgeKind::pinf})
    fields.push_back({badge_kind_name(kind), count_of(line.badges, kind), true});
  return fields;
}

}  // namespace

std::string row_text(const Row& row, bool csv) { return line_of(fields_of(row), csv); }
std::string alert_text(const AlertLine& line, bool csv) { return line_of(fields_of(line), csv); }

Exported ListExport::step(RowFilter& rows, AlertList& alerts, std::chrono::steady_clock::time_point deadline) {
  constexpr std::size_t enough = std::size_t{1} << 20;
  const bool of_rows = what_ == "rows";
  Exported part;
  part.what = what_;
  part.csv = csv_;
  part.first = !indices_;
  if (!indices_) {
    indices_ = of_rows ? rows.shown() : alerts.all();
    if (csv_) part.text = (of_rows ? names_of(fields_of(Row{})) : names_of(fields_of(AlertLine{}))) + "\n";
  }
  while (next_ < indices_->size() && part.text.size() < enough && std::chrono::steady_clock::now() < deadline) {
    const std::uint32_t index = (*indices_)[next_];
    part.text += of_rows ? row_text(rows.describe(index), csv_) : alert_text(alerts.describe(index), csv_);
    part.text += '\n';
    ++next_;
  }
  part.lines = next_;
  part.total = indices_->size();
  part.complete = next_ >= indices_->size();
  return part;
}

std::string tensor_in_name(const Focus& focus, std::int32_t input) {
  const bool is_row = focus.trace >= 0;
  const std::string event =
      is_row ? "row" + std::to_string(focus.trace) : "execution" + std::to_string(focus.execution);
  if (input >= 0) return event + "-input" + std::to_string(input);
  return event + "-output" + (is_row ? "" : std::to_string(std::max(focus.slot, 0)));
}

Exported whole_report(std::string text) {
  Exported part;
  part.what = "report";
  part.first = part.complete = true;
  part.lines = part.total = static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
  part.text = std::move(text);
  return part;
}

}  // namespace nanlens::viewer
