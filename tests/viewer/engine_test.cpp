// The engine on logdirs that the real TensorFlow wrote (tests/interop/golden), on damaged ones and on large ones.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>

#include "../support/hostile.hpp"
#include "../support/logdir_generator.hpp"
#include "session.hpp"

using nanlens::test::GeneratorOptions;
using nanlens::test::LogdirGenerator;
using nanlens::test::open_directory;
using nanlens::test::Session;
namespace logdir = nanlens::logdir;
namespace reader = nanlens::reader;
namespace viewer = nanlens::viewer;
using viewer::IntentKind;

namespace {

const std::string golden = NANLENS_GOLDEN_DIR;

// A session with a golden logdir open.
struct GoldenSession : Session {
  explicit GoldenSession(const std::string& name) : Session(open_directory) { open(golden + "/" + name); }
};

std::shared_ptr<std::map<std::string, std::string>> generate(const GeneratorOptions& options) {
  return std::make_shared<std::map<std::string, std::string>>(nanlens::test::generated_files(options));
}

viewer::OpenStorage in_memory(const std::shared_ptr<std::map<std::string, std::string>>& files) {
  return [files](const std::string&, std::string&) {
    auto storage = std::make_unique<reader::MemoryStorage>();
    for (const auto& [name, bytes] : *files) storage->put(name, bytes);
    return storage;
  };
}

const viewer::Badge* badge(const std::vector<viewer::Badge>& badges, viewer::BadgeKind kind) {
  for (const auto& b : badges)
    if (b.kind == kind) return &b;
  return nullptr;
}

}  // namespace

TEST_CASE("a logdir of TensorFlow: counts, verdict, the first bad tensor with its line") {
  GoldenSession s("core.FULL_HEALTH");
  REQUIRE(s.overview.runs.size() == 1);
  CHECK(s.overview.runs[0].num_executions == 30);
  CHECK(s.overview.runs[0].num_traces == 67);
  CHECK(s.overview.runs[0].num_alerts == 59);
  CHECK(s.overview.num_diagnostics == 0);
  CHECK(s.overview.verdict.tensor == "Log:0");
  CHECK(s.overview.verdict.line == 15);
  CHECK(s.overview.verdict.code.find("tf.math.log(x)") != std::string::npos);
  s.select(IntentKind::first_bad);
  CHECK(s.selection.focus.trace == 0);
  CHECK(s.selection.neighbourhood.op_type == "Log");
  REQUIRE(s.selection.neighbourhood.outputs.size() == 1);
  CHECK(badge(s.selection.neighbourhood.outputs[0].badges, viewer::BadgeKind::ninf)->number == 4);
  // TensorFlow 2.21 does not trace arguments: the caller's tensor tells the health of the input.
  REQUIRE(s.selection.neighbourhood.inputs.size() == 1);
  CHECK(s.selection.neighbourhood.inputs[0].op_type == "Placeholder");
  CHECK(s.selection.neighbourhood.inputs[0].trace == -1);
  CHECK(badge(s.selection.neighbourhood.inputs[0].badges, viewer::BadgeKind::zero)->number == 4);
  REQUIRE_FALSE(s.selection.stack.frames.empty());
  CHECK(s.selection.stack.missing == 0);
}

TEST_CASE("the rows of one rank of a job") {
  auto files = std::make_shared<std::map<std::string, std::string>>();
  for (const int rank : {0, 1, 2}) {
    GeneratorOptions options;
    options.calls = 10 + rank;
    options.ops_per_graph = 5;
    options.id_prefix = "r" + std::to_string(rank);
    files->merge(nanlens::test::generated_files(options, "tfdbg_events.1700000000.host.rank" + std::to_string(rank)));
  }
  Session s(in_memory(files));
  s.open("job");
  CHECK(s.filtered("").size() == 3 * 11 * 5);
  CHECK(s.filtered("job_rank:2").size() == 12 * 5);
  CHECK(s.filtered("job_rank<2").size() == 21 * 5);
  CHECK(s.filtered("job_rank:7").empty());
}

TEST_CASE("the argument of a function leads to the tensor at the caller") {
  GoldenSession s("core.FULL_HEALTH");
  s.select(IntentKind::first_bad);
  viewer::Focus argument = s.selection.focus;
  argument.op_name = s.selection.neighbourhood.inputs[0].op_name;
  argument.slot = 0;
  s.select(IntentKind::op, 0, argument);
  const auto& boundary = s.selection.neighbourhood.boundary;
  REQUIRE(boundary.exists);
  CHECK(boundary.argument == 0);
  REQUIRE(boundary.known);
  CHECK(badge(boundary.badges, viewer::BadgeKind::zero)->number == 4);
  const std::int64_t producer = boundary.execution;
  s.select(IntentKind::boundary);
  CHECK(s.selection.focus.execution == producer);
}

TEST_CASE("alerts: groups, steps, another op, the ends") {
  GoldenSession s("core.FULL_HEALTH");
  CHECK(s.alerts.total == 59);
  std::uint64_t listed = 0;
  std::uint64_t counted = 0;
  for (const auto& line : s.alerts.lines) {
    if (line.group)
      counted += line.count;
    else
      ++listed;
  }
  CHECK(listed == 59);
  CHECK(counted == 59);
  for (const char* by : {"call", "graph", "line"}) {
    s.view.alerts_by = by;
    s.show();
    CHECK(s.alerts.num_lines > 59);
    CHECK(std::count_if(s.alerts.lines.begin(), s.alerts.lines.end(), [](const auto& l) { return !l.group; }) == 59);
  }
  for (std::int64_t i = 0; i < 59; ++i) {
    s.select(i == 0 ? IntentKind::first_bad : IntentKind::alert_step, 1);
    CHECK(s.selection.alert == i);
  }
  s.select(IntentKind::alert_step, 1);
  CHECK(s.selection.alert == 58);
  CHECK(s.selection.notice.find("last") != std::string::npos);
  s.select(IntentKind::alert, 0);
  const std::string first = s.selection.focus.op_name;
  s.select(IntentKind::alert_step, 1, {}, true);
  CHECK(s.selection.focus.op_name != first);
}

TEST_CASE("expected alerts are listed last and passed over") {
  GoldenSession s("core.FULL_HEALTH");
  s.select(IntentKind::first_bad);
  CHECK(s.selection.alert_site == "control/Log");
  s.view.alerts_expected = {"control/Log"};
  s.show();
  const auto last = std::find_if(s.alerts.lines.rbegin(), s.alerts.lines.rend(), [](const auto& l) { return l.group; });
  REQUIRE(last != s.alerts.lines.rend());
  CHECK(last->key == "expected");
  CHECK(last->count == 3);
  int steps = 0;
  s.select(IntentKind::alert, 0);
  for (s.select(IntentKind::alert_step, 1); s.selection.notice.empty(); s.select(IntentKind::alert_step, 1)) {
    CHECK(s.selection.alert_site != "control/Log");
    ++steps;
  }
  CHECK(steps == 56);
}

TEST_CASE("rows: filters agree with what the rows say of themselves") {
  GoldenSession s("core.FULL_HEALTH");
  const auto all = s.filtered("");
  REQUIRE(all.size() == 67);
  const auto every = s.rows.rows;
  const auto expect = [&](const std::string& query, auto&& passes) {
    std::vector<std::uint64_t> wanted;
    for (const auto& row : every)
      if (passes(row)) wanted.push_back(row.index);
    INFO(query);
    CHECK(s.filtered(query) == wanted);
    CHECK(s.rows.filter_error.empty());
  };
  const auto count = [](const viewer::Row& row, viewer::BadgeKind kind) {
    const auto* const b = badge(row.badges, kind);
    return b == nullptr ? 0.0 : b->number;
  };
  expect("bad", [](const auto& r) { return r.bad; });
  expect("type:Log", [](const auto& r) { return r.op_type.find("Log") != std::string::npos; });
  expect("graph:inner", [](const auto& r) { return r.graph_name.find("inner") != std::string::npos; });
  expect("nan>0", [&](const auto& r) { return count(r, viewer::BadgeKind::nan) > 0; });
  expect("nan>2 or ninf=4",
         [&](const auto& r) { return count(r, viewer::BadgeKind::nan) > 2 || count(r, viewer::BadgeKind::ninf) == 4; });
  expect("zero>=50%", [&](const auto& r) {
    return badge(r.badges, viewer::BadgeKind::size) != nullptr &&
           count(r, viewer::BadgeKind::zero) >= 0.5 * count(r, viewer::BadgeKind::size);
  });
  expect("-type:Placeholder bad", [](const auto& r) { return r.op_type != "Placeholder" && r.bad; });
  expect("row:5..9", [](const auto& r) { return r.index >= 5 && r.index <= 9; });
  expect("exec:0..3", [](const auto& r) { return r.execution >= 0 && r.execution <= 3; });
  expect("Log:0",
         [](const auto& r) { return (r.op_name + ":" + std::to_string(r.slot)).find("Log:0") != std::string::npos; });
  expect("dtype:float32", [&](const auto& r) {
    return badge(r.badges, viewer::BadgeKind::dtype) != nullptr &&
           badge(r.badges, viewer::BadgeKind::dtype)->text == "float32";
  });
  expect("first", [](const auto& r) { return r.index == 0; });
  CHECK_FALSE(s.filtered("file:programs line=15").empty());
  CHECK(s.filtered("file:nowhere").empty());
  const auto kept = s.filtered("bad");
  CHECK(s.filtered("bad (") == kept);  // what can't be read leaves the last result
  CHECK_FALSE(s.rows.filter_error.empty());
}

TEST_CASE("executions: cards, rows of a call and back, bad ones marked") {
  GoldenSession s("core.FULL_HEALTH");
  REQUIRE(s.timeline.boxes.size() == 30);
  const auto function =
      std::find_if(s.timeline.boxes.begin(), s.timeline.boxes.end(), [](const auto& b) { return b.function && b.bad; });
  REQUIRE(function != s.timeline.boxes.end());
  s.select(IntentKind::execution, static_cast<std::int64_t>(function->index));
  const auto card = s.selection.card;
  CHECK(card.function);
  CHECK_FALSE(card.graph_id.empty());
  CHECK(card.num_rows > 0);
  REQUIRE_FALSE(card.inputs.empty());
  CHECK(card.inputs[0].execution >= 0);
  CHECK(std::any_of(card.outputs.begin(), card.outputs.end(), [](const auto& t) { return t.bad; }));
  // An output that no float summary can tell of is "not checked", not an error.
  const auto unchecked = std::count_if(card.outputs.begin(), card.outputs.end(), [](const auto& t) {
    return badge(t.badges, viewer::BadgeKind::none) != nullptr;
  });
  CHECK(unchecked > 0);
  s.select(IntentKind::trace, card.first_row);
  CHECK(s.selection.focus.execution == card.index);
  const auto rows = s.filtered("exec=" + std::to_string(card.index));
  CHECK(rows.size() == card.num_rows);
}

TEST_CASE("source: text, marks of the lines that made ops") {
  GoldenSession s("core.FULL_HEALTH");
  s.view.source_path = s.overview.verdict.path;
  s.show();
  REQUIRE(s.source.found);
  CHECK(s.source.lines.size() > 80);
  const auto mark =
      std::find_if(s.source.marks.begin(), s.source.marks.end(), [](const auto& m) { return m.line == 15; });
  REQUIRE(mark != s.source.marks.end());
  CHECK(mark->bad);
  CHECK(mark->list.front().op_type == "Log");
}

TEST_CASE("search: exact names before beginnings before parts; graphs and files too") {
  GoldenSession s("core.FULL_HEALTH");
  s.view.search = "log";
  s.show();
  REQUIRE(s.search.list.size() >= 3);
  CHECK(s.search.list.front().op_name == "Log");
  CHECK(
      std::any_of(s.search.list.begin(), s.search.list.end(), [](const auto& f) { return f.title == "cond/Neg/Log"; }));
  s.view.search = "inner";
  s.show();
  CHECK(s.search.list.front().note == "graph");
  s.view.search = "uniquewith";  // which ran eagerly
  s.show();
  REQUIRE(s.search.list.size() == 1);
  CHECK(s.search.list.front().title == "UniqueWithCounts");
  CHECK(s.search.list.front().execution == 29);
  CHECK(s.search.list.front().note == viewer::tr(viewer::Text::found_executions, {{"n", 1}, {"bad", 0}}));
  s.view.search = "programs.py";
  s.show();
  REQUIRE(s.search.list.size() == 1);
  CHECK(s.search.list.front().path.ends_with("programs.py"));
}

TEST_CASE("CURT_HEALTH and TensorFlow 1 sessions") {
  GoldenSession curt("core.CURT_HEALTH");
  CHECK(curt.alerts.total == 59);
  CHECK(curt.filtered("bad").size() > 10);
  CHECK(curt.filtered("nan>0").empty());  // not recorded: false, not a guess
  CHECK(curt.rows.filter_note.find("nan needs CONCISE_HEALTH") == 0);
  GoldenSession session("session.FULL_HEALTH");
  CHECK(session.timeline.total == 0);
  CHECK(session.alerts.total == 2);
  session.select(IntentKind::first_bad);
  CHECK(session.selection.focus.trace == 5);
  CHECK(session.selection.focus.execution == -1);
  REQUIRE(session.selection.input_rows.size() == 1);
  CHECK(session.selection.input_rows[0] == 4);
}

TEST_CASE("inputs and consumers are those of the same session run, in the panes as in the chain") {
  GoldenSession s("session.FULL_HEALTH");
  s.select(IntentKind::trace, 5);  // Log, in the second of two runs; the first one's consumer is row 3
  REQUIRE(s.selection.consumer_rows.size() == 1);
  CHECK(s.selection.consumer_rows[0] == 7);
  REQUIRE(s.selection.neighbourhood.consumers.size() == 1);
  REQUIRE(s.selection.neighbourhood.consumers[0].size() == 1);
  CHECK(s.selection.neighbourhood.consumers[0][0].trace == 7);
  CHECK(s.selection.neighbourhood.inputs.at(0).trace == 4);
  CHECK(s.filtered("consumer") == std::vector<std::uint64_t>{7});
  CHECK(s.filtered("input") == std::vector<std::uint64_t>{4});
  s.filtered("");
  s.select(IntentKind::trace, 7);
  REQUIRE(s.selection.chain.size() >= 2);
  CHECK(s.selection.input_rows.at(0) == s.selection.chain.at(s.selection.chain.size() - 2).trace);
  viewer::Focus log = s.selection.focus;
  log.op_name = "Log";
  log.slot = 0;
  s.select(IntentKind::op, 0, log);
  CHECK(s.selection.focus.trace == 5);
}

TEST_CASE("what lies around an op that ran eagerly: what made its inputs, and what took its results") {
  GoldenSession s("core.FULL_HEALTH");
  s.select(IntentKind::execution, 13);  // Mul of a call's gradient and of a Reciprocal
  const auto& n = s.selection.neighbourhood;
  REQUIRE(s.selection.has_neighbourhood);
  CHECK(n.graph_id.empty());
  CHECK(n.op_type == "Mul");
  REQUIRE(n.inputs.size() == 2);
  CHECK(n.inputs[0].execution == 11);
  CHECK(n.inputs[1].execution == 12);
  CHECK(n.inputs[1].op_type == "Reciprocal");
  CHECK(badge(n.inputs[1].badges, viewer::BadgeKind::pinf) != nullptr);
  REQUIRE(n.outputs.size() == 1);
  CHECK(n.outputs[0].execution == 13);
  CHECK(n.consumers.at(0).empty());
  s.select(IntentKind::input_step, 1);
  CHECK(s.selection.focus.execution == 11);
  s.select(IntentKind::input_step, 1);  // the same op's other input
  CHECK(s.selection.focus.execution == 12);
  REQUIRE(n.consumers.at(0).size() == 1);
  CHECK(n.consumers[0][0].execution == 13);
  CHECK(n.consumers[0][0].slot == 1);
  CHECK(n.num_consumers.at(0) == 1);
  REQUIRE(n.inputs.size() == 1);  // a variable's value, which nobody made on record
  CHECK_FALSE(n.inputs[0].known);
  CHECK(n.inputs[0].execution == -1);
  s.select(IntentKind::consumer_step, 1);
  CHECK(s.selection.focus.execution == 13);
  s.select(IntentKind::consumer_step, 1);
  CHECK(s.selection.notice == viewer::tr(viewer::Text::no_consumer));
  s.select(IntentKind::execution, 8);
  s.select(IntentKind::input_step, 1);
  CHECK(s.selection.notice == viewer::tr(viewer::Text::no_input_made));
  s.view.hops = 3;
  s.show();
  s.select(IntentKind::execution, 24);  // Range(…, …, Cast(Cast))
  CHECK(n.farther_inputs.size() == 2);
}

TEST_CASE("an op with very many consumers: some cards, all rows, and an honest count") {
  Session s(in_memory(generate({.calls = 1, .ops_per_graph = 2001, .fan_out = true})));
  s.open("x");
  s.select(IntentKind::trace, 0);
  const auto& n = s.selection.neighbourhood;
  REQUIRE(n.consumers.size() == 1);
  CHECK(n.consumers[0].size() == 64);
  CHECK(n.num_consumers.at(0) == 2000);
  CHECK(s.selection.consumer_rows.size() == 2000);
}

TEST_CASE("nothing there, nothing readable: reasons, not blanks") {
  Session s(open_directory);
  s.open("/nonexistent");
  CHECK(s.overview.run == -1);
  CHECK(s.overview.error.find("No tfdbg2 files") != std::string::npos);
  for (const viewer::Tongue tongue : {viewer::Tongue::german, viewer::Tongue::english}) {
    s.view.tongue = tongue;
    s.show();
    CHECK(s.overview.error == viewer::tr(tongue, viewer::Text::open_not_logdir));
  }
  auto files = generate({});
  for (auto& [name, bytes] : *files)
    for (std::size_t i = 7; i < bytes.size(); i += 611) bytes[i] = static_cast<char>(bytes[i] ^ 0x55);
  Session damaged(in_memory(files));
  damaged.open("x");
  REQUIRE(damaged.overview.run == 0);
  CHECK(damaged.overview.num_diagnostics > 0);
  CHECK(damaged.diagnostics.list.size() == damaged.overview.num_diagnostics);
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(damaged.rows.total); i += 7)
    damaged.select(IntentKind::trace, i);
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(damaged.timeline.total); i += 7)
    damaged.select(IntentKind::execution, i);
}

TEST_CASE("wishes that make no sense change nothing and say why") {
  GoldenSession s("core.FULL_HEALTH");
  s.select(IntentKind::first_bad);
  const auto before = s.selection.focus;
  for (const auto kind : {IntentKind::trace, IntentKind::execution, IntentKind::alert}) {
    s.select(kind, 1'000'000);
    CHECK(s.selection.focus == before);
    CHECK_FALSE(s.selection.notice.empty());
    s.select(kind, -5);
    CHECK(s.selection.focus == before);
  }
  viewer::Focus nowhere;
  nowhere.graph_id = "x";
  nowhere.op_name = "y";
  s.select(IntentKind::op, 0, nowhere);
  CHECK(s.selection.focus == before);
}

TEST_CASE("a run that grows: counts follow, the selection stays") {
  const auto whole = generate({.calls = 40, .bad_every = 50});
  auto storage = std::make_unique<reader::MemoryStorage>();
  auto* const memory = storage.get();
  std::map<std::string, std::string> rest;
  for (const auto& [name, bytes] : *whole) {
    const bool events = name.ends_with("execution") || name.ends_with("traces");
    memory->put(name, events ? bytes.substr(0, bytes.size() / 2) : bytes);
    if (events) rest[name] = bytes.substr(bytes.size() / 2);
  }
  Session s([&](const std::string&, std::string&) { return std::move(storage); });
  s.open("x");
  const auto rows_before = s.rows.total;
  s.select(IntentKind::trace, 3);
  const auto focus = s.selection.focus;
  for (const auto& [name, bytes] : rest) memory->append(name, bytes);
  s.ask(viewer::Reload{});
  CHECK(s.rows.total > rows_before);
  CHECK(s.rows.total == static_cast<std::uint64_t>(LogdirGenerator::traces_of({.calls = 40})));
  CHECK(s.selection.focus == focus);
}

TEST_CASE("many executions come as columns in which no bad one is lost") {
  Session s(in_memory(generate({.calls = 3000, .ops_per_graph = 2, .bad_every = 3000})));
  s.open("x");
  REQUIRE(s.timeline.boxes.empty());
  REQUIRE(s.timeline.columns.size() == 100);
  std::uint64_t executions = 0;
  std::uint64_t bad = 0;
  for (const auto& c : s.timeline.columns) {
    executions += c.count;
    bad += c.bad;
  }
  CHECK(executions == s.timeline.total);
  CHECK(bad == s.overview.runs[0].num_alerts - s.filtered("bad").size());
  CHECK(s.timeline.overview.size() == 100);
  s.view.time_mode = true;
  s.view.timeline_begin = 0;
  s.view.timeline_end = s.timeline.duration;
  s.show();
  std::uint64_t by_time = 0;
  for (const auto& c : s.timeline.columns) by_time += c.count;
  CHECK(by_time == s.timeline.total);
}

TEST_CASE("a timeline between places that are no numbers, in more columns than a screen has") {
  Session s(in_memory(generate({.calls = 300, .ops_per_graph = 2})));
  s.view.timeline_columns = s.view.overview_columns = 4000000000;
  for (const double begin : {std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::infinity(), 1e300})
    for (const bool by_time : {false, true}) {
      s.view.timeline_begin = begin;
      s.view.timeline_end = begin;
      s.view.time_mode = by_time;
      s.open("x");
      CHECK(s.timeline.overview.size() == 1 << 14);
      CHECK(s.timeline.boxes.empty());
      CHECK(s.overview.num_diagnostics == 0);
    }
}

TEST_CASE("causes: verdict, classes, chain, steps along it, filter words") {
  GoldenSession session("core.FULL_HEALTH");
  REQUIRE(session.explanation.complete);
  CHECK(session.explanation.total == session.overview.runs[0].num_alerts);
  const viewer::Verdict& verdict = session.overview.verdict;
  REQUIRE(verdict.explained);
  CHECK(verdict.cause.id == "rc.log0");
  CHECK(verdict.cause.op_type == "Log");
  CHECK(verdict.cause.line == 15);
  // The words of the filter part the bad rows among them.
  const auto shown = [&](const char* query) {
    session.filtered(query);
    return session.rows.shown;
  };
  std::uint64_t parts = 0;
  for (const char* word : {"made", "passed", "source", "unknown", "expected"}) parts += shown(word);
  CHECK(parts == shown("bad"));
  CHECK(shown("made") > 0);
  CHECK(session.filtered("made type:Log").front() == 0);
  session.filtered("");
  // From the last bad row with a chain up to its cause, and back.
  std::int64_t deep = -1;
  for (std::int64_t row = 0; row < static_cast<std::int64_t>(session.rows.total); ++row) {
    session.select(viewer::IntentKind::trace, row);
    if (session.selection.chain.size() > 3) deep = row;
  }
  REQUIRE(deep >= 0);
  session.select(viewer::IntentKind::trace, deep);
  const auto chain = session.selection.chain;
  CHECK(chain.back().trace == deep);
  CHECK(!session.selection.cause.empty());
  CHECK(session.selection.event_class != viewer::EventClass::clean);
  session.select(viewer::IntentKind::cause_step, -1);
  CHECK(session.selection.focus.trace == chain[chain.size() - 2].trace);
  session.select(viewer::IntentKind::cause_step, 1);
  CHECK(session.selection.focus.trace == deep);
  session.select(viewer::IntentKind::cause);
  CHECK(viewer::EventClass::producer == session.selection.event_class);
  session.select(viewer::IntentKind::cause_step, 1);
  session.select(viewer::IntentKind::clear);
  session.select(viewer::IntentKind::cause_step, -1);
  CHECK(session.selection.notice == "Nothing bad is selected.");
}

TEST_CASE("times that are none, or out of order, break no list") {
  Session s([](const std::string&, std::string&) {
    return std::make_unique<nanlens::test::CountingStorage>(nanlens::test::times_without_order(3'000));
  });
  s.open("hostile");
  for (const bool by_time : {true, false}) {
    s.view.time_mode = by_time;
    s.show();
    CHECK(s.timeline.total == 3'000);
    CHECK(std::all_of(s.timeline.gaps.begin(), s.timeline.gaps.end(),
                      [](const viewer::Gap& gap) { return gap.begin >= 0 && gap.seconds > 0; }));
  }
  for (int i = 0; i < 20; ++i) s.select(IntentKind::alert_step, 1);
  CHECK(s.selection.alert >= 0);
}
