/// @file
/// Numbers, sizes and times with the separators and units of the chosen language.
#pragma once

#include <string>

namespace nanlens::viewer {

/// "392,000"; from ten million three digits and a unit: "12.3 M".
std::string format_count(double n);
/// All its digits: "12,345,678".
std::string format_full_count(double n);
/// Shorter, for badges: from 100,000 "392 k".
std::string format_short_count(double n);
/// Powers of 1000: "786 MB".
std::string format_bytes(double n);
/// Since the run's start: "+0.897 s", "+2:03.4", "+1:02:03".
std::string format_time(double seconds);
/// "1.24 ms"
std::string format_duration(double seconds);
/// Seconds since the epoch as local date and time.
std::string format_wall_time(double seconds);
/// An element's value in six digits, the same in every language: "−2.5", "NaN", "−∞".
std::string value_text(double value);

}  // namespace nanlens::viewer
