#include "format.hpp"

#include "engine/badges.hpp"
#include "engine/run_index.hpp"

namespace nanlens::viewer {

namespace {

const char* missing_text(const Badge& badge) {
  switch (static_cast<Missing>(static_cast<int>(badge.number))) {
    case Missing::not_checked: return tr(Text::badge_not_checked);
    case Missing::not_recorded: return tr(Text::badge_not_recorded);
    case Missing::unreadable: break;
  }
  return tr(Text::badge_unreadable);
}

}  // namespace

const char* count_sign(BadgeKind kind) {
  switch (kind) {
    case BadgeKind::nan: return "NaN";
    case BadgeKind::ninf: return "\u2212∞";
    case BadgeKind::pinf: return "+∞";
    case BadgeKind::neg: return "\u2212";
    case BadgeKind::zero: return "0";
    case BadgeKind::pos: return "+";
    default: return "";
  }
}

std::string format_badge(const Badge& badge) {
  if (const char* const sign = count_sign(badge.kind); *sign != '\0')
    return std::string(sign) + "\u00a0" + format_short_count(badge.number);
  switch (badge.kind) {
    case BadgeKind::rank: return format_count(badge.number) + "D";
    case BadgeKind::size: return badge.number == 0 ? tr(Text::badge_empty) : format_short_count(badge.number);
    case BadgeKind::curt: return tr(badge.number != 0 ? Text::badge_bad : Text::badge_ok);
    case BadgeKind::none: return missing_text(badge);
    default: return badge.text;
  }
}

std::string format_badges(const std::vector<Badge>& badges) {
  std::string text;
  for (const Badge& b : badges) text.append(text.empty() ? "" : "  ").append(format_badge(b));
  return text;
}

std::string initial(const std::string& op_type) {
  std::string name = stripped_name(op_type);
  // Hundreds of ops have one library's name before their own: "aten::_softmax".
  if (const std::size_t own = name.rfind("::"); own != std::string::npos)
    if (const std::size_t first = name.find_first_not_of('_', own + 2); first != std::string::npos)
      name.erase(0, first);
  std::size_t length = name.empty() ? 0 : 1;
  while (length < name.size() && (static_cast<unsigned char>(name[length]) & 0xc0) == 0x80) ++length;
  return name.substr(0, length);
}

std::string stack_title(const Stack& stack, Tongue in) {
  if (!stack.exists) return {};
  if (stack.execution >= 0) return tr(in, Text::stack_execution, {{"index", stack.execution}, {"op", stack.op_type}});
  return tr(in, Text::stack_creation, {{"op", stack.op_name}, {"type", stack.op_type}});
}

std::string tensor_text(const std::string& tensor, const std::string& graph) {
  return graph.empty() ? tensor : tr(Text::tensor_in_graph, {{"tensor", tensor}, {"graph", graph}});
}

const char* class_text(EventClass event_class) {
  switch (event_class) {
    case EventClass::clean: return tr(Text::class_clean);
    case EventClass::killer: return tr(Text::class_killer);
    case EventClass::producer: return tr(Text::class_producer);
    case EventClass::propagator: return tr(Text::class_propagator);
    case EventClass::relay: return tr(Text::class_relay);
    case EventClass::source: return tr(Text::class_source);
    case EventClass::unknown: return tr(Text::class_unknown);
    case EventClass::expected: break;
  }
  return tr(Text::class_expected);
}

std::string device_name(const std::string& device) {
  const std::size_t at = device.find("device:");
  return at == std::string::npos ? device : device.substr(at + 7);
}

std::string complex_text(const RunInfo& run) {
  return tr(Text::out_complex, {{"n", run.num_bad_complex}, {"first", run.first_bad_complex}});
}

std::string place_text(const std::string& path, std::int32_t line) {
  return line > 0 ? base_name(path) + ":" + std::to_string(line) : std::string();
}

std::string base_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

}  // namespace nanlens::viewer
