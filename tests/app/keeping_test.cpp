// What is handed on: the recording as one file, and the values of a tensor, which are shown as a map before.
#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <limits>

#include <nanlens/summary/debug_mode.hpp>

#include "headless.hpp"

#include "../support/logdir_generator.hpp"

using nanlens::test::generated_name;
using nanlens::test::GrowingFiles;
using nanlens::test::Headless;
using nanlens::test::Json;
using nanlens::test::walkthrough;
using nanlens::viewer::ShareWish;
namespace logdir = nanlens::logdir;

namespace {

template <class What>
void record(GrowingFiles& files, logdir::FileKind kind, What what, logdir::NanlensExtension extension = {}) {
  logdir::DebugEvent event;
  event.wall_time = 1;
  event.what = std::move(what);
  event.extension = std::move(extension);
  std::string bytes;
  logdir::append_event(bytes, event);
  files.append(generated_name(kind, "host", 1), bytes);
}

// An op whose output, of all values, was stored, and an input of which only a few are known.
void put_run(GrowingFiles& files, const std::vector<std::int64_t>& shape, const std::vector<float>& values) {
  record(files, logdir::FileKind::metadata,
         logdir::DebugMetadata{"nanlens-test", std::string(logdir::file_version), "12345678"});
  logdir::Execution e;
  e.op_type = "Log";
  e.num_outputs = 1;
  e.output_tensor_ids = {1};
  e.tensor_debug_mode = 4;
  const std::array<double, 11> health = {1, -1, 1, 2, 12, 0, 0, 1, 0, 0, 11};
  logdir::TensorProto summary;
  summary.dtype = 2;
  summary.shape = logdir::TensorShapeProto{{{11, ""}}, false};
  summary.tensor_content.assign(reinterpret_cast<const char*>(health.data()), sizeof health);
  e.tensor_protos = {summary};
  logdir::NanlensExtension extension;
  logdir::TensorEvidence seen;
  seen.looked_at = true;
  seen.dtype = 1;
  seen.shape = shape;
  seen.counts = {1, 0, 0, 0, 0, 11};
  logdir::TensorEvidence input = seen;
  seen.content.assign(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  extension.output_evidence = {seen};
  extension.input_evidence = {input};
  record(files, logdir::FileKind::execution, e, extension);
}

logdir::TensorProto float_proto(std::int64_t size) {
  logdir::TensorProto proto;
  proto.dtype = 1;
  proto.shape = logdir::TensorShapeProto{{{size, ""}}, false};
  return proto;
}

// An op of which FULL_TENSOR has the output.
void put_full(GrowingFiles& files, const logdir::TensorProto& output) {
  record(files, logdir::FileKind::metadata,
         logdir::DebugMetadata{"nanlens-test", std::string(logdir::file_version), "12345678"});
  logdir::Execution e;
  e.op_type = "Relu";
  e.num_outputs = 1;
  e.output_tensor_ids = {1};
  e.tensor_debug_mode = static_cast<std::int32_t>(nanlens::TensorDebugMode::full_tensor);
  e.tensor_protos = {output};
  record(files, logdir::FileKind::execution, e);
}

constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();
constexpr float infinite_value = std::numeric_limits<float>::infinity();

}  // namespace

TEST_CASE("values that were stored are a map of slices, with what is bad marked, and go into a file of NumPy") {
  Headless v({1280, 900});
  put_run(v.memory["memory:run"], {2, 2, 3}, {1, 2, 3, 4, 5, 6, -1, nan_value, 0, 0.5F, -infinite_value, 8});
  v.open("memory:run");
  REQUIRE(v.state()["seen"].size() == 2);
  CHECK(v.state()["seen"][0]["stored"] == true);
  CHECK(v.state()["seen"][1]["stored"] == false);
  CHECK_FALSE(v.shows("seen:values:1"));
  CHECK_FALSE(v.command("show_values", {{"index", 1}}).ok);
  v.click("seen:values:0");
  Json map = v.state()["values"];
  CHECK(map["shape"] == Json({2, 2, 3}));
  CHECK(map["dtype"] == "float32");
  CHECK(std::array{map["slices"], map["rows"], map["columns"], map["down"], map["across"]} ==
        std::array<Json, 5>{2, 2, 3, 2, 3});
  CHECK(std::array{map["nan"], map["ninf"], map["pinf"]} == std::array<Json, 3>{1, 1, 0});
  const auto told = [&](float column, float row) {
    v.hover(v.point("values:map", column, row));
    return v.state()["values"]["told"].get<std::string>();
  };
  CHECK(told(0.1F, 0.1F) == "[0,0,0]  1");
  v.click("values:next");
  CHECK(v.state()["values"]["slice"] == 1);
  CHECK(told(0.5F, 0.2F) == "[1,0,1]  NaN");
  CHECK(told(0.5F, 0.8F) == "[1,1,1]  −∞");
  CHECK(told(0.1F, 0.2F) == "[1,0,0]  −1");
  v.click("values:next");  // there is no further one
  CHECK(v.state()["values"]["slice"] == 1);
  v.click("values:save");
  const std::string& file = v.saved["nanlens-values-12345678-execution0-output0.npy"];
  CHECK(file.substr(1, 5) == "NUMPY");
  CHECK(file.find("'<f4'") != std::string::npos);
  CHECK(file.find("(2, 2, 3)") != std::string::npos);
  float last = 0;
  std::memcpy(&last, file.data() + file.size() - sizeof last, sizeof last);
  CHECK(last == 8);
}

TEST_CASE("values are those that were asked for, whatever is selected next, and each tensor has a file of its own") {
  Headless v({1280, 900});
  GrowingFiles& files = v.memory["memory:run"];
  put_run(files, {2}, {nan_value, 1});
  put_run(files, {3}, {nan_value, 1, 2});
  v.open("memory:run");
  const auto begins_to_export = [&](int execution) {
    v.command("focus_execution", {{"index", execution}});
    REQUIRE(v.app().command("show_values").ok);
    REQUIRE(v.app().command("export", {{"what", "values"}}).ok);  // at once: no frame has told what is shown
  };
  begins_to_export(0);
  v.app().close_popup();
  begins_to_export(1);
  v.command("focus_execution", {{"index", 0}});
  REQUIRE(v.saved.size() == 2);
  CHECK(v.saved["nanlens-values-12345678-execution0-output0.npy"].find("(2, )") != std::string::npos);
  CHECK(v.saved["nanlens-values-12345678-execution1-output0.npy"].find("(3, )") != std::string::npos);
}

TEST_CASE("FULL_TENSOR keeps the values of every output") {
  Headless v({1280, 900});
  const std::array<float, 3> values = {1, 2.5F, 3};
  logdir::TensorProto proto = float_proto(3);
  proto.tensor_content.assign(reinterpret_cast<const char*>(values.data()), sizeof values);
  put_full(v.memory["memory:run"], proto);
  v.open("memory:run");
  v.command("focus_execution", {{"index", 0}});
  REQUIRE(v.state()["seen"].size() == 1);
  REQUIRE(v.command("show_values").ok);
  CHECK(v.state()["values"]["shape"] == Json({3}));
  v.hover(v.point("values:map", 0.5F, 0.5F));
  CHECK(v.state()["values"]["told"] == "[1]  2.5");
}

TEST_CASE(
    "FULL_TENSOR: a value that stands for all of few elements is spread out, one that stands for millions is not") {
  for (const std::int64_t n : {3, (1 << 22) + 1}) {
    CAPTURE(n);
    Headless v({1280, 900});
    logdir::TensorProto proto = float_proto(n);
    proto.float_val = {1};
    put_full(v.memory["memory:run"], proto);
    v.open("memory:run");
    v.command("focus_execution", {{"index", 0}});
    CHECK(v.state()["seen"].size() == (n == 3 ? 1 : 0));
  }
}

TEST_CASE("a large tensor shares cells, and one bad element makes a cell bad") {
  Headless v({1280, 900});
  std::vector<float> values(100 * 1000, 1.0F);
  values[57 * 1000 + 321] = nan_value;
  put_run(v.memory["memory:run"], {100, 1000}, values);
  v.open("memory:run");
  REQUIRE(v.command("show_values").ok);
  const Json map = v.state()["values"];
  CHECK(map["down"] == 64);
  CHECK(map["across"] == 64);
  CHECK(map["nan"] == 1);
  std::size_t bad = 0;
  for (const auto& cell : v.app().heat_map.cells) bad += cell.nan;
  CHECK(bad == 1);
  const std::size_t cell = 57 * 64 / 100 * 64 + 321 * 64 / 1000;
  REQUIRE(v.app().heat_map.cells.size() == 64 * 64);
  CHECK(v.app().heat_map.cells[cell].nan == 1);
  CHECK(v.app().heat_map.cells[cell].low == 1);
  v.hover(v.point("values:map", (321 * 64 / 1000 + 0.5F) / 64, (57 * 64 / 100 + 0.5F) / 64));
  CHECK(v.state()["values"]["told"].get<std::string>().find("  NaN 1  1") != std::string::npos);
}

TEST_CASE("Share… hands on the view and what was chosen, and tells how it ended") {
  Headless v;
  std::vector<ShareWish> wishes;
  v.app().platform.share = [&](const ShareWish& wish) {
    wishes.push_back(wish);
    return std::string();
  };
  v.app().platform.share_place = [] { return "/tmp/walkthrough.html"; };
  v.open(walkthrough());
  v.command("focus_trace", {{"index", 148}});
  v.click("share");
  REQUIRE(v.state()["popup"] == "share");
  v.click("share:write");
  REQUIRE(wishes.size() == 1);
  CHECK(wishes[0].view.find("t=148") != std::string::npos);
  CHECK_FALSE(wishes[0].around_cause);
  CHECK_FALSE(wishes[0].no_source);
  CHECK(v.state()["popup"] == "none");
  CHECK_FALSE(v.command("write_share").ok);  // one at a time
  v.app().shared(true, "/tmp/walkthrough.html");
  v.settle();
  CHECK(v.state()["toasts"].back().get<std::string>().find("/tmp/walkthrough.html") != std::string::npos);
  v.click("share");
  v.click("share:cause");
  v.click("share:no_source");
  v.click("share:write");
  REQUIRE(wishes.size() == 2);
  CHECK(wishes[1].view.empty());  // rows have other numbers
  CHECK(wishes[1].around_cause);
  CHECK(wishes[1].no_source);
}

TEST_CASE("the page hands nothing out where a part was asked for, since it can't leave the rest out") {
  Headless v;
  int wishes = 0;
  v.app().platform.is_page = true;
  v.app().platform.share = [&](const ShareWish&) {
    ++wishes;
    return std::string();
  };
  v.open(walkthrough());
  CHECK_FALSE(v.command("write_share", {{"no_source", true}}).ok);
  CHECK_FALSE(v.command("write_share", {{"around_cause", true}}).ok);
  CHECK(wishes == 0);
  CHECK(v.command("write_share").ok);
  CHECK(wishes == 1);
}
