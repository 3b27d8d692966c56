// The pass itself: increments, damage, many roots; on logdirs of the real TensorFlow and on made ones.
#include <doctest/doctest.h>

#include <memory>
#include <string>

#include <nanlens/causes/sentence.hpp>
#include <nanlens/reader/reader.hpp>

#include "../support/finish.hpp"
#include "../support/hostile_graphs.hpp"
#include "../support/logdir_generator.hpp"

using namespace nanlens;
using test::finish;

namespace {

std::string summary(causes::Causes& causes) {
  std::string text = std::to_string(causes.done()) + " " + std::to_string(causes.explained());
  for (const auto& incident : causes.incidents())
    for (const std::uint32_t r : incident.roots)
      text += "; " + causes::tensor_name(causes.model(), causes.roots()[r].event) + " " +
              causes::class_name(causes.roots()[r].event_class) + " " + std::to_string(causes.roots()[r].reach);
  return text;
}

struct Made {
  explicit Made(const test::GeneratorOptions& options) {
    auto owned = std::make_unique<reader::MemoryStorage>();
    storage = owned.get();
    test::LogdirGenerator(options, [&](logdir::FileKind kind, const std::string& bytes) {
      files[static_cast<std::size_t>(kind)] += bytes;
    }).run();
    logdir = std::make_unique<reader::Logdir>(std::move(owned));
  }
  // Hands the reader this share of every file.
  void show(double share) {
    for (std::size_t i = 0; i < files.size(); ++i) {
      const auto end = static_cast<std::size_t>(share * static_cast<double>(files[i].size()));
      storage->append(test::generated_name(static_cast<logdir::FileKind>(i)),
                      files[i].substr(shown[i], end - shown[i]));
      shown[i] = end;
    }
    logdir->update();
  }
  std::array<std::string, logdir::num_file_kinds> files;
  std::array<std::size_t, logdir::num_file_kinds> shown{};
  reader::MemoryStorage* storage = nullptr;
  std::unique_ptr<reader::Logdir> logdir;
};

}  // namespace

TEST_CASE("TensorFlow's logdirs: kinds of answers") {
  reader::Logdir logdir(std::string(NANLENS_GOLDEN_DIR) + "/core.FULL_HEALTH");
  logdir.update();
  causes::Causes causes(*logdir.runs().at(0));
  finish(causes);
  REQUIRE(causes.headline());
  const auto s = causes::SentenceWriter(causes).sentence(*causes.headline());
  CHECK(s.op_type == "Log");
  CHECK(s.id == "log0");
  CHECK(s.place.line > 0);
  CHECK(causes.explained() + 4 >= causes.total());
  for (std::size_t i = 0; i < causes.total(); ++i) {
    const auto event = causes.event_of(i);
    const auto chain = causes.chain(event);
    REQUIRE(!chain.empty());
    CHECK(chain.back().event == event);
    CHECK(causes::is_root(chain.front().event_class));
  }
}

TEST_CASE("in slices, and while the logdir grows: the same answer as at once") {
  test::GeneratorOptions options;
  options.calls = 40;
  options.bad_every = 7;
  Made whole(options);
  whole.show(1);
  causes::Causes at_once(*whole.logdir->runs().at(0));
  finish(at_once);
  const std::string expected = summary(at_once);

  causes::Causes in_slices(*whole.logdir->runs().at(0));
  finish(in_slices, 1);
  CHECK(summary(in_slices) == expected);

  for (const bool call_ids : {true, false}) {
    options.call_ids = call_ids;
    Made growing(options);
    growing.show(0.3);
    causes::Causes causes(*growing.logdir->runs().at(0));
    for (const double share : {0.31, 0.5, 0.77, 1.0}) {
      finish(causes, 5);
      growing.show(share);
      causes.run_has_grown();
    }
    finish(causes);
    CAPTURE(call_ids);
    CHECK(summary(causes) == expected);
  }
}

TEST_CASE("a run without anything bad: no cause, but lineage") {
  Made made(test::GeneratorOptions{});
  made.show(1);
  causes::Causes causes(*made.logdir->runs().at(0));
  finish(causes);
  CHECK(causes.complete());
  CHECK(!causes.headline());
  const auto inputs = causes.lineage(causes::trace_event(3)).classification.inputs;
  REQUIRE(inputs.size() == 1);
  CHECK(inputs[0].event == causes::trace_event(2));
  CHECK(causes.killers().empty());
}

TEST_CASE("damage: any byte may be wrong, there is an answer or an honest unknown") {
  test::GeneratorOptions options;
  options.calls = 6;
  options.ops_per_graph = 5;
  options.bad_every = 3;
  const Made sound(options);
  for (std::size_t kind = 0; kind < sound.files.size(); ++kind) {
    for (std::size_t at = 0; at < sound.files[kind].size(); at += 37) {
      Made made(options);
      made.files[kind][at] = static_cast<char>(made.files[kind][at] ^ 0x55);
      made.show(1);
      for (const auto& run : made.logdir->runs()) {
        causes::Causes causes(*run);
        finish(causes);
        causes::SentenceWriter writer(causes);
        for (std::uint32_t r = 0; r < causes.roots().size(); ++r) CHECK(!writer.sentence(r).text.empty());
      }
    }
  }
}

TEST_CASE("a branch with inputs that nothing links, as of nanlens' eager ops") {
  test::LogdirWriter w("nanlens 0.1");
  w.graph("g", "step", "root");
  w.op("g", "Placeholder", "x");
  w.op("g", "If", "c", {"x:0", "x:0"});
  w.graph("b", "c_false_1", "g");
  for (int i = 0; i < 100; ++i) w.op("b", "Placeholder", "a/input_" + std::to_string(i));
  w.op("b", "Placeholder", "y");
  w.op("b", "Neg", "neg", {"y:0"});
  w.row("b", "neg", true);
  w.execution("step", {1}, {2}, false);
  auto storage = std::make_unique<reader::MemoryStorage>();
  for (const auto& [kind, bytes] : w.take()) storage->put(test::generated_name(kind), bytes);
  reader::Logdir logdir(std::move(storage));
  logdir.update();
  causes::Causes causes(*logdir.runs().at(0));
  finish(causes);
  REQUIRE(causes.headline());
  CHECK(causes.lineage(causes.event_of(0)).classification.inputs.size() == 1);
}
