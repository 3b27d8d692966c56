/// @file
/// Badges and names as the viewer shows them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/protocol.hpp"
#include "texts/numbers.hpp"
#include "texts/texts.hpp"

namespace nanlens::viewer {

/// Of which values a badge counts: "NaN", "−∞", …; "" if it counts none.
const char* count_sign(BadgeKind kind);
/// A badge as it is drawn: "float32", "2D", "1,000", "−∞ 300".
std::string format_badge(const Badge& badge);
/// Plain text of several badges, for tooltips and the clipboard.
std::string format_badges(const std::vector<Badge>& badges);
/// Letter of a timeline box.
std::string initial(const std::string& op_type);
/// What a stack belongs to: "Creation of Log (Log)", "Execution #19: __forward_loss_7"; "" for none.
std::string stack_title(const Stack& stack, Tongue in = tongue());
/// "Log:0 in loss"; without a graph the tensor alone.
std::string tensor_text(const std::string& tensor, const std::string& graph);
/// What is said of complex numbers that are bad in a run without alerts.
std::string complex_text(const RunInfo& run);
/// What became of a bad value, in words.
const char* class_text(EventClass event_class);
/// A device without its host and task: "GPU:0".
std::string device_name(const std::string& device);
/// "mnist.cpp:52"; "" without a line.
std::string place_text(const std::string& path, std::int32_t line);
/// File name of a path.
std::string base_name(const std::string& path);

}  // namespace nanlens::viewer
