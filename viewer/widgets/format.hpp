/// @file
/// Numbers, times and names as the viewer shows them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/protocol.hpp"

namespace nanlens::viewer {

/// "392,000"; from ten million three digits and a unit: "12.3 M".
std::string format_count(double n);
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
/// A badge as it is drawn: "float32", "2D", "1,000", "−∞ 300".
std::string format_badge(const Badge& badge);
/// Plain text of several badges, for tooltips and the clipboard.
std::string format_badges(const std::vector<Badge>& badges);
/// Letter of a timeline box.
std::string initial(const std::string& op_type);
/// What a stack belongs to: "Creation of Log (Log)", "Execution #19: __forward_loss_7"; "" for none.
std::string stack_title(const Stack& stack);
/// File name of a path.
std::string base_name(const std::string& path);

}  // namespace nanlens::viewer
