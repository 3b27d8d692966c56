// Our codec against libprotobuf, with the schema compiled by protoc: the same bytes, both ways.
#include <doctest/doctest.h>

#include <random>

#include <nanlens/logdir/decode.hpp>

#include "tfdbg2.pb.h"

using namespace nanlens::logdir;

namespace {

class RandomEvents {
 public:
  explicit RandomEvents(unsigned seed) : random_(seed) {}

  DebugEvent event() {
    DebugEvent e;
    e.wall_time = number();
    e.step = maybe() ? 0 : integer();
    switch (random_() % 9) {
      case 0: e.what = DebugMetadata{text(), text(), text()}; break;
      case 1: e.what = SourceFile{text(), text(), texts()}; break;
      case 2: {
        StackFrameWithId f{text(), {}};
        if (maybe()) f.file_line_col = FileLineCol{small(), small(), small(), text(), text()};
        e.what = f;
        break;
      }
      case 3: {
        GraphOpCreation op{text(), text(), text(), text(), text(), texts(), small(), {}, {}};
        if (maybe()) op.code_location = CodeLocation{text(), texts()};
        for (int i = 0; i < 3; ++i) op.output_tensor_ids.push_back(small());
        e.what = op;
        break;
      }
      case 4: e.what = DebuggedGraph{text(), text(), texts(), text(), text(), text()}; break;
      case 5: e.what = execution(); break;
      case 6: {
        GraphExecutionTrace t{text(), text(), small(), mode(), {}, text()};
        if (maybe()) t.tensor_proto = tensor();
        e.what = t;
        break;
      }
      case 7: e.what = GraphId{text()}; break;
      default: e.what = DebuggedDevice{text(), small()}; break;
    }
    if (maybe()) e.extension = extension();
    return e;
  }

 private:
  bool maybe() { return random_() % 2 == 0; }
  std::int64_t integer() {
    return static_cast<std::int64_t>(std::uint64_t{random_()} << 32 | random_()) >> (random_() % 64);
  }
  std::int32_t small() { return static_cast<std::int32_t>(random_()) >> (random_() % 32); }
  std::int32_t mode() { return static_cast<std::int32_t>(random_() % 9); }
  double number() {
    constexpr double choices[] = {0.0, -0.0, 1.5, -1e300};
    return maybe() ? choices[random_() % 4] : static_cast<double>(random_()) / 7;
  }
  std::string text() {
    std::string s;
    for (std::size_t n = random_() % 200 < 190 ? random_() % 12 : random_() % 40'000; n > 0; --n)
      s += static_cast<char>('a' + random_() % 26);
    return s;
  }
  std::vector<std::string> texts() {
    std::vector<std::string> list(random_() % 4);
    for (auto& s : list) s = text();
    return list;
  }
  TensorProto tensor() {
    TensorProto t;
    t.dtype = small();
    if (maybe()) {
      t.shape.emplace();
      for (std::size_t i = random_() % 4; i > 0; --i) t.shape->dims.push_back({integer(), maybe() ? "" : text()});
      t.shape->unknown_rank = maybe();
    }
    t.version_number = maybe() ? 0 : small();
    t.tensor_content = text();
    for (std::size_t i = random_() % 3; i > 0; --i) {
      t.float_val.push_back(static_cast<float>(number()));
      t.double_val.push_back(number());
      t.int_val.push_back(small());
      t.string_val.push_back(text());
      t.scomplex_val.push_back(0.5f);
      t.int64_val.push_back(integer());
      t.bool_val.push_back(maybe());
      t.dcomplex_val.push_back(number());
      t.half_val.push_back(static_cast<std::int32_t>(random_() % 65536));
      t.uint32_val.push_back(static_cast<std::uint32_t>(random_()));
      t.uint64_val.push_back(static_cast<std::uint64_t>(integer()));
    }
    t.float8_val = maybe() ? "" : text();
    return t;
  }
  Execution execution() {
    Execution e;
    e.op_type = text();
    e.num_outputs = small();
    e.graph_id = text();
    for (std::size_t i = random_() % 6; i > 0; --i) {
      e.input_tensor_ids.push_back(integer());
      e.output_tensor_ids.push_back(integer());
      e.tensor_protos.push_back(maybe() ? TensorProto{} : tensor());
      e.output_tensor_device_ids.push_back(small());
    }
    e.tensor_debug_mode = mode();
    if (maybe()) e.code_location = CodeLocation{text(), texts()};
    return e;
  }
  NanlensExtension extension() {
    NanlensExtension x;
    x.thread_id = random_();
    x.call_id = maybe() ? 0 : static_cast<std::uint64_t>(integer());
    x.duration_ns = random_();
    x.dropped_traces = maybe() ? 0 : 7;
    x.unread_tensors = maybe() ? 0 : 3;
    x.circular_buffer_size = maybe() ? 0 : 1000;
    x.fp_flags = random_() % 32;
    x.graph_run = random_() % 3;
    for (std::size_t i = random_() % 3; i > 0; --i)
      x.outputs.push_back({number(),
                           number(),
                           number(),
                           {1, 0, static_cast<std::uint32_t>(random_())},
                           static_cast<std::uint64_t>(integer()),
                           maybe(),
                           random_() % 4});
    for (std::size_t i = random_() % 3; i > 0; --i) x.variable_ids.push_back(random_());
    for (std::size_t i = random_() % 3; i > 0; --i) x.read_variable_ids.push_back(random_());
    if (maybe()) x.op_name = text();
    x.hits = random_() % 3;
    x.since_start_ns = maybe() ? 0 : random_();
    if (maybe()) x.left_out = {random_(), random_() % 3, random_()};
    x.hits_at_least = maybe();
    if (maybe())
      x.exchange = {static_cast<ExchangeKind>(random_() % 7),
                    maybe(),
                    maybe(),
                    static_cast<Reduction>(random_() % 4),
                    random_(),
                    random_() % 3,
                    small(),
                    small(),
                    small(),
                    small()};
    for (std::size_t i = random_() % 3; i > 0; --i)
      x.rule_hits.push_back({text(), text(), text(), text(), small(), random_() % 3, maybe()});
    for (std::size_t i = random_() % 3; i > 0; --i) x.input_evidence.push_back(evidence());
    for (std::size_t i = random_() % 3; i > 0; --i) x.output_evidence.push_back(evidence());
    return x;
  }

  TensorEvidence evidence() {
    TensorEvidence e;
    e.origin = static_cast<TensorOrigin>(random_() % 7);
    e.looked_at = maybe();
    e.dtype = small();
    for (std::size_t i = random_() % 3; i > 0; --i) e.shape.push_back(integer());
    for (std::size_t i = random_() % 7; i > 0; --i) e.counts.push_back(random_());
    for (std::size_t i = random_() % 4; i > 0; --i) e.positions.push_back(integer());
    for (std::size_t i = random_() % 4; i > 0; --i) e.values.push_back(number());
    for (std::size_t i = random_() % 3; i > 0; --i) e.axes.push_back({random_(), {integer(), integer()}});
    e.recorded_id = maybe() ? 0 : integer();
    e.recorded_run = maybe() ? 0 : random_();
    if (maybe()) e.content = text();
    if (maybe()) e.name = text();
    e.values_hash = maybe() ? 0 : random_();
    e.written_over = maybe();
    return e;
  }

  std::mt19937 random_;
};

Bytes bytes_of(const std::string& s) { return {reinterpret_cast<const unsigned char*>(s.data()), s.size()}; }

}  // namespace

TEST_CASE("random events: our bytes are libprotobuf's, and its bytes decode to the same event") {
  RandomEvents generator(5);
  for (int i = 0; i < 3000; ++i) {
    const DebugEvent event = generator.event();
    const std::string ours = encoded(event);
    tensorflow::DebugEvent theirs;
    REQUIRE(theirs.ParseFromString(ours));
    REQUIRE(theirs.SerializeAsString() == ours);
    DebugEvent back;
    REQUIRE(decode(bytes_of(ours), back));
    REQUIRE(encoded(back) == ours);
  }
}

TEST_CASE("cut, damaged and random bytes are refused or read, never past the end") {
  RandomEvents generator(6);
  std::mt19937 random(6);
  for (int i = 0; i < 3000; ++i) {
    std::string bytes = encoded(generator.event());
    if (bytes.empty()) continue;
    if (i % 3 == 0)
      bytes.resize(random() % bytes.size());
    else if (i % 3 == 1)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    else
      for (auto& c : bytes) c = static_cast<char>(random());
    const std::string exact(bytes);  // a tight allocation, so that a sanitizer sees a read beyond it
    DebugEvent event;
    const bool ours = decode(bytes_of(exact), event);
    tensorflow::DebugEvent theirs;
    // Other damage may make text that is not UTF-8, or groups, which only one side minds; the sanitizers watch those
    // cases.
    if (i % 3 == 0) REQUIRE(ours == theirs.ParseFromString(exact));
  }
}
