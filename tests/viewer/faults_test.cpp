// What throws inside the engine becomes a diagnostic; everything else goes on.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>

#include <nanlens/logdir/encode.hpp>

#include "../support/logdir_generator.hpp"
#include "session.hpp"

using nanlens::test::Session;
namespace reader = nanlens::reader;
namespace viewer = nanlens::viewer;

namespace {

const std::string full_health = std::string(NANLENS_GOLDEN_DIR) + "/core.FULL_HEALTH";

// Reads until it is told to throw.
class Failing final : public reader::ByteSource {
 public:
  Failing(std::unique_ptr<reader::ByteSource> whole, const bool& fails) : whole_(std::move(whole)), fails_(fails) {}
  std::uint64_t size() override { return whole_->size(); }
  std::size_t read(std::uint64_t offset, unsigned char* to, std::size_t count) override {
    if (fails_) throw std::runtime_error("no bytes today");
    return whole_->read(offset, to, count);
  }
  std::string error() override { return whole_->error(); }

 private:
  std::unique_ptr<reader::ByteSource> whole_;
  const bool& fails_;
};

class FailingStorage final : public reader::Storage {
 public:
  FailingStorage(std::unique_ptr<reader::Storage> whole, const bool& fails) : whole_(std::move(whole)), fails_(fails) {}
  std::vector<std::string> list(std::string_view prefix) override {
    if (fails_) throw std::runtime_error("no list today");
    return whole_->list(prefix);
  }
  std::unique_ptr<reader::ByteSource> open(const std::string& name, std::string& why) override {
    return std::make_unique<Failing>(whole_->open(name, why), fails_);
  }

 private:
  std::unique_ptr<reader::Storage> whole_;
  const bool& fails_;
};

bool tells(const Session& s, const std::string& part) {
  return std::any_of(s.diagnostics.list.begin(), s.diagnostics.list.end(), [&](const viewer::Fault& fault) {
    return fault.file.empty() && fault.message.find(part) != std::string::npos;
  });
}

}  // namespace

TEST_CASE("what can't be opened or read because something threw is said, and another logdir opens") {
  bool fails = false;
  Session s([&](const std::string& path, std::string&) -> std::unique_ptr<reader::Storage> {
    if (path == "thrown") throw std::runtime_error("out of luck");
    return std::make_unique<FailingStorage>(std::make_unique<reader::DirectoryStorage>(full_health), fails);
  });
  s.open("thrown");
  CHECK_FALSE(s.overview.open);
  CHECK(s.overview.error.find("out of luck") != std::string::npos);
  CHECK(tells(s, "out of luck"));
  CHECK_FALSE(s.status.busy);

  fails = true;
  s.ask(viewer::Open{{"unreadable"}});
  CHECK_FALSE(s.overview.loading);
  CHECK(s.overview.error.find("no list today") != std::string::npos);
  CHECK(s.overview.num_diagnostics == 1);

  fails = false;
  s.ask(viewer::Open{{"fine"}});
  CHECK(s.overview.num_diagnostics == 0);
  CHECK(s.rows.total == 67);
}

TEST_CASE("rules that ask for an analysis that was given up say so, others are judged") {
  const nanlens::test::GeneratorOptions options{.calls = 400, .ops_per_graph = 25, .bad_every = 10};
  bool fails = false;
  Session s([&](const std::string&, std::string&) {
    auto memory = std::make_unique<reader::MemoryStorage>();
    for (auto& [name, bytes] : nanlens::test::generated_files(options)) memory->put(name, std::move(bytes));
    memory->put("nanlens.rules", "causes: made\nall: size>=0\n");
    return std::make_unique<FailingStorage>(std::move(memory), fails);
  });
  s.view.row_count = 0;
  s.watch_rows = [&](const viewer::Rows& rows) { fails = rows.total == 10000; };  // all is read
  s.open("x");
  CHECK_FALSE(s.status.busy);
  REQUIRE(s.rules.num_rules == 2);
  CHECK(s.rules.num_judging == 0);
  CHECK(s.rules.num_not_judged == 2);
  CHECK(s.rules.lines.at(0).state == viewer::RuleState::not_judged);
  CHECK(s.rules.lines.at(0).problem.find("analysis") != std::string::npos);
  CHECK(s.rules.lines.at(1).problem.find("no bytes today") != std::string::npos);
  s.watch_rows = {};
  fails = false;
  s.view.rules.draft = "mine: made";
  s.show();
  CHECK(s.rules.draft.state == viewer::RuleState::not_judged);
  CHECK(s.rules.draft.problem.find("analysis") != std::string::npos);
  s.ask(viewer::SetRules{{{"nanlens.rules", "", "all: size>=0\n"}}});
  CHECK(s.rules.lines.at(0).state == viewer::RuleState::judged);
}

TEST_CASE("an answer that throws is given up, and the engine comes to rest and goes on") {
  const nanlens::test::GeneratorOptions options{.calls = 4000, .ops_per_graph = 25, .bad_every = 10};
  bool fails = false;
  Session s([&](const std::string&, std::string&) {
    auto memory = std::make_unique<reader::MemoryStorage>();
    for (auto& [name, bytes] : nanlens::test::generated_files(options)) memory->put(name, std::move(bytes));
    return std::make_unique<FailingStorage>(std::move(memory), fails);
  });
  s.view.row_count = 10;
  s.open("x");
  REQUIRE(s.rows.total == 100000);
  fails = true;
  s.view.filter = "device:cpu";
  s.show();
  CHECK_FALSE(s.status.busy);
  s.view.row_first = 50000;
  s.show();
  s.select(viewer::IntentKind::trace, 77777);
  s.ask(viewer::Export{"rows", false});
  s.ask(viewer::Reload{});
  CHECK_FALSE(s.status.busy);
  // Each reason is told once, however often it was met.
  CHECK(tells(s, "no bytes today"));
  CHECK(tells(s, "no list today"));
  const auto& list = s.diagnostics.list;
  CHECK(std::count_if(list.begin(), list.end(), [](const viewer::Fault& fault) { return fault.file.empty(); }) == 2);
  CHECK(s.overview.num_diagnostics == list.size());

  fails = false;
  s.ask(viewer::Reload{});
  s.view.filter = "bad";
  s.show();
  CHECK(s.rows.shown == 10000);
}

TEST_CASE("what a recording left out, as was asked for, is among what is said of it") {
  namespace logdir = nanlens::logdir;
  Session s([&](const std::string&, std::string&) {
    auto memory = std::make_unique<reader::MemoryStorage>();
    for (auto& [name, bytes] : nanlens::test::generated_files({.calls = 10})) {
      logdir::NanlensExtension end;
      end.left_out = {.ops = 1234, .steps = 99, .ns = 12'300'000'000};
      if (name.ends_with("metadata"))
        logdir::append_event(bytes, 1.7e9, logdir::DebugMetadata{"nanlens-test", std::string(logdir::file_version), ""},
                             &end);
      memory->put(name, std::move(bytes));
    }
    return memory;
  });
  s.open("x");
  CHECK(s.overview.num_diagnostics == 1);
  CHECK(tells(s, "99 steps and 1,234 ops (in 12.3 s) were left out, as asked for"));
}
