// A trial: states that are written over, in a ring that has lost what they held.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trial.hpp"

using namespace nanlens;
using test::Recorded;
using test::TrialAnswer;

namespace {

using Numbers = std::vector<float>;

void keep_few(DumpOptions& o) { o.circular_buffer_size = 8; }
// Is less on record than what the window around the first bad tensor and the ring hold?
bool has_gap(const Recorded& run) { return run->num_executions() + run->num_traces() < 1500; }

Numbers log_of(const Numbers& x) {
  Numbers y(x.size());
  std::transform(x.begin(), x.end(), y.begin(), [](float value) { return std::log(value); });
  nanlens::record("Log", outputs(y), inputs(x));
  return y;
}
void add_to(Numbers& mean, const Numbers& x) {
  for (std::size_t i = 0; i < x.size(); ++i) mean[i] = 0.9F * mean[i] + 0.1F * x[i];
  nanlens::record("Mean", outputs(mean), inputs(x));
}
// What else a long step records.
void work(int ops) {
  Numbers scratch(4);
  for (int k = 0; k < ops; ++k) {
    scratch.assign(4, static_cast<float>(k));
    nanlens::record("Fill", outputs(scratch));
  }
}

}  // namespace

TEST_CASE("a state behind the gap of a ring: its op keeps what it was given, and did not make it again") {
  for (const bool in_function : {false, true}) {
    CAPTURE(in_function);
    const Recorded run(
        [&] {
          Numbers mean(4, 0);
          for (int step = 0; step < 2000; ++step) {
            std::optional<Function> f;
            if (in_function) f.emplace("step");
            add_to(mean, log_of({1, step == 2 ? 0.0F : 2.0F, 3, 4}));
          }
        },
        keep_few);
    CHECK(has_gap(run));
    const TrialAnswer a = test::answer_of(run);
    CHECK(a.op() == "Log");
    CHECK(a.causes == 1);
    CHECK(a.sentence.consequence.starts_with("All "));
  }
}

TEST_CASE("an op whose state was bad before it is on record: nobody can tell whether it made what it holds") {
  const Recorded run(
      [] {
        Numbers mean(4, 0);
        Numbers kept(4);
        for (int step = 0; step < 4; ++step) {
          Numbers logs = log_of({1, step == 1 ? 0.0F : 2.0F, 3, 4});
          work(600);
          kept = step == 1 ? logs : Numbers(4, 1);
          work(600);
          add_to(mean, kept);
          work(600);
        }
        add_to(mean, log_of({1, 2, 3, 4}));
      },
      [](DumpOptions& o) {
        keep_few(o);
        o.pinned_sites = 1;
      });
  CHECK(has_gap(run));
  causes::Causes causes(*run);
  test::finish(causes);
  causes::SentenceWriter writer(causes);
  const auto& groups = writer.groups().list();
  REQUIRE(groups.size() == 2);
  CHECK(writer.sentence(groups[0].root).op_type == "Log");
  const causes::Sentence last = writer.sentence(groups[1].root);
  CHECK(last.op_type == "Mean");
  CHECK(last.text.find("Can't tell what made Mean:0") == 0);
  CHECK(last.text.find("what was in its memory before is not on record") != std::string::npos);
  CHECK(last.remedy.find("circular_buffer_size=-1") != std::string::npos);
}

TEST_CASE("an op that made the first bad tensor of a ring: what its memory held can't have been bad") {
  const Recorded run(
      [] {
        Numbers field(4, 1);
        nanlens::record("Physics", outputs(field), inputs(Numbers{1, 2, 3, 4}));
        work(2000);
        field[2] = std::nanf("");
        nanlens::record("Physics", outputs(field), inputs(Numbers{1, 2, 3, 4}));
      },
      keep_few);
  CHECK(has_gap(run));
  const TrialAnswer a = test::answer_of(run);
  CHECK(a.op() == "Physics");
  CHECK(a.event_class == causes::EventClass::producer);
}

TEST_CASE("an input that a recorded op made, of which a ring has lost the record: it is not said that none made it") {
  for (const auto& [op, in_place] :
       {std::pair("Step", false), std::pair("Step", true), std::pair("Neg", true), std::pair("Identity", false)}) {
    CAPTURE(op);
    CAPTURE(in_place);
    const Recorded run(
        [op = op, in_place = in_place] {
          Numbers now(16, 1);
          Numbers other(16);
          for (int step = 0; step < 2000; ++step) {
            Numbers& next = in_place ? now : other;
            for (std::size_t i = 0; i < 16; ++i) next[i] = now[i] * 0.9F;
            if (step == 2) next[5] = std::nanf("");
            if (step > 2) next[7] = std::nanf("");
            nanlens::record(op, outputs(next), inputs(now));
            if (!in_place) std::swap(now, other);
          }
        },
        keep_few);
    CHECK(has_gap(run));
    causes::Causes causes(*run);
    test::finish(causes);
    causes::SentenceWriter writer(causes);
    bool is_told = false;
    for (std::uint32_t i = 0; i < causes.roots().size(); ++i) {
      const std::string text = writer.sentence(i).text;
      CAPTURE(text);
      CHECK(text.find("no recorded op made it") == std::string::npos);
      CHECK(text.find("can't be read here") == std::string::npos);
      CHECK(text.find("outside the record") == std::string::npos);
      is_told = is_told || text.find("the record of what made input 0 is lost") != std::string::npos;
    }
    CHECK(is_told);
  }
}

TEST_CASE("how often it happened, in a ring that may have lost some of it: at least so often, on record") {
  for (const int steps : {3, 3000}) {
    CAPTURE(steps);
    const Recorded run(
        [&] {
          for (int step = 0; step < steps; ++step) log_of({1, 0, 3});
        },
        keep_few);
    const std::string consequence = test::answer_of(run).sentence.consequence;
    CAPTURE(consequence);
    CHECK(run->kept_last() == (steps > 8 ? 8 : 0));
    CHECK((consequence.find("It happened at least") != std::string::npos) == (steps > 8));
    CHECK((consequence.find("on record") != std::string::npos) == (steps > 8));
  }
}
