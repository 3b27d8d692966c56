/// @file
/// Logdirs as TensorFlow writes them, whose graphs make the search for causes work: in any size, for tests that count
/// steps and for benchmarks that time them.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <nanlens/tensor/dtype.hpp>

#include "hostile.hpp"

namespace nanlens::test {

/// Writes graphs, rows and executions, one tick after the other.
class LogdirWriter {
 public:
  explicit LogdirWriter(const std::string& version = "2.21.0") {
    logdir::append_event(files_[logdir::FileKind::metadata], 1.0,
                         logdir::DebugMetadata{version, std::string(logdir::file_version), "abcdef01"});
    graph("root", "", "");
  }
  [[nodiscard]] FileBytes take() { return std::move(files_); }

  /// Ops that follow were created at this line of the program; what the line holds is not on record.
  void line(std::int32_t number) {
    line_ = "line" + std::to_string(number);
    if (files_[logdir::FileKind::source_files].empty())
      put(logdir::FileKind::source_files, logdir::SourceFile{"/home/me/model.py", "", {}});
    put(logdir::FileKind::stack_frames, logdir::StackFrameWithId{line_, logdir::FileLineCol{0, number, 0, "f", ""}});
  }
  void graph(const std::string& id, const std::string& name, const std::string& outer) {
    put(logdir::FileKind::graphs, logdir::DebuggedGraph{id, name, {}, "", "", outer});
  }
  void op(const std::string& graph_id, const std::string& type, const std::string& name,
          std::vector<std::string> inputs = {}, std::int32_t outputs = 1) {
    logdir::GraphOpCreation op;
    op.op_type = type;
    op.op_name = name;
    op.graph_id = graph_id;
    op.input_names = std::move(inputs);
    op.num_outputs = outputs;
    if (!line_.empty()) op.code_location = logdir::CodeLocation{"", {line_}};
    for (std::int32_t i = 0; i < outputs; ++i) op.output_tensor_ids.push_back(++tensors_);
    put(logdir::FileKind::graphs, std::move(op));
  }
  void row(const std::string& graph_id, const std::string& op, bool bad, std::int32_t slot = 0) {
    put(logdir::FileKind::graph_execution_traces,
        logdir::GraphExecutionTrace{graph_id, op, slot, 4, summary(bad), "/device:CPU:0"});
  }
  /// A row with so many of its 100 numbers NaN, negative, zero and positive.
  void row(const std::string& graph_id, const std::string& op, std::array<double, 4> counts) {
    put(logdir::FileKind::graph_execution_traces,
        logdir::GraphExecutionTrace{graph_id, op, 0, 4, summary(counts), "/device:CPU:0"});
  }
  void execution(const std::string& type, std::vector<std::int64_t> inputs, std::vector<std::int64_t> outputs, bool bad,
                 DType dtype = DType::float32) {
    logdir::Execution e;
    e.op_type = type;
    e.num_outputs = static_cast<std::int32_t>(outputs.size());
    e.input_tensor_ids = std::move(inputs);
    e.tensor_debug_mode = 4;
    e.tensor_protos.assign(outputs.size(), summary(bad, dtype));
    e.output_tensor_ids = std::move(outputs);
    put(logdir::FileKind::execution, std::move(e));
  }

 private:
  template <class What>
  void put(logdir::FileKind kind, What what) {
    logdir::append_event(files_[kind], 1e9 + 1e-3 * static_cast<double>(++ticks_), std::move(what));
  }
  // FULL_HEALTH of 100 numbers, three of them NaN.
  static logdir::TensorProto summary(bool bad, DType dtype = DType::float32) {
    return bad ? summary({3, 40, 7, 50}, dtype) : summary({0, 40, 7, 53}, dtype);
  }
  static logdir::TensorProto summary(const std::array<double, 4>& counts, DType dtype = DType::float32) {
    const std::array<double, 11> values = {
        0, -1, static_cast<double>(dtype), 2, 100, 0, 0, counts[0], counts[1], counts[2], counts[3]};
    logdir::TensorProto proto;
    proto.dtype = 2;
    proto.shape = logdir::TensorShapeProto{{{11, ""}}, false};
    proto.tensor_content.assign(reinterpret_cast<const char*>(values.data()), sizeof values);
    return proto;
  }

  FileBytes files_;
  std::uint64_t ticks_ = 0;
  std::int32_t tensors_ = 0;
  std::string line_;  // id of its stack frame
};

/// One call of a function that calls `n` others, which TensorFlow does not record: what comes out of each is bad.
inline FileBytes calls_in_a_call(std::size_t n) {
  LogdirWriter w;
  w.graph("g", "step", "root");
  for (std::size_t i = 0; i < n; ++i) {
    const std::string number = std::to_string(i);
    const std::string inner = "f" + number;
    w.graph(inner, "layer" + number, "g");
    w.op(inner, "Placeholder", "x");
    w.op(inner, "Log", "log", {"x:0"});
    w.op(inner, "Identity", "Identity", {"log:0"});
    w.op(inner, "NoOp", "NoOp");
    w.op("g", "Neg", "use" + number, {"PartitionedCall" + (i == 0 ? "" : "_" + number) + ":0"});
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (const char* const op : {"x", "log"}) w.row("f" + std::to_string(i), op, true);
    w.row("g", "use" + std::to_string(i), true);
  }
  w.execution("__inference_step_1", {}, {1}, false);
  return w.take();
}

/// A sum of `n` tensors, each bad.
inline FileBytes wide_sum(std::size_t n) {
  LogdirWriter w;
  w.graph("g", "step", "root");
  std::vector<std::string> inputs;
  for (std::size_t i = 0; i < n; ++i) {
    w.op("g", "Neg", "part" + std::to_string(i));
    inputs.push_back("part" + std::to_string(i) + ":0");
  }
  w.op("g", "AddN", "sum", inputs);
  for (std::size_t i = 0; i < n; ++i) w.row("g", "part" + std::to_string(i), true);
  w.row("g", "sum", true);
  w.execution("__inference_step_1", {}, {1}, false);
  return w.take();
}

/// A constant that `n` ops take, of which nobody can tell whether it was bad.
inline FileBytes one_constant(std::size_t n) {
  LogdirWriter w;
  for (std::size_t i = 0; i < n; ++i)
    w.execution(i % 2 == 0 ? "OneOp" : "OtherOp", {1}, {static_cast<std::int64_t>(i) + 2}, true);
  return w.take();
}

/// `n` calls, each with a constant of its own, which several ops take.
inline FileBytes constant_of_each_call(std::size_t n) {
  LogdirWriter w;
  w.graph("g", "step", "root");
  w.op("g", "Placeholder", "x");
  for (const char* const op : {"OneOp", "OtherOp", "Log"}) w.op("g", op, op, {"x:0"});
  for (std::size_t i = 0; i < n; ++i) {
    for (const char* const op : {"OneOp", "OtherOp", "Log"}) w.row("g", op, true);
    const auto id = static_cast<std::int64_t>(2 * i) + 1;
    w.execution("__inference_step_1", {id}, {id + 1}, false);
  }
  return w.take();
}

/// A bad tensor that `n` ops take and remove; half of them give integers, which have no rows.
inline FileBytes widely_used(std::size_t n, std::size_t calls = 1) {
  LogdirWriter w;
  w.graph("g", "step", "root");
  w.op("g", "Placeholder", "x");
  for (std::size_t i = 0; i < n; ++i)
    w.op("g", i % 2 == 0 ? "Minimum" : "ArgMax", "taker" + std::to_string(i), {"x:0"});
  for (std::size_t call = 0; call < calls; ++call) {
    w.row("g", "x", true);
    for (std::size_t i = 0; i < n; i += 2) w.row("g", "taker" + std::to_string(i), false);
    w.execution("__inference_step_1", {}, {static_cast<std::int64_t>(call)}, false);
  }
  return w.take();
}

/// `n` branches in one function, each with a bad result.
inline FileBytes many_branches(std::size_t n) {
  LogdirWriter w;
  w.graph("g", "step", "root");
  w.op("g", "Placeholder", "x");
  for (std::size_t i = 0; i < n; ++i) {
    const std::string cond = "cond_" + std::to_string(i + 1);
    w.op("g", "If", cond, {"x:0", "x:0"});
    for (const char* const side : {"true", "false"}) {
      const std::string id = cond + side;
      w.graph(id, cond + "_" + side + "_" + std::to_string(i), "g");
      w.op(id, "Placeholder", "y");
      w.op(id, "Neg", "neg", {"y:0"});
      w.op(id, "Identity", "Identity", {"neg:0"});
      w.op(id, "NoOp", "NoOp");
    }
    w.op("g", "Neg", "use" + std::to_string(i), {cond + ":0"});
  }
  w.row("g", "x", true);
  for (std::size_t i = 0; i < n; ++i) {
    const std::string id = "cond_" + std::to_string(i + 1) + "true";
    w.row(id, "y", true);
    w.row(id, "neg", true);
    w.row("g", "use" + std::to_string(i), true);
  }
  w.execution("__inference_step_1", {}, {1}, false);
  return w.take();
}

/// A graph that runs `n` times in one call, one of whose rows was lost: runs are told apart by repetition.
inline FileBytes uneven_runs(std::size_t n) {
  LogdirWriter w;
  w.graph("g", "step", "root");
  w.op("g", "Placeholder", "x");
  w.op("g", "Neg", "a", {"x:0"});
  w.op("g", "Abs", "b", {"a:0"});
  for (std::size_t i = 0; i < n; ++i) {
    w.row("g", "x", true);
    if (i != 0) w.row("g", "a", true);
    w.row("g", "b", true);
  }
  w.execution("__inference_step_1", {}, {1}, false);
  return w.take();
}

/// `n` graphs, each in the one before, each with a bad row.
inline FileBytes rows_of_nested_graphs(std::size_t n) {
  LogdirWriter w;
  w.graph("g0", "step", "root");
  for (std::size_t i = 0; i < n; ++i) {
    const std::string id = "g" + std::to_string(i);
    if (i != 0) w.graph(id, "inner" + std::to_string(i), "g" + std::to_string(i - 1));
    w.op(id, "Log", "log");
    w.row(id, "log", true);
  }
  w.execution("__inference_step_1", {}, {1}, false);
  return w.take();
}

/// `n` eager ops that give their result the same id, each bad, and as many that take it.
inline FileBytes one_id_again(std::size_t n) {
  LogdirWriter w;
  for (std::size_t i = 0; i < n; ++i) {
    w.execution("Log", {}, {7}, true);
    w.execution("Neg", {7}, {8}, true);
  }
  return w.take();
}

/// One eager op with `n` bad outputs, all of which another takes.
inline FileBytes many_outputs(std::size_t n) {
  LogdirWriter w;
  std::vector<std::int64_t> ids;
  for (std::size_t i = 0; i < n; ++i) ids.push_back(static_cast<std::int64_t>(i));
  w.execution("Split", {}, ids, true);
  w.execution("Pack", ids, {static_cast<std::int64_t>(n)}, true);
  return w.take();
}

/// `n` writes to a variable and `n` reads of another that nothing writes.
inline FileBytes other_variables(std::size_t n) {
  LogdirWriter w;
  w.execution("VarHandleOp", {}, {1}, false);
  w.execution("VarHandleOp", {}, {2}, false);
  for (std::size_t i = 0; i < n; ++i) {
    w.execution("AssignVariableOp", {1, 3}, {}, false);
    w.execution("ReadVariableOp", {2}, {static_cast<std::int64_t>(10 + i)}, true);
  }
  return w.take();
}

/// `n` bad rows of a function that the runtime calls by itself, and what comes out of the iterator.
inline FileBytes input_pipeline(std::size_t n) {
  LogdirWriter w;
  w.graph("g", "Dataset_map", "root");
  w.op("g", "Placeholder", "x");
  w.op("g", "Log", "log", {"x:0"});
  for (std::size_t i = 0; i < n; ++i) {
    w.row("g", "log", true);
    w.execution("IteratorGetNext", {}, {static_cast<std::int64_t>(i)}, true);
  }
  return w.take();
}

/// One result of a nested call whose number claims that there were `n` others before it.
inline FileBytes claimed_calls(std::size_t n) {
  LogdirWriter w;
  w.graph("g", "step", "root");
  for (std::size_t i = 0; i < n; ++i)
    w.op("g", "Neg", "use" + std::to_string(i), {"call" + std::to_string(i) + "x_999999:0"});
  for (std::size_t i = 0; i < n; ++i) w.row("g", "use" + std::to_string(i), true);
  w.execution("__inference_step_1", {}, {1}, false);
  return w.take();
}

struct GraphShape {
  const char* name;
  std::size_t small;
  FileBytes (*files)(std::size_t n);
};

inline const GraphShape graph_shapes[] = {
    {"calls in a call", 200, calls_in_a_call},
    {"inputs of one op", 40, wide_sum},
    {"ops that take one constant", 100, one_constant},
    {"calls with a constant each", 100, constant_of_each_call},
    {"consumers of one tensor", 40, [](std::size_t n) { return widely_used(n); }},
    {"calls of 2,000 consumers", 2, [](std::size_t n) { return widely_used(2'000, n); }},
    {"branches of one function", 40, many_branches},
    {"runs of a graph with a row lost", 400, uneven_runs},
    {"graphs in graphs, with rows", 40, rows_of_nested_graphs},
    {"results by the same id", 100, one_id_again},
    {"outputs of one op", 100, many_outputs},
    {"writes to another variable", 100, other_variables},
    {"rows of an input pipeline", 100, input_pipeline},
    {"calls that are only claimed", 40, claimed_calls},
};

}  // namespace nanlens::test
