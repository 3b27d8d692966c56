// TensorFlow's own DebugEventsWriter on the same trace: `tf_writer DIRECTORY`. Prints JSON lines like recording.cpp.
// Built against the header and the library that come with the TensorFlow wheel.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>

#include "tensorflow/core/protobuf/debug_event.pb.h"
#include "tensorflow/core/util/debug_events_writer.h"

namespace {

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec); };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

tensorflow::GraphExecutionTrace* new_trace() {
  auto* const trace = new tensorflow::GraphExecutionTrace;
  trace->set_tfdbg_context_id("graph-id");
  trace->set_op_name("add");
  trace->set_tensor_debug_mode(tensorflow::FULL_HEALTH);
  auto* const proto = trace->mutable_tensor_proto();
  proto->set_dtype(tensorflow::DT_DOUBLE);
  proto->mutable_tensor_shape()->add_dim()->set_size(11);
  const double values[11] = {1, -1, 1, 1, 1, 0, 0, 0, 0, 0, 1};
  proto->set_tensor_content(reinterpret_cast<const char*>(values), sizeof values);
  trace->set_device_name("/device:CPU:0");
  return trace;
}

void measure(const std::string& name, const std::string& directory, int ring) {
  constexpr int events = 200'000;
  double wall_ns = 1e18;
  double cpu_ns = 1e18;
  for (int round = 0; round < 5; ++round) {
    const std::string root = directory + "/" + name + std::to_string(round);
    std::filesystem::remove_all(root);
    auto* const writer = tensorflow::tfdbg::DebugEventsWriter::GetDebugEventsWriter(root, "run", ring);
    if (!writer->Init().ok()) std::exit(1);
    const double cpu = cpu_seconds();
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < events; ++i)
      if (!writer->WriteGraphExecutionTrace(new_trace()).ok()) std::exit(1);
    const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (!writer->FlushExecutionFiles().ok()) std::exit(1);
    wall_ns = std::min(wall_ns, 1e9 * wall / events);
    cpu_ns = std::min(cpu_ns, 1e9 * (cpu_seconds() - cpu) / events);
    std::filesystem::remove_all(root);
  }
  std::printf("{\"name\": \"%s\", \"wall_ns\": %.1f, \"cpu_ns\": %.1f}\n", name.c_str(), wall_ns, cpu_ns);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  measure("trace unbuffered", argv[1], -1);
  measure("trace ring", argv[1], 1000);
}
