#include "format.hpp"

#include <cmath>
#include <cstdio>
#include <ctime>

#include "engine/run_index.hpp"

namespace nanlens::viewer {

namespace {

constexpr const char* narrow_space = "\u00a0";

template <class... Args>
std::string print(const char* pattern, Args... args) {
  char text[64];
  std::snprintf(text, sizeof text, pattern, args...);
  return text;
}

// Three significant digits.
std::string three_digits(double value) {
  if (value < 10) return print("%.2f", value);
  if (value < 100) return print("%.1f", value);
  return print("%.0f", value);
}

std::string with_unit(double n) {
  const char* const units[] = {"k", "M", "G", "T"};
  double value = n / 1e3;
  std::size_t unit = 0;
  for (; value >= 999.5 && unit + 1 < std::size(units); ++unit) value /= 1e3;
  return (unit == 0 ? print("%.0f", value) : three_digits(value)) + narrow_space + units[unit];
}

}  // namespace

std::string format_count(double n) {
  if (n >= 1e7) return with_unit(n);
  std::string text = print("%.0f", n);
  for (std::size_t i = text.size(); i > 3;) text.insert(i -= 3, 1, ',');
  return text;
}

std::string format_short_count(double n) { return n >= 1e5 ? with_unit(n) : format_count(n); }

std::string format_bytes(double n) {
  if (n < 1000) return print("%.0f", n) + narrow_space + "B";
  const char* const units[] = {"kB", "MB", "GB", "TB"};
  double value = n / 1e3;
  std::size_t unit = 0;
  for (; value >= 999.5 && unit + 1 < std::size(units); ++unit) value /= 1e3;
  return (value < 10 && unit > 0 ? print("%.1f", value) : print("%.0f", value)) + narrow_space + units[unit];
}

std::string format_time(double seconds) {
  const double s = std::fabs(seconds);
  std::string text = seconds < 0 ? "\u2212" : "+";
  const auto minutes = static_cast<long>(s / 60);
  if (s < 60)
    text.append(print("%.3f", s)).append(narrow_space).append("s");
  else if (minutes < 60)
    text.append(print("%ld:%04.1f", minutes, s - 60.0 * static_cast<double>(minutes)));
  else
    text.append(print("%ld:%02ld:%02ld", minutes / 60, minutes % 60, static_cast<long>(s) % 60));
  return text;
}

std::string format_duration(double seconds) {
  if (seconds < 1e-6) return three_digits(seconds * 1e9) + narrow_space + "ns";
  if (seconds < 1e-3) return three_digits(seconds * 1e6) + narrow_space + "µs";
  if (seconds < 1) return three_digits(seconds * 1e3) + narrow_space + "ms";
  return three_digits(seconds) + narrow_space + "s";
}

std::string format_wall_time(double seconds) {
  const auto whole = static_cast<std::time_t>(seconds);
  std::tm local{};
  localtime_r(&whole, &local);
  char text[48];
  const std::size_t n = std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &local);
  return std::string(text, n) + print(".%03d", static_cast<int>((seconds - std::floor(seconds)) * 1000));
}

std::string format_badge(const Badge& badge) {
  const auto tag = [&](const char* name) {
    return std::string(name) + narrow_space + format_short_count(badge.number);
  };
  switch (badge.kind) {
    case BadgeKind::rank: return print("%.0fD", badge.number);
    case BadgeKind::size: return badge.number == 0 ? "0 elements" : format_short_count(badge.number);
    case BadgeKind::nan: return tag("NaN");
    case BadgeKind::ninf: return tag("\u2212∞");
    case BadgeKind::pinf: return tag("+∞");
    case BadgeKind::neg: return tag("\u2212");
    case BadgeKind::zero: return tag("0");
    case BadgeKind::pos: return tag("+");
    case BadgeKind::curt: return badge.number != 0 ? "▲ NaN/∞" : "ok";
    default: return badge.text;
  }
}

std::string format_badges(const std::vector<Badge>& badges) {
  std::string text;
  for (const Badge& b : badges) text.append(text.empty() ? "" : "  ").append(format_badge(b));
  return text;
}

std::string initial(const std::string& op_type) {
  const std::string name = stripped_name(op_type);
  std::size_t length = name.empty() ? 0 : 1;
  while (length < name.size() && (static_cast<unsigned char>(name[length]) & 0xc0) == 0x80) ++length;
  return name.substr(0, length);
}

std::string stack_title(const Stack& stack) {
  if (!stack.exists) return {};
  if (stack.execution >= 0) return "Execution #" + std::to_string(stack.execution) + ": " + stack.op_type;
  return "Creation of " + stack.op_name + " (" + stack.op_type + ")";
}

std::string base_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

}  // namespace nanlens::viewer
