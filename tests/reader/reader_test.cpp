#include <doctest/doctest.h>

#include <map>

#include <nanlens/reader/reader.hpp>

#include "../support/diagnostics.hpp"
#include "../support/logdir_generator.hpp"

using namespace nanlens;
using namespace nanlens::reader;
using test::generated_set;
using test::GeneratorOptions;
using test::mentions;

namespace {

using Files = std::map<logdir::FileKind, std::string>;

std::unique_ptr<MemoryStorage> stored(const Files& files, const std::string& directory = "",
                                      const std::string& host = "host", std::int64_t seconds = 1,
                                      std::unique_ptr<MemoryStorage> into = nullptr) {
  if (into == nullptr) into = std::make_unique<MemoryStorage>();
  for (const auto& [kind, bytes] : files) into->put(directory + test::generated_name(kind, host, seconds), bytes);
  return into;
}

}  // namespace

TEST_CASE("a generated logdir is read whole") {
  const GeneratorOptions options{.calls = 50, .ops_per_graph = 8, .bad_every = 16};
  Logdir logdir(stored(generated_set(options)));
  CHECK(logdir.update());
  REQUIRE(logdir.runs().size() == 1);
  Run& run = *logdir.runs()[0];
  CHECK(run.id() == "12345678");
  CHECK(run.num_executions() == 100);
  CHECK(run.num_traces() == 400);
  CHECK(run.alerts().size() == 25);
  CHECK(run.diagnostics().empty());
  CHECK(run.clean_end() == false);
  const auto trace = run.trace(9);
  REQUIRE(trace);
  CHECK(trace->event.op_name == "op1");
  CHECK(trace->op_type == "Log");
  CHECK(trace->graph_ids == std::vector<std::string>{"root", "g1"});
  CHECK(trace->execution == 2);
  const auto op = run.op(run.find_op("g1", "op1"));
  REQUIRE(op);
  REQUIRE(op->consumers.size() == 1);
  CHECK(op->consumers[0][0].op_name == "op2");
  const auto frame = run.frame("f1");
  REQUIRE(frame);
  CHECK(frame->file_path == "/project/train.cpp");
  CHECK(source_line(run, *frame) == "  train();");
  CHECK_FALSE(logdir.update());
}

TEST_CASE("traces belong to calls by call id, or else by time") {
  for (const bool ids : {true, false}) {
    Logdir logdir(stored(generated_set({.calls = 5, .ops_per_graph = 3, .call_ids = ids})));
    logdir.update();
    Run& run = *logdir.runs()[0];
    for (std::size_t i = 0; i < run.num_traces(); ++i) CHECK(run.trace_execution(i) == 2 * (i / 3));
  }
}

TEST_CASE("a growing logdir: any cut is read as far as it goes, and the rest later") {
  const Files files = generated_set({.calls = 12, .ops_per_graph = 4, .bad_every = 5, .call_ids = false});
  Logdir whole(stored(files));
  whole.update();
  for (const double part : {0.1, 0.33, 0.5, 0.77, 0.999}) {
    auto storage = std::make_unique<MemoryStorage>();
    MemoryStorage& growing = *storage;
    std::map<logdir::FileKind, std::size_t> cut;
    for (const auto& [kind, bytes] : files) {
      cut[kind] = kind == logdir::FileKind::metadata
                      ? bytes.size()
                      : static_cast<std::size_t>(static_cast<double>(bytes.size()) * part);
      growing.append(test::generated_name(kind), bytes.substr(0, cut[kind]));
    }
    Logdir logdir(std::move(storage));
    logdir.update();
    for (const auto& [kind, bytes] : files) growing.append(test::generated_name(kind), bytes.substr(cut[kind]));
    CHECK(logdir.update());
    Run& run = *logdir.runs()[0];
    Run& expected = *whole.runs()[0];
    REQUIRE(run.num_traces() == expected.num_traces());
    REQUIRE(run.num_executions() == expected.num_executions());
    CHECK(run.alerts().size() == expected.alerts().size());
    for (std::size_t i = 0; i < run.num_traces(); ++i) {
      CHECK(run.trace_execution(i) == expected.trace_execution(i));
      CHECK(run.trace(i)->op_type == expected.trace(i)->op_type);
    }
    CHECK(run.diagnostics().empty());
  }
}

TEST_CASE("reading can be stopped and taken up again") {
  Logdir logdir(stored(generated_set({.calls = 3000, .ops_per_graph = 10})));
  int asked = 0;
  logdir.update([&](std::uint64_t, std::uint64_t) { return ++asked < 2; });
  CHECK(logdir.runs()[0]->num_traces() < 30'000);
  logdir.update();
  CHECK(logdir.runs()[0]->num_traces() == 30'000);
  CHECK(logdir.runs()[0]->num_executions() == 6000);
}

TEST_CASE("damage: every intact record is still there, and every fault has a place") {
  const GeneratorOptions options{.calls = 20, .ops_per_graph = 5};
  const Files files = generated_set(options);
  SUBCASE("a payload") {
    Files bad = files;
    bad[logdir::FileKind::graph_execution_traces][30] ^= 1;
    Logdir logdir(stored(bad));
    logdir.update();
    CHECK(logdir.runs()[0]->num_traces() == 99);
    CHECK(mentions(logdir.runs()[0]->diagnostics(), "checksum"));
  }
  SUBCASE("a header in the middle: the next record is found") {
    Files bad = files;
    std::string& bytes = bad[logdir::FileKind::execution];
    const std::size_t second = logdir::record_overhead +
                               logdir::detail::load_le<std::uint64_t>(reinterpret_cast<unsigned char*>(bytes.data()));
    bytes[second] ^= 0x55;
    Logdir logdir(stored(bad));
    logdir.update();
    CHECK(logdir.runs()[0]->num_executions() == 39);
    const auto diagnostics = logdir.runs()[0]->diagnostics();
    REQUIRE(mentions(diagnostics, "header"));
    CHECK(diagnostics[0].offset == second);
  }
  SUBCASE("a torn tail") {
    Files bad = files;
    std::string& bytes = bad[logdir::FileKind::graph_execution_traces];
    bytes.resize(bytes.size() - 3);
    Logdir logdir(stored(bad));
    logdir.update();
    CHECK(logdir.runs()[0]->num_traces() == 99);
    CHECK(mentions(logdir.runs()[0]->diagnostics(), "ends within a record"));
  }
  SUBCASE("a valid record that is not an event, and one that belongs into another file") {
    Files bad = files;
    logdir::append_record_of(bad[logdir::FileKind::graph_execution_traces],
                             [](logdir::WireWriter& w) { w.raw("\xff\xff\xff"); });
    bad[logdir::FileKind::graphs] += files.at(logdir::FileKind::source_files);
    bad[logdir::FileKind::execution] += files.at(logdir::FileKind::source_files);
    Logdir logdir(stored(bad));
    logdir.update();
    const auto diagnostics = logdir.runs()[0]->diagnostics();
    CHECK(diagnostics.size() == 3);
    CHECK(mentions(diagnostics, "does not belong"));
    CHECK(logdir.runs()[0]->num_traces() == 100);
    CHECK(logdir.runs()[0]->num_executions() == 40);
  }
  SUBCASE("missing files") {
    for (const auto& [kind, bytes] : files) {
      Files rest = files;
      rest.erase(kind);
      Logdir logdir(stored(rest));
      logdir.update();
      REQUIRE(logdir.runs().size() == 1);
      CHECK(mentions(logdir.runs()[0]->diagnostics(), "can't be opened"));
      if (kind != logdir::FileKind::graph_execution_traces) CHECK(logdir.runs()[0]->num_traces() == 100);
    }
  }
  SUBCASE("everything referred to is missing") {
    Files bad = files;
    bad[logdir::FileKind::graphs].clear();
    bad[logdir::FileKind::stack_frames].clear();
    Logdir logdir(stored(bad));
    logdir.update();
    Run& run = *logdir.runs()[0];
    CHECK(run.num_traces() == 100);
    CHECK(run.trace(0)->event.op_name == "op0");
    CHECK(run.trace(0)->op_type.empty());
    const auto diagnostics = run.diagnostics();
    CHECK(mentions(diagnostics, "graph \"g1\""));
    CHECK(mentions(diagnostics, "op \"op4\""));
    CHECK(mentions(diagnostics, "stack frame \"f2\""));
  }
  SUBCASE("duplicates") {
    Files bad = files;
    bad[logdir::FileKind::graphs] += files.at(logdir::FileKind::graphs);
    bad[logdir::FileKind::stack_frames] += files.at(logdir::FileKind::stack_frames);
    Logdir logdir(stored(bad));
    logdir.update();
    CHECK(mentions(logdir.runs()[0]->diagnostics(), "used twice"));
    CHECK(mentions(logdir.runs()[0]->diagnostics(), "created twice"));
    CHECK(logdir.runs()[0]->num_traces() == 100);
  }
  SUBCASE("a damaged source file keeps its place, so that later frames still point at the right text") {
    Files bad = files;
    std::string more;
    logdir::DebugEvent event;
    event.what = logdir::SourceFile{"/project/second.cpp", "host", {"x"}};
    logdir::append_event(more, event);
    bad[logdir::FileKind::source_files][20] ^= 1;
    bad[logdir::FileKind::source_files] += more;
    event.what = logdir::StackFrameWithId{"g", logdir::FileLineCol{1, 1, 0, "f", ""}};
    logdir::append_event(bad[logdir::FileKind::stack_frames], event);
    Logdir logdir(stored(bad));
    logdir.update();
    CHECK(logdir.runs()[0]->frame("g")->file_path == "/project/second.cpp");
  }
}

TEST_CASE("no single flipped bit hides a record or crashes the reader") {
  const Files files = generated_set({.calls = 3, .ops_per_graph = 3});
  for (const auto& [kind, bytes] : files)
    for (std::size_t at = 0; at < bytes.size(); at += 7) {
      Files bad = files;
      bad[kind][at] ^= static_cast<char>(1 << (at % 8));
      Logdir logdir(stored(bad));
      logdir.update();
      Run& run = *logdir.runs()[0];
      const bool events = kind == logdir::FileKind::execution || kind == logdir::FileKind::graph_execution_traces;
      REQUIRE(run.num_traces() + run.num_executions() >= (events ? 14u : 15u));
      REQUIRE_FALSE(run.diagnostics().empty());
      for (std::size_t i = 0; i < run.num_traces(); ++i) REQUIRE(run.trace(i).has_value());
    }
}

TEST_CASE("several runs, several hosts of one run, sub-directories") {
  auto storage = stored(generated_set({.calls = 2, .run_id = "aaaaaaaa", .start_time = 1e9}));
  storage =
      stored(generated_set({.calls = 3, .run_id = "bbbbbbbb", .start_time = 2e9}), "", "host", 2, std::move(storage));
  storage = stored(generated_set({.calls = 4, .run_id = "bbbbbbbb", .start_time = 2e9 + 1e-6}), "", "other", 2,
                   std::move(storage));
  storage = stored(generated_set({.calls = 1, .run_id = "bbbbbbbb", .start_time = 3e9}), "sub/dir/", "host", 3,
                   std::move(storage));
  storage = stored(generated_set({.calls = 1, .run_id = "", .start_time = 4e9}), "", "host", 4, std::move(storage));
  Logdir logdir(std::move(storage));
  logdir.update();
  REQUIRE(logdir.runs().size() == 4);
  CHECK(logdir.runs()[0]->id() == "aaaaaaaa");
  Run& joined = *logdir.runs()[1];
  CHECK(joined.hosts() == std::vector<std::string>{"host", "other"});
  CHECK(joined.num_traces() == 70);
  CHECK(joined.num_executions() == 14);
  for (std::size_t i = 1; i < joined.num_traces(); ++i)
    REQUIRE(joined.trace(i - 1)->wall_time <= joined.trace(i)->wall_time);  // merged by time
  CHECK(logdir.runs()[2]->num_executions() == 2);
  CHECK(logdir.runs()[3]->id().empty());
}

TEST_CASE("metadata: an end mark is a clean end; unknown versions are read; none is a run of its own") {
  Files files = generated_set({.calls = 1, .version = "nanlens-9"});
  const std::string once = files[logdir::FileKind::metadata];
  const auto clean = [&](int records) {
    Files f = files;
    for (int i = 1; i < records; ++i) f[logdir::FileKind::metadata] += once;
    Logdir logdir(stored(f));
    logdir.update();
    return *logdir.runs()[0]->clean_end();
  };
  CHECK_FALSE(clean(1));
  CHECK(clean(2));
  CHECK_FALSE(clean(3));
  Files none = files;
  none[logdir::FileKind::metadata].clear();
  Logdir logdir(stored(none));
  logdir.update();
  REQUIRE(logdir.runs().size() == 1);
  CHECK(logdir.runs()[0]->num_traces() == 10);
  CHECK(mentions(logdir.runs()[0]->diagnostics(), "no readable metadata"));
}

TEST_CASE("reading in slices finds the same calls as reading at once") {
  for (const bool call_ids : {true, false}) {
    const Files files = generated_set({.calls = 8'000, .ops_per_graph = 10, .call_ids = call_ids});
    Logdir whole(stored(files));
    whole.update();
    Logdir sliced(stored(files));
    int slices = 0;
    bool stopped = true;
    while (stopped) {
      stopped = false;
      int left = 1;
      sliced.update([&](std::uint64_t, std::uint64_t) {
        stopped = left-- == 0;
        return !stopped;
      });
      ++slices;
    }
    CHECK(slices > 5);
    const Run& a = *whole.runs()[0];
    const Run& b = *sliced.runs()[0];
    REQUIRE(b.num_traces() == a.num_traces());
    REQUIRE(b.num_executions() == a.num_executions());
    std::size_t other = 0;
    for (std::size_t i = 0; i < a.num_traces(); ++i) other += a.trace_execution(i) != b.trace_execution(i);
    CHECK(other == 0);
    CHECK(b.trace_execution(a.num_traces() - 1) == a.num_executions() - 2);
  }
}

TEST_CASE("the index takes at most 16 bytes per event") {
  const GeneratorOptions options{.calls = 20'000, .ops_per_graph = 10};
  Logdir logdir(stored(generated_set(options)));
  logdir.update();
  const Run& run = *logdir.runs()[0];
  const std::size_t events = run.num_traces() + run.num_executions();
  CHECK(events == 240'000);
  CHECK(run.index_bytes() <= 16 * events + 16 * 16384);  // one open chunk per column
}

TEST_CASE("a cycle of graphs does not hang") {
  Files files = generated_set({.calls = 1});
  logdir::DebugEvent event;
  event.what = logdir::DebuggedGraph{"a", "", {}, "", "", "b"};
  logdir::append_event(files[logdir::FileKind::graphs], event);
  event.what = logdir::DebuggedGraph{"b", "", {}, "", "", "a"};
  logdir::append_event(files[logdir::FileKind::graphs], event);
  Logdir logdir(stored(files));
  logdir.update();
  Run& run = *logdir.runs()[0];
  const auto& table = run.definitions();
  for (std::uint32_t i = 0; i < table.graphs().size(); ++i)
    CHECK(table.graph_ids(i).size() <= table.graphs().size() + 1);
}
