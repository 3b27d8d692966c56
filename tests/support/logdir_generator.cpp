#include "logdir_generator.hpp"

#include <array>
#include <cstring>

#include <nanlens/logdir/debug_event.hpp>

namespace nanlens::test {
namespace {

class Generation {
 public:
  Generation(const GeneratorOptions& options, const FileSink& sink) : options_(options), sink_(sink) {}

  void run() {
    definitions();
    for (int call = 0; call < options_.calls; ++call) one_call(call);
  }

 private:
  using Kind = logdir::FileKind;

  template <class What>
  void put(Kind kind, What what, std::uint64_t call_id = 0) {
    logdir::DebugEvent event;
    event.wall_time = options_.start_time + 1e-6 * static_cast<double>(++ticks_);
    event.what = std::move(what);
    if (call_id != 0) {
      event.extension.emplace();
      event.extension->thread_id = 1;
      event.extension->call_id = call_id;
    }
    bytes_.clear();
    logdir::append_event(bytes_, event);
    sink_(kind, bytes_);
  }

  [[nodiscard]] std::string name(int op) const {
    return (options_.cjk ? "损失层/对数_" : options_.name_prefix) + std::to_string(op);
  }

  [[nodiscard]] std::string id(const std::string& plain) const { return options_.id_prefix + plain; }

  void definitions() {
    put(Kind::metadata, logdir::DebugMetadata{options_.version, std::string(logdir::file_version), options_.run_id});
    const std::string comment = options_.cjk ? "  // 损失函数: 概率为零时取对数 — 損失を計算する" : "";
    put(Kind::source_files,
        logdir::SourceFile{"/project/train.cpp", "host", {"int main() {", "  train();" + comment, "}"}});
    for (int i = 0; i < 4; ++i)
      put(Kind::stack_frames,
          logdir::StackFrameWithId{id("f" + std::to_string(i)), logdir::FileLineCol{0, i + 1, 0, "main", ""}});
    put(Kind::graphs, logdir::DebuggedGraph{id("root"), "", {}, "", "", ""});
    put(Kind::graphs, logdir::DebuggedGraph{id("g1"), "step", {}, "", "", id("root")});
    for (int i = 0; i < options_.ops_per_graph; ++i) {
      logdir::GraphOpCreation op;
      op.op_type = i % 2 == 0 ? "MatMul" : "Log";
      op.op_name = name(i);
      op.graph_name = "step";
      op.graph_id = id("g1");
      if (i > 0) op.input_names = {name(options_.fan_out ? 0 : i - 1) + ":0"};
      op.num_outputs = 1;
      op.code_location = logdir::CodeLocation{"host", {id("f0"), id("f1")}};
      op.output_tensor_ids = {i + 1};
      put(Kind::graphs, std::move(op));
    }
    put(Kind::graphs, logdir::DebuggedDevice{"/device:CPU:0", 1});
  }

  logdir::TensorProto summary(std::int64_t tensor_id, bool bad) const {
    const std::array<double, 11> values = {
        static_cast<double>(tensor_id), -1, 1, 2, 100, 0, 0, bad ? 3.0 : 0.0, 40, 7, bad ? 50.0 : 53.0};
    logdir::TensorProto proto;
    proto.dtype = 2;
    proto.shape = logdir::TensorShapeProto{{{11, ""}}, false};
    proto.tensor_content.assign(reinterpret_cast<const char*>(values.data()), sizeof values);
    return proto;
  }

  void one_call(int call) {
    const auto call_id = static_cast<std::uint64_t>(call) + 1;
    for (int i = 0; i < options_.ops_per_graph; ++i) {
      const bool bad = options_.bad_every > 0 && ++traces_ % options_.bad_every == 0;
      put(Kind::graph_execution_traces,
          logdir::GraphExecutionTrace{id("g1"), name(i), 0, 4, summary(i + 1, bad), "/device:CPU:0"},
          options_.call_ids ? call_id : 0);
    }
    logdir::Execution e;
    e.op_type = "__inference_step_7";
    e.num_outputs = 1;
    e.graph_id = id("g1");
    e.input_tensor_ids = {2 * call};
    e.output_tensor_ids = {2 * call + 1};
    e.tensor_debug_mode = 4;
    e.tensor_protos = {summary(-1, false)};
    e.code_location = logdir::CodeLocation{"host", {id("f0"), id("f2")}};
    e.output_tensor_device_ids = {1};
    put(Kind::execution, e, options_.call_ids ? call_id : 0);
    e.op_type = "AddV2";
    e.graph_id.clear();
    put(Kind::execution, e);
  }

  const GeneratorOptions& options_;
  const FileSink& sink_;
  std::uint64_t ticks_ = 0;
  int traces_ = 0;
  std::string bytes_;
};

}  // namespace

void LogdirGenerator::run() const { Generation(options_, sink_).run(); }

std::string generated_name(logdir::FileKind kind, const std::string& host, std::int64_t seconds) {
  return logdir::file_name(logdir::file_set_stem(seconds, host), kind);
}

std::map<logdir::FileKind, std::string> generated_set(const GeneratorOptions& options) {
  std::map<logdir::FileKind, std::string> files;
  for (std::size_t i = 0; i < logdir::num_file_kinds; ++i) files[static_cast<logdir::FileKind>(i)];
  LogdirGenerator(options, [&](logdir::FileKind kind, const std::string& bytes) { files[kind] += bytes; }).run();
  return files;
}

std::map<std::string, std::string> generated_files(const GeneratorOptions& options, const std::string& stem) {
  std::map<std::string, std::string> files;
  for (auto& [kind, bytes] : generated_set(options)) files[logdir::file_name(stem, kind)] = std::move(bytes);
  return files;
}

}  // namespace nanlens::test
