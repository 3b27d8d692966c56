#include "describe.hpp"

#include <ctime>

#include <nanlens/tensor/dtype_name.hpp>

namespace nanlens::report {

namespace {

void add_count(std::string& text, const char* name, double count) {
  if (count <= 0) return;
  if (!text.empty()) text += ", ";
  text += std::string(name) + " ×" + with_separators(static_cast<std::uint64_t>(count));
}

}  // namespace

std::string with_separators(std::uint64_t value) {
  std::string text = std::to_string(value);
  for (std::size_t i = text.size(); i > 3;) text.insert(i -= 3, 1, ',');
  return text;
}

std::string describe_values(std::int32_t mode, const reader::TensorValues& values) {
  if (!values) return {};
  const auto& v = *values;
  const auto dtype = [](double number) {
    return std::string(dtype_name(static_cast<DType>(static_cast<int>(number))));
  };
  std::string counts;
  switch (static_cast<TensorDebugMode>(mode)) {
    case TensorDebugMode::curt_health: return v.size() == 2 ? (v[1] != 0 ? "has NaN or ∞" : "no NaN or ∞") : "";
    case TensorDebugMode::concise_health:
      if (v.size() != 5) return {};
      add_count(counts, "NaN", v[4]);
      add_count(counts, "−∞", v[2]);
      add_count(counts, "+∞", v[3]);
      return "size " + with_separators(static_cast<std::uint64_t>(v[1])) + ": " +
             (counts.empty() ? "no NaN or ∞" : counts);
    case TensorDebugMode::full_health:
      if (v.size() != 11) return {};
      add_count(counts, "NaN", v[7]);
      add_count(counts, "−∞", v[5]);
      add_count(counts, "+∞", v[6]);
      add_count(counts, "−", v[8]);
      add_count(counts, "0", v[9]);
      add_count(counts, "+", v[10]);
      return dtype(v[2]) + " " + std::to_string(static_cast<int>(v[3])) + "D size " +
             with_separators(static_cast<std::uint64_t>(v[4])) + (counts.empty() ? "" : ": " + counts);
    case TensorDebugMode::shape: {
      if (v.size() != 10) return {};
      std::string shape;
      for (std::size_t i = 0; i < static_cast<std::size_t>(v[2]) && i < 6; ++i)
        shape += (shape.empty() ? "" : ",") + std::to_string(static_cast<std::int64_t>(v[4 + i]));
      return dtype(v[1]) + " shape [" + (v[2] > 6 ? "…," : "") + shape + "]";
    }
    default: return {};
  }
}

std::string values_of(reader::Run& run, causes::EventRef event) {
  if (!event.is_execution) {
    const auto detail = run.trace(event.index);
    return detail ? describe_values(detail->event.tensor_debug_mode, detail->debug_tensor_value) : "";
  }
  const auto detail = run.execution(event.index);
  if (!detail || event.slot >= detail->debug_tensor_values.size()) return "";
  return describe_values(detail->event.tensor_debug_mode, detail->debug_tensor_values[event.slot]);
}

std::string describe_tensor(const reader::Alert& alert) {
  if (alert.trace != reader::none) return alert.op_name + ":" + std::to_string(alert.output_slot);
  return alert.op_type + " output " + std::to_string(alert.output_slot);
}

std::string describe_alert(const reader::TensorHealth& health) {
  std::string counts;
  add_count(counts, "NaN", health.num_nan);
  add_count(counts, "−∞", health.num_neg_inf);
  add_count(counts, "+∞", health.num_pos_inf);
  return counts.empty() ? "NaN or ∞" : counts;
}

std::vector<reader::StackFrame> stack_of(reader::Run& run, const reader::Alert& alert) {
  if (alert.trace == reader::none) {
    const auto detail = run.execution(alert.execution);
    return detail ? reader::resolve_stack(run, detail->event.code_location) : std::vector<reader::StackFrame>{};
  }
  const auto op = run.op(run.trace_op(alert.trace));
  return op ? reader::resolve_stack(run, op->event.code_location) : std::vector<reader::StackFrame>{};
}

std::string run_name(const reader::Run& run) {
  const auto seconds = static_cast<std::time_t>(run.starting_wall_time());
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  char time[64];
  std::strftime(time, sizeof time, "%Y-%m-%d %H:%M:%S UTC", &utc);
  std::string hosts;
  for (const auto& host : run.hosts()) hosts += (hosts.empty() ? "" : ", ") + host;
  return (run.id().empty() ? std::string("without an id") : run.id()) + " on " + hosts + ", started " + time;
}

std::vector<std::string> unfinished_words(const reader::Run& run) {
  std::vector<std::string> reasons;
  const std::uint64_t dropped = run.dropped();
  if (dropped > 0)
    reasons.push_back(with_separators(dropped) + (dropped == 1 ? " event" : " events") + " could not be recorded");
  if (run.clean_end() == false)
    reasons.emplace_back("The recording did not end in order: it is still running, or was cut short");
  return reasons;
}

std::string short_function(const std::string& function) {
  const std::size_t parenthesis =
      function.find('(', function.find("operator()") == std::string::npos ? 0 : function.find("operator()") + 10);
  return function.substr(0, parenthesis);
}

std::string describe_frame(const reader::StackFrame& frame) {
  const std::string function = short_function(frame.function);
  return frame.file_path + ":" + std::to_string(frame.line) + (function.empty() ? "" : " in " + function);
}

}  // namespace nanlens::report
