// Content that was made to harm: time and memory stay in proportion to the bytes that are there. Work is counted, not
// timed.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include <nanlens/reader/reader.hpp>

#include "../support/allocations.hpp"
#include "../support/diagnostics.hpp"
#include "../support/hostile.hpp"

using namespace nanlens;
using namespace nanlens::reader;
using test::allocations;
using test::mentions;

namespace {

std::uint64_t size_of(const test::FileBytes& files) {
  std::uint64_t size = 0;
  for (const auto& file : files) size += file.second.size();
  return size;
}

struct Opened {
  std::unique_ptr<Logdir> logdir;
  test::CountingStorage* storage;
  Run* run;
};

Opened open(test::FileBytes files, const Progress& progress = {}) {
  auto storage = std::make_unique<test::CountingStorage>(std::move(files));
  Opened opened{nullptr, storage.get(), nullptr};
  opened.logdir = std::make_unique<Logdir>(std::move(storage));
  opened.logdir->update(progress);
  opened.run = opened.logdir->runs().at(0).get();
  return opened;
}

// Some bytes, then zeros up to any size.
class SparseSource final : public ByteSource {
 public:
  SparseSource(std::string bytes, std::uint64_t size) : bytes_(std::move(bytes)), size_(size) {}
  std::uint64_t size() override { return size_; }
  std::size_t read(std::uint64_t offset, unsigned char* to, std::size_t count) override {
    for (std::size_t i = 0; i < count; ++i)
      to[i] = offset + i < bytes_.size() ? static_cast<unsigned char>(bytes_[static_cast<std::size_t>(offset + i)]) : 0;
    read_ += count;
    return count;
  }
  std::uint64_t read_ = 0;

 private:
  std::string bytes_;
  std::uint64_t size_;
};

std::string header_of(std::uint64_t length) {
  unsigned char header[logdir::record_header_bytes];
  logdir::write_record_header(header, length);
  return {reinterpret_cast<const char*>(header), sizeof header};
}

}  // namespace

TEST_CASE("headers that overlap are not checked again and again") {
  std::uint64_t per_byte[2];
  for (const std::size_t k : {std::size_t{0}, std::size_t{1}}) {
    const test::FileBytes files = test::overlapping_headers(k == 0 ? 1'000 : 100'000);
    const Opened opened = open(files);
    per_byte[k] = opened.storage->bytes_read / size_of(files);
    CHECK(opened.run->num_executions() == 0);
    CHECK(mentions(opened.run->diagnostics(), "damaged"));
  }
  CHECK(per_byte[0] <= 2 * limits::checked_bytes_per_byte + limits::checked_bytes_of_any_file / 24'000);
  CHECK(per_byte[1] <= 2 * limits::checked_bytes_per_byte);
}

TEST_CASE("the search for the next record can be stopped, and goes on where it was") {
  test::FileBytes files = test::hostile_set();
  std::string& bytes = files[logdir::FileKind::execution];
  bytes.assign(std::size_t{32} << 20, '\7');
  logdir::append_event(bytes, 1.0, test::bad_execution(1));
  int asked = 0;
  const Opened opened = open(files, [&](std::uint64_t, std::uint64_t) { return ++asked < 3; });
  CHECK(asked == 3);
  CHECK(opened.run->num_executions() == 0);
  const std::uint64_t before = opened.storage->bytes_read;
  CHECK(before < bytes.size() / 2);
  opened.logdir->update();
  CHECK(opened.run->num_executions() == 1);
  CHECK(opened.storage->bytes_read <= 2 * size_of(files) + 3 * RecordFile::scan_window);
}

TEST_CASE("a record behind damage that is not complete yet is found when it is") {
  const std::string damage(100, '\7');
  std::string record;
  logdir::append_event(record, 1.0, test::bad_execution(1));
  auto storage = std::make_unique<MemoryStorage>();
  MemoryStorage& growing = *storage;
  const std::string name = "tfdbg_events.0000000001.host.";
  growing.put(name + "metadata", test::hostile_set()[logdir::FileKind::metadata]);
  for (const char* kind : {"source_files", "stack_frames", "graphs", "graph_execution_traces"})
    growing.put(name + kind, "");
  growing.put(name + "execution", damage + record.substr(0, 40));
  Logdir logdir(std::move(storage));
  logdir.update();
  CHECK(logdir.runs()[0]->num_executions() == 0);
  growing.append(name + "execution", record.substr(40) + record);
  logdir.update();
  CHECK(logdir.runs()[0]->num_executions() == 2);
}

TEST_CASE("a record behind damage is found when it is complete, though one before it never will be") {
  std::string record;
  logdir::append_event(record, 1.0, test::bad_execution(1));
  const std::string bytes = std::string(100, '\7') + header_of(1 << 20) + std::string(20, '\7') + record + record;
  for (std::size_t cut = 100; cut < bytes.size() - record.size(); cut += 7) {
    CAPTURE(cut);
    std::vector<std::uint64_t> seen;
    RecordScanner scanner;
    for (const std::size_t size : {cut, bytes.size()}) {
      RecordFile file("records", std::make_unique<MemorySource>(bytes.substr(0, size)));
      scanner.scan(
          file, size, [&](std::uint64_t at, Bytes) { seen.push_back(at); }, [](const ScanFault&) {},
          [](std::uint64_t) { return true; });
    }
    CHECK(seen == std::vector<std::uint64_t>{bytes.size() - 2 * record.size(), bytes.size() - record.size()});
  }
}

TEST_CASE("sizes that are only claimed cost nothing") {
  int records = 0;
  std::vector<ScanFault> gaps;
  const auto scan = [&](std::uint64_t claimed, std::uint64_t size) {
    auto source = std::make_unique<SparseSource>(header_of(claimed), size);
    SparseSource& sparse = *source;
    RecordFile file("sparse", std::move(source));
    RecordScanner scanner;
    allocations.restart();
    const std::size_t before = allocations.in_use;
    int asked = 0;
    scanner.scan(
        file, size, [&](std::uint64_t, Bytes) { ++records; }, [&](const ScanFault& gap) { gaps.push_back(gap); },
        [&](std::uint64_t) { return ++asked < 3; });
    CHECK(allocations.peak - before < 4 * RecordFile::scan_window);
    CHECK(sparse.read_ < 8 * RecordFile::scan_window);
    return words(scanner.tail_fault());
  };
  CHECK(scan(std::uint64_t{300} << 30, (std::uint64_t{300} << 30) + logdir::record_overhead).empty());
  REQUIRE(gaps.size() == 1);
  CHECK(gaps[0].offset == 0);
  CHECK(words(gaps[0].what).find("more than") != std::string::npos);
  CHECK(scan(std::uint64_t{1} << 40, std::uint64_t{1} << 42).find("within a record") != std::string::npos);
  CHECK(scan((std::uint64_t{1} << 40) - 17, std::uint64_t{1} << 42).find("1 TiB") != std::string::npos);
  CHECK(scan(~std::uint64_t{0}, std::uint64_t{1} << 42).find("within a record") != std::string::npos);
  CHECK(records == 0);
}

TEST_CASE("many empty elements take memory for as many as are read, and are told") {
  for (const std::size_t n : {std::size_t{1'000}, std::size_t{3'000'000}}) {
    test::FileBytes files = test::empty_elements(n);
    const std::uint64_t size = size_of(files);
    allocations.restart();
    const std::size_t before = allocations.in_use;
    const Opened opened = open(std::move(files));
    (void)opened.run->execution(0);
    (void)opened.run->source_lines(0);
    CHECK(allocations.peak - before < (std::size_t{112} << 20) + 4 * size);
    CHECK(mentions(opened.run->diagnostics(), "tensors or more") == (n > limits::elements));
    CHECK(mentions(opened.run->diagnostics(), "lines or more") == (n > limits::texts));
    CHECK(opened.run->num_executions() == 1);
    CHECK(opened.run->execution(0)->event.tensor_protos.size() == std::min(n, limits::elements));
  }
}

TEST_CASE("tensors of more dimensions or listed values than are read: nothing is said of them, and that is told") {
  logdir::TensorProto proto;
  proto.dtype = static_cast<std::int32_t>(DType::float16);
  proto.half_val = {0x7e00};  // NaN
  SUBCASE("as many as are read") { proto.shape = logdir::TensorShapeProto{{{1, ""}}, false}; }
  SUBCASE("dimensions") {
    proto.shape = logdir::TensorShapeProto{{}, false};
    proto.shape->dims.assign(limits::dimensions + 1, {1, ""});
  }
  SUBCASE("values") {
    proto.half_val.assign(limits::listed_values + 1, 0);
    proto.half_val.back() = 0x7e00;
    proto.shape = logdir::TensorShapeProto{{{static_cast<std::int64_t>(proto.half_val.size()), ""}}, false};
  }
  constexpr auto full_tensor = static_cast<std::int32_t>(TensorDebugMode::full_tensor);
  const bool all_read = proto.half_val.size() == 1 && proto.shape->dims.size() == 1;
  test::FileBytes files = test::hostile_set();
  logdir::append_event(files[logdir::FileKind::graph_execution_traces], 1.0,
                       logdir::GraphExecutionTrace{"g", "op", 0, full_tensor, proto, ""});
  logdir::Execution e;
  e.op_type = "Log";
  e.num_outputs = 1;
  e.tensor_debug_mode = full_tensor;
  e.tensor_protos = {proto};
  logdir::append_event(files[logdir::FileKind::execution], 1.0, e);
  const Opened opened = open(files);
  CHECK(opened.run->num_traces() == 1);
  CHECK(opened.run->alerts().size() == (all_read ? 2 : 0));
  const auto list = opened.run->diagnostics();
  CHECK(std::count_if(list.begin(), list.end(), [](const Diagnostic& d) {
          return d.message().find("nothing is known of it") != std::string::npos;
        }) == (all_read ? 0 : 2));
}

TEST_CASE("a list of tensor ids that ends within a number: no execution from the start, and that is told") {
  using Event = logdir::tags::DebugEvent;
  using Tag = logdir::tags::Execution;
  for (const Tag list : {Tag::input_tensor_ids, Tag::output_tensor_ids, Tag::output_tensor_device_ids}) {
    test::FileBytes files = test::hostile_set();
    for (const std::string_view ids : {"\x05", "\x85"})
      logdir::append_record_of(files[logdir::FileKind::execution], [&](logdir::WireWriter& w) {
        w.field(Event::wall_time, 1.0);
        w.message(Event::execution, [&](logdir::WireWriter& m) {
          m.field(Tag::op_type, std::string_view("Log"));
          m.element(list, ids);
        });
      });
    const Opened opened = open(files);
    REQUIRE(opened.run->num_executions() == 1);
    ExecutionLinks links;
    CHECK(opened.run->execution_links(0, links));
    CHECK(opened.run->execution(0).has_value());
    CHECK(opened.run->diagnostics().size() == 1);
  }
}

TEST_CASE("a metadata file without end, file sets without end: what is not read is told") {
  test::FileBytes files = test::hostile_set();
  std::string& metadata = files[logdir::FileKind::metadata];
  const std::string record = metadata;
  while (metadata.size() <= limits::metadata_bytes) metadata += record;
  CHECK(mentions(open(files).run->diagnostics(), "metadata file is not read beyond"));

  for (const std::size_t n : {limits::file_sets, limits::file_sets + 1}) {
    auto storage = std::make_unique<MemoryStorage>();
    for (std::size_t i = 0; i < n; ++i) storage->put("tfdbg_events." + std::to_string(i) + ".host.metadata", record);
    Logdir logdir(std::move(storage));
    logdir.update();
    CHECK((words(logdir.fault()).find("more than 4096 file sets") != std::string::npos) == (n > limits::file_sets));
    REQUIRE(logdir.runs().size() == 1);
    CHECK(logdir.runs()[0]->num_sets() == Locator::max_sets);
    CHECK(mentions(logdir.runs()[0]->diagnostics(), "more than 256 file sets"));
  }
}

TEST_CASE("faults without end are counted, and the first are listed") {
  test::FileBytes files = test::hostile_set();
  for (std::size_t i = 0; i < Diagnostics::limit + 5; ++i)
    logdir::append_event(files[logdir::FileKind::execution], 1.0, test::bad_execution(1));
  std::string& bytes = files[logdir::FileKind::execution];
  for (std::size_t at = 0; at + logdir::record_overhead < bytes.size();) {
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data() + at, sizeof length);
    at += static_cast<std::size_t>(length) + logdir::record_overhead;
    bytes[at - 1] = static_cast<char>(bytes[at - 1] ^ 1);  // the payload's checksum
  }
  const auto list = open(files).run->diagnostics();
  CHECK(list.size() == Diagnostics::limit + 1);
  CHECK(list.back().message() == "5 further faults are not listed");
}

TEST_CASE("the outputs of a wide execution are read once for all its alerts") {
  const Opened opened = open(test::wide_execution(20'000));
  REQUIRE(opened.run->alerts().size() == 20'000);
  std::size_t last = 0;
  (void)opened.run->alert(opened.run->alerts()[0]);
  const std::uint64_t before = opened.storage->bytes_read;
  allocations.restart();
  for (const AlertRef& ref : opened.run->alerts()) {
    const auto alert = opened.run->alert(ref);
    REQUIRE(alert);
    last = static_cast<std::size_t>(alert->output_slot);
  }
  CHECK(last == 19'999);
  CHECK(opened.storage->bytes_read == before);
  CHECK(allocations.count < 100);
}

TEST_CASE("graphs that nest without end") {
  const Opened opened = open(test::nested_graphs(20'000));
  const auto& table = opened.run->definitions();
  REQUIRE(table.graphs().size() == 20'000);
  CHECK(table.graph_ids(19'999).size() == limits::graph_nesting);
  CHECK(table.graph_ids(100).size() == 101);
  CHECK(table.graph_ids(100).front() == "g0");
  CHECK(table.too_deep().size() == 20'000 - limits::graph_nesting);
  CHECK(mentions(opened.run->diagnostics(), "nested deeper"));
}

TEST_CASE("times that are none: everything has an order, and no row a call by them") {
  const Opened opened = open(test::times_without_order(3'000));
  const auto& alerts = opened.run->alerts();
  REQUIRE(alerts.size() == 3'000);
  for (std::size_t i = 1; i < alerts.size(); ++i) CHECK_FALSE(earlier(alerts[i].wall_time, alerts[i - 1].wall_time));
  CHECK(std::isnan(alerts.back().wall_time));

  const double nan = std::numeric_limits<double>::quiet_NaN();
  test::FileBytes files = test::hostile_set();
  logdir::Execution call = test::bad_execution(1);
  call.op_type = "__inference_step_1";
  for (const double time : {2.0, nan, 1.0}) logdir::append_event(files[logdir::FileKind::execution], time, call);
  for (const double time : {nan, 0.5, 1.5, 2.5})
    logdir::append_event(files[logdir::FileKind::graph_execution_traces], time,
                         logdir::GraphExecutionTrace{"g", "op", 0, 2, test::bad_curt_summary(), ""});
  const Opened rows = open(files);
  CHECK(rows.run->trace_execution(0) == none);
  CHECK(rows.run->trace_execution(1) == 2);
  CHECK(rows.run->trace_execution(2) == 0);
  CHECK(rows.run->trace_execution(3) == none);
}

TEST_CASE("names too long to keep: the event is passed over, and that is told") {
  for (const std::size_t length : {limits::name_bytes, limits::name_bytes + 1}) {
    const Opened opened = open(test::long_names(3, length));
    CHECK(opened.run->num_traces() == (length <= limits::name_bytes ? 3 : 0));
    CHECK(mentions(opened.run->diagnostics(), "a name of") == (length > limits::name_bytes));
    for (const auto& d : opened.run->diagnostics()) CHECK(d.message().size() < 1'000);
  }
}

TEST_CASE("numbers that no summary can hold tell nothing") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double wrong : {nan, -1.0, 1e300, std::numeric_limits<double>::infinity()}) {
    std::array<double, 11> values = {1, -1, 1, 2, 100, 0, 0, wrong, 40, 7, 53};
    logdir::TensorProto proto;
    proto.dtype = 2;
    proto.shape = logdir::TensorShapeProto{{{11, ""}}, false};
    proto.tensor_content.assign(reinterpret_cast<const char*>(values.data()), sizeof values);
    const std::string bytes = logdir::encoded(proto);
    const auto health = tensor_health(TensorDebugMode::full_health,
                                      {reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()});
    CHECK(health.flags == 0);
    CHECK(health.num_nan == -1);
  }
}

TEST_CASE("where memory ends, that is a fault like others") {
  const test::FileBytes files = test::times_without_order(200);
  for (std::size_t n = 1; n < 400; n += 7) {
    auto storage = std::make_unique<test::CountingStorage>(files);
    Logdir logdir(std::move(storage));
    allocations.restart();
    allocations.fail_at = n;
    bool threw = false;  // a check allocates itself
    try {
      logdir.update();
    } catch (...) {
      threw = true;
    }
    allocations.fail_at = 0;
    CHECK_FALSE(threw);
    CHECK_NOTHROW(logdir.update());
    if (logdir.runs().empty()) {
      CHECK(words(logdir.fault()).find("memory") != std::string::npos);
      continue;
    }
    Run& run = *logdir.runs()[0];
    const auto diagnostics = run.diagnostics();
    CHECK((run.num_executions() == 200 || mentions(diagnostics, "memory")));
    for (std::size_t i = 0; i < run.num_executions(); ++i) CHECK(run.execution(i));
  }
}

TEST_CASE("nothing can be read to nowhere") {
  MemorySource source("bytes");
  CHECK(source.read(0, nullptr, 0) == 0);
}
