// What nanlens saw when something bad was made: in the card of an eager op, above the graph of a row, in tooltips, and
// in the filter's words for the least and greatest value.
#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <limits>

#include "growth.hpp"

using nanlens::test::generated_name;
using nanlens::test::GrowingFiles;
using nanlens::test::Headless;
using nanlens::test::Json;
using nanlens::test::walkthrough;
namespace logdir = nanlens::logdir;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

// FULL_HEALTH of ten float32 numbers.
logdir::TensorProto summary(double num_nan) {
  const std::array<double, 11> values = {-1, -1, 1, 2, 10, 0, 0, num_nan, 0, 0, 10 - num_nan};
  logdir::TensorProto proto;
  proto.dtype = 2;
  proto.shape = logdir::TensorShapeProto{{{11, ""}}, false};
  proto.tensor_content.assign(reinterpret_cast<const char*>(values.data()), sizeof values);
  return proto;
}

void put(GrowingFiles& files, logdir::FileKind kind, logdir::DebugEvent event) {
  std::string bytes;
  logdir::append_event(bytes, event);
  files.append(generated_name(kind, "host", 1), bytes);
}

template <class What>
logdir::DebugEvent event_of(double time, What what) {
  logdir::DebugEvent event;
  event.wall_time = time;
  event.what = std::move(what);
  return event;
}

void put_metadata(GrowingFiles& files) {
  put(files, logdir::FileKind::metadata,
      event_of(1, logdir::DebugMetadata{"nanlens-test", std::string(logdir::file_version), "12345678"}));
}

logdir::TensorEvidence evidence(std::vector<std::uint64_t> counts, std::vector<std::int64_t> positions,
                                std::vector<double> values) {
  logdir::TensorEvidence e;
  e.looked_at = true;
  e.dtype = 1;
  e.shape = {2, 5};
  e.counts = std::move(counts);
  e.positions = std::move(positions);
  e.values = std::move(values);
  return e;
}

// FULL_HEALTH of an eager op's only output.
logdir::Execution execution(const char* op_type, std::int64_t input, std::int64_t output, double num_nan) {
  logdir::Execution e;
  e.op_type = op_type;
  e.num_outputs = 1;
  e.input_tensor_ids = {input};
  e.output_tensor_ids = {output};
  e.tensor_debug_mode = 4;
  e.tensor_protos = {summary(num_nan)};
  return e;
}

// An eager op with a name of its own, two bad elements, and an input that something changed that is not on record.
void put_eager_op(GrowingFiles& files) {
  logdir::DebugEvent event = event_of(2, execution("Log", 1, 2, 2));
  event.extension.emplace();
  event.extension->op_name = "model/log";
  event.extension->output_evidence = {evidence({1, 0, 1, 0, 0, 8}, {0, 3, 1, 4}, {not_a_number, -infinity})};
  logdir::TensorEvidence input = evidence({0, 0, 0, 1, 1, 8}, {0, 3, 1, 4}, {-2.5, 0});
  input.origin = logdir::TensorOrigin::changed;
  input.name = "grad of net.fc.weight";
  logdir::TensorEvidence lost;
  lost.dtype = 1;
  event.extension->input_evidence = {input, lost};
  put(files, logdir::FileKind::execution, event);
}

// An eager op that got what was bad already, and nobody on record made.
void put_later_op(GrowingFiles& files) {
  logdir::DebugEvent event = event_of(3, execution("Sum", 8, 9, 1));
  event.extension.emplace();
  event.extension->output_evidence = {evidence({0, 0, 1, 0, 0, 9}, {0, 0}, {not_a_number})};
  event.extension->input_evidence = {evidence({0, 0, 1, 0, 0, 9}, {1, 1}, {not_a_number})};
  put(files, logdir::FileKind::execution, event);
}

// A row with the least and greatest value of its tensor, or without statistics.
void put_row(GrowingFiles& files, const std::string& op, double least, double greatest) {
  logdir::DebugEvent event = event_of(3, logdir::GraphExecutionTrace{"g", op, 0, 4, summary(0), ""});
  event.extension.emplace();
  event.extension->call_id = 7;
  if (least == least) {
    logdir::TensorStats stats;
    stats.min = least;
    stats.max = greatest;
    stats.exponent_histogram = {0, 10};
    event.extension->outputs = {stats};
  }
  put(files, logdir::FileKind::graph_execution_traces, event);
}

std::string tooltip_at(Headless& v, const std::string& id) {
  v.hover({5, 5});  // off what may be held, and in the way
  v.hover(v.point(id, 0.3F));
  v.pass(0.5);
  ImGui::GetIO().AddKeyEvent(ImGuiMod_Ctrl, true);  // holds it
  v.app().wake();
  v.settle();
  const Json text = v.state()["tooltip"];
  ImGui::GetIO().AddKeyEvent(ImGuiMod_Ctrl, false);
  v.app().wake();
  v.settle();
  return text.is_string() ? text.get<std::string>() : "";
}

}  // namespace

TEST_CASE("what came in bad later, from what is not on record, is listed as what may follow") {
  Headless v({1280, 900});
  put_metadata(v.memory["memory:run"]);
  put_eager_op(v.memory["memory:run"]);
  put_later_op(v.memory["memory:run"]);
  v.open("memory:run");
  v.command("show_causes");
  const Json s = v.state();
  REQUIRE(s["causes"].size() == 2);
  CHECK(s["causes"][0]["op_type"] == "Log");
  CHECK(s["causes"][0]["may_follow"] == false);
  CHECK(s["causes"][1]["op_type"] == "Sum");
  CHECK(s["causes"][1]["may_follow"] == true);
  CHECK(v.shows("cause:1"));
}

TEST_CASE("an eager op's card tells its own name, and what its memory held when it had run") {
  Headless v({1280, 900});
  put_metadata(v.memory["memory:run"]);
  put_eager_op(v.memory["memory:run"]);
  v.open("memory:run");
  const Json s = v.state();
  REQUIRE(s["focus"]["execution"] == 0);
  CHECK(s["execution"]["op_name"] == "model/log");
  REQUIRE(s["seen"].size() == 3);
  CHECK(s["seen"][0]["input"].is_null());
  CHECK(s["seen"][0]["elements"] == "[0,3] NaN, [1,4] −∞");
  CHECK(s["seen"][0]["name"].is_null());
  CHECK(s["seen"][1]["name"] == "grad of net.fc.weight");
  CHECK(s["seen"][1]["input"] == 0);
  CHECK(s["seen"][1]["elements"] == "[0,3] −2.5, [1,4] 0");
  CHECK(s["seen"][1]["badges"] == viewer::json_of(R"([{"kind":"dtype","value":"float32"},
    {"kind":"shape","value":"[2,5]"},{"kind":"size","value":10},{"kind":"neg","value":1},{"kind":"zero","value":1},
    {"kind":"pos","value":8}])"));
  CHECK(s["seen"][2]["looked_at"] == false);
  for (const char* const id : {"seen:0", "seen:1", "seen:2"}) {
    CAPTURE(id);
    CHECK(v.shows(id));
  }
  const std::string told = tooltip_at(v, "seen:1");
  CHECK(told.find("bad at [0,3] NaN") != std::string::npos);
  CHECK(told.find("there: [0,3] −2.5, [1,4] 0; changed since") != std::string::npos);
  CHECK(told.find("could not be read") != std::string::npos);
  CHECK(told.find("grad of net.fc.weight") != std::string::npos);
}

TEST_CASE("a row's evidence lies above its graph where there is room, and in its tooltip everywhere") {
  Headless v({1920, 1200});
  v.open(walkthrough());
  Json seen = v.state()["seen"];
  REQUIRE(seen.size() == 2);
  CHECK(seen[0]["elements"].get<std::string>().find("] −∞") != std::string::npos);
  CHECK(seen[1]["input"] == 0);
  CHECK(seen[1]["elements"].get<std::string>().find("] 0") != std::string::npos);  // zeros where the output is infinite
  CHECK(v.shows("seen:0"));
  CHECK(v.shows("seen:1"));
  CHECK(v.rect("seen:1").bottom() <= v.rect("op:self").y);
  CHECK(tooltip_at(v, "trace:88").find("bad at [") != std::string::npos);
  CHECK(tooltip_at(v, "trace:89").find("bad at [") == std::string::npos);  // not the selected one
  v.command("focus_trace", {{"index", 85}});
  CHECK(v.state()["seen"].empty());  // nothing bad came out
  CHECK_FALSE(v.shows("seen:0"));
}

TEST_CASE("min and max ask the statistics of a row; where there are none, the filter says what it needs") {
  for (const bool statistics : {true, false}) {
    CAPTURE(statistics);
    Headless v;
    GrowingFiles& files = v.memory["memory:run"];
    put_metadata(files);
    put_row(files, "small", statistics ? -1 : not_a_number, 2);
    put_row(files, "large", statistics ? 5e-8 : not_a_number, 1e6);
    put_row(files, "integers", not_a_number, not_a_number);
    put_row(files, "all bad", statistics ? infinity : not_a_number, -infinity);
    v.open("memory:run");
    const auto shown = [&](const char* query) {
      v.command("filter", {{"query", query}});
      return v.state()["graph_executions"]["shown"].get<int>();
    };
    CHECK(shown("max>1e5") == (statistics ? 1 : 0));
    CHECK(shown("min<0") == (statistics ? 1 : 0));
    CHECK(shown("min:0..1e-7") == (statistics ? 1 : 0));
    CHECK(shown("max!=2") == (statistics ? 1 : 0));
    CHECK(v.state()["graph_executions"]["filter_note"].is_null() == statistics);
  }
}
