/// @file
/// File sets that were made to harm, in any size, and sources that count what is read of them: for tests that count
/// work and for benchmarks that time it.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include <nanlens/logdir/debug_event.hpp>
#include <nanlens/logdir/file_set.hpp>
#include <nanlens/reader/storage.hpp>

namespace nanlens::test {

/// Bytes by file of a set.
using FileBytes = std::map<logdir::FileKind, std::string>;

/// A storage whose sources count the bytes that are read.
class CountingStorage final : public reader::Storage {
 public:
  explicit CountingStorage(FileBytes files) {
    for (std::size_t i = 0; i < logdir::num_file_kinds; ++i) {
      const auto kind = static_cast<logdir::FileKind>(i);
      files_[logdir::file_name("tfdbg_events.0000000001.host", kind)] =
          std::make_shared<const std::string>(std::move(files[kind]));
    }
  }
  std::vector<std::string> list(std::string_view) override {
    std::vector<std::string> names;
    for (const auto& file : files_) names.push_back(file.first);
    return names;
  }
  std::unique_ptr<reader::ByteSource> open(const std::string& name, std::string&) override {
    return std::make_unique<Source>(files_.at(name), *this);
  }

  std::uint64_t bytes_read = 0;

 private:
  class Source final : public reader::ByteSource {
   public:
    Source(std::shared_ptr<const std::string> bytes, CountingStorage& storage)
        : memory_(std::move(bytes)), storage_(storage) {}
    std::uint64_t size() override { return memory_.size(); }
    std::size_t read(std::uint64_t offset, unsigned char* to, std::size_t count) override {
      const std::size_t n = memory_.read(offset, to, count);
      storage_.bytes_read += n;
      return n;
    }

   private:
    reader::MemorySource memory_;
    CountingStorage& storage_;
  };
  std::map<std::string, std::shared_ptr<const std::string>> files_;
};

/// A set with its metadata and nothing else.
inline FileBytes hostile_set() {
  FileBytes files;
  logdir::append_event(files[logdir::FileKind::metadata], 1.0,
                       logdir::DebugMetadata{"nanlens-test", std::string(logdir::file_version), "abcdef01"});
  return files;
}

/// A damaged start, then headers with right checksums that each claim all that follows: `n` of them.
inline FileBytes overlapping_headers(std::size_t n) {
  FileBytes files = hostile_set();
  std::string& bytes = files[logdir::FileKind::execution];
  bytes.assign(3, '\7');
  const std::size_t claimed = n * logdir::record_header_bytes;
  for (std::size_t i = 0; i < n; ++i) {
    unsigned char header[logdir::record_header_bytes];
    logdir::write_record_header(header, claimed);
    bytes.append(reinterpret_cast<const char*>(header), sizeof header);
  }
  bytes.resize(2 * claimed + 64, '\0');
  return files;
}

/// An execution with `n` empty tensors, and a source file with `n` empty lines.
inline FileBytes empty_elements(std::size_t n) {
  using Event = logdir::tags::DebugEvent;
  FileBytes files = hostile_set();
  logdir::append_record_of(files[logdir::FileKind::execution], [&](logdir::WireWriter& w) {
    w.field(Event::wall_time, 1.0);
    w.message(Event::execution, [&](logdir::WireWriter& m) {
      m.field(logdir::tags::Execution::op_type, std::string_view("X"));
      for (std::size_t i = 0; i < n; ++i) m.element(logdir::tags::Execution::tensor_protos, "");
    });
  });
  logdir::append_record_of(files[logdir::FileKind::source_files], [&](logdir::WireWriter& w) {
    w.field(Event::wall_time, 1.0);
    w.message(Event::source_file, [&](logdir::WireWriter& m) {
      for (std::size_t i = 0; i < n; ++i) m.element(logdir::tags::SourceFile::lines, "");
    });
  });
  return files;
}

/// `n` graphs, each in the one before.
inline FileBytes nested_graphs(std::size_t n) {
  FileBytes files = hostile_set();
  for (std::size_t i = 0; i < n; ++i)
    logdir::append_event(
        files[logdir::FileKind::graphs], 1.0,
        logdir::DebuggedGraph{
            "g" + std::to_string(i), "", {}, "", "", i == 0 ? std::string() : "g" + std::to_string(i - 1)});
  return files;
}

/// A summary of a tensor with two elements, one of them NaN: CURT_HEALTH.
inline logdir::TensorProto bad_curt_summary() {
  const std::array<double, 2> values = {1, 1};
  logdir::TensorProto proto;
  proto.dtype = 2;
  proto.shape = logdir::TensorShapeProto{{{2, ""}}, false};
  proto.tensor_content.assign(reinterpret_cast<const char*>(values.data()), sizeof values);
  return proto;
}

inline logdir::Execution bad_execution(std::size_t outputs) {
  logdir::Execution e;
  e.op_type = "Log";
  e.num_outputs = static_cast<std::int32_t>(outputs);
  e.tensor_debug_mode = 2;
  e.tensor_protos.assign(outputs, bad_curt_summary());
  return e;
}

/// `n` bad executions whose times are out of order, every third without a time.
inline FileBytes times_without_order(std::size_t n) {
  FileBytes files = hostile_set();
  for (std::size_t i = 0; i < n; ++i)
    logdir::append_event(files[logdir::FileKind::execution],
                         i % 3 == 0 ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>((i * 7919) % n),
                         bad_execution(1));
  return files;
}

/// One execution with `n` bad outputs.
inline FileBytes wide_execution(std::size_t n) {
  FileBytes files = hostile_set();
  logdir::append_event(files[logdir::FileKind::execution], 1.0, bad_execution(n));
  return files;
}

/// One op whose output `n` others read.
inline FileBytes wide_consumers(std::size_t n) {
  FileBytes files = hostile_set();
  std::string& graphs = files[logdir::FileKind::graphs];
  logdir::append_event(graphs, 1.0, logdir::DebuggedGraph{"g", "step", {}, "", "", ""});
  logdir::GraphOpCreation op;
  op.graph_id = "g";
  op.num_outputs = 1;
  op.output_tensor_ids = {1};
  for (std::size_t i = 0; i <= n; ++i) {
    op.op_type = i == 0 ? "Log" : "Neg";
    op.op_name = "op" + std::to_string(i);
    op.input_names.clear();
    if (i > 0) op.input_names = {"op0:0"};
    logdir::append_event(graphs, 1.0, op);
  }
  return files;
}

/// One op with `n` inputs, all of the same op.
inline FileBytes fan_in(std::size_t n) {
  FileBytes files = wide_consumers(1);
  logdir::GraphOpCreation op;
  op.graph_id = "g";
  op.op_type = "AddN";
  op.op_name = "sum";
  op.num_outputs = 1;
  op.input_names.assign(n, "op0:0");
  logdir::append_event(files[logdir::FileKind::graphs], 1.0, op);
  return files;
}

/// A graph, an op and `n` rows of it, each by a name of `length` bytes.
inline FileBytes long_names(std::size_t n, std::size_t length) {
  FileBytes files = hostile_set();
  for (std::size_t i = 0; i < n; ++i) {
    std::string name = std::to_string(i);
    name.resize(length, 'x');
    logdir::append_event(files[logdir::FileKind::graph_execution_traces], 1.0,
                         logdir::GraphExecutionTrace{name, name, 0, 2, bad_curt_summary(), ""});
  }
  return files;
}

}  // namespace nanlens::test
