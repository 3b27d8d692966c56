#include "numbers.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <ctime>

#include "texts.hpp"

namespace nanlens::viewer {

namespace {

template <class... Args>
std::string print(const char* pattern, Args... args) {
  char text[64];
  std::snprintf(text, sizeof text, pattern, args...);
  return text;
}

// With this many decimals; what has more digits than a double tells, as "1e+20".
std::string decimal(double value, int decimals) {
  constexpr double exact = 1e15;
  std::string text = std::fabs(value) < exact ? print("%.*f", decimals, value) : print("%.3g", value);
  if (const std::size_t point = text.find('.'); point != std::string::npos)
    text.replace(point, 1, tr(Text::number_point));
  return text;
}

std::string three_digits(double value) { return decimal(value, value < 10 ? 2 : value < 100 ? 1 : 0); }

struct Scaled {
  double value;
  std::size_t unit;
};

// Divides by 1000 until three digits are left before the point, at most to the fourth unit.
Scaled scaled(double n) {
  Scaled s{n / 1e3, 0};
  for (; s.value >= 999.5 && s.unit < 3; ++s.unit) s.value /= 1e3;
  return s;
}

std::string with_unit(double n) {
  constexpr Text units[] = {Text::unit_k, Text::unit_m, Text::unit_g, Text::unit_t};
  const Scaled s = scaled(n);
  return (s.unit == 0 ? decimal(s.value, 0) : three_digits(s.value)) + tr(units[s.unit]);
}

}  // namespace

std::string format_count(double n) {
  if (!std::isfinite(n)) return decimal(n, 0);
  return n >= 1e7 ? with_unit(n) : format_full_count(n);
}

std::string format_full_count(double n) {
  std::string text = print("%.0f", n);
  for (std::size_t i = text.size(); i > 3;) text.insert(i -= 3, tr(Text::number_group));
  return text;
}

std::string format_short_count(double n) { return n >= 1e5 && std::isfinite(n) ? with_unit(n) : format_count(n); }

std::string format_bytes(double n) {
  if (n < 1000) return decimal(n, 0) + tr(Text::unit_b);
  constexpr Text units[] = {Text::unit_kb, Text::unit_mb, Text::unit_gb, Text::unit_tb};
  const Scaled s = scaled(n);
  return decimal(s.value, s.value < 10 && s.unit > 0 ? 1 : 0) + tr(units[s.unit]);
}

std::string format_time(double seconds) {
  const double s = std::fabs(seconds);
  const std::string sign = seconds < 0 ? "\u2212" : "+";
  constexpr double longest = 1e11;  // some thousand years; a damaged record may tell any time
  if (s < 60 || !(s < longest)) return sign + decimal(s, 3) + tr(Text::unit_s);
  const long long tenths = std::llround(s * 10);  // rounded before it is split, so that no minute has 60.0 seconds
  const long long minutes = tenths / 600;
  const std::string second = print("%02lld", tenths / 10 % 60);
  if (minutes < 60)
    return sign + print("%lld:", minutes) + second + tr(Text::number_point) + print("%lld", tenths % 10);
  return sign + print("%lld:%02lld:", minutes / 60, minutes % 60) + second;
}

std::string format_duration(double seconds) {
  if (seconds < 1e-6) return three_digits(seconds * 1e9) + tr(Text::unit_ns);
  if (seconds < 1e-3) return three_digits(seconds * 1e6) + tr(Text::unit_us);
  if (seconds < 1) return three_digits(seconds * 1e3) + tr(Text::unit_ms);
  return three_digits(seconds) + tr(Text::unit_s);
}

std::string format_wall_time(double seconds) {
  constexpr double last = 1e11;  // whose year has four digits; a damaged record may tell any time
  if (!(std::fabs(seconds) < last)) return decimal(seconds, 3) + tr(Text::unit_s);
  const auto whole = static_cast<std::time_t>(seconds);
  std::tm local{};
  localtime_r(&whole, &local);
  char text[48];
  const std::size_t n = std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &local);
  return std::string(text, n) + print(".%03d", static_cast<int>((seconds - std::floor(seconds)) * 1000));
}

std::string value_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "−∞" : "∞";
  std::array<char, 32> digits{};
  const auto end =
      std::to_chars(digits.data(), digits.data() + digits.size(), std::fabs(value), std::chars_format::general, 6);
  return (std::signbit(value) ? "−" : "") + std::string(digits.data(), end.ptr);
}

}  // namespace nanlens::viewer
