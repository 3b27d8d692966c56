// Which op has removed something bad: one that got it, and of which nothing that came out is bad.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <nanlens/causes/sentence.hpp>
#include <nanlens/reader/reader.hpp>

#include "../capture/recorded.hpp"
#include "../support/finish.hpp"
#include "../support/hostile_graphs.hpp"
#include "why_answer.hpp"

using namespace nanlens;
using test::ask;
using test::infinity;
using test::not_a_number;
using test::Recorded;
using test::WhyAnswer;
using Vector = std::vector<float>;

namespace {

// An op gets the clean second half of what another made, and gives this.
std::size_t removed_from_half(const char* op_type, const Vector& result) {
  return ask(*Recorded([&] {
           const Vector x{not_a_number, 1, 2, 3};
           record("Data", outputs(x));
           record(op_type, outputs(result), inputs(std::span(x).subspan(2)));
         }))
      .removed;
}

// Memory is set anew by what is not on record, and an op works on that in place.
std::size_t removed_once_set_anew(const char* op_type, float result) {
  return ask(*Recorded([&] {
           Vector x{not_a_number, 1};
           record("Data", outputs(x));
           std::fill(x.begin(), x.end(), result);
           record(op_type, outputs(x), inputs(x));
         }))
      .removed;
}

// How often an op with two outputs has removed what it took; `bad`: the second.
std::uint64_t removed_by_two_outputs(bool bad) {
  test::LogdirWriter w;
  w.graph("g", "step", "root");
  w.op("g", "Placeholder", "x");
  w.op("g", "DecodeCSV", "parts", {"x:0"}, 2);
  w.row("g", "x", true);
  w.row("g", "parts", false, 0);
  w.row("g", "parts", bad, 1);
  w.execution("__inference_step_1", {}, {1}, false);
  auto storage = std::make_unique<reader::MemoryStorage>();
  const auto files = w.take();
  for (const auto& [kind, bytes] : files) storage->put(logdir::file_name("tfdbg_events.1.host", kind), bytes);
  reader::Logdir logdir(std::move(storage));
  logdir.update();
  return ask(*logdir.runs().at(0)).removed;
}

}  // namespace

TEST_CASE("an op that got a clean part of something bad has removed nothing") {
  CHECK(removed_from_half("RealDiv", {1, 1}) == 0);
  CHECK(removed_from_half("Gather", {2}) == 0);
  CHECK(removed_from_half("Integrate", {2, 3}) == 0);  // of which nothing is known
  CHECK(removed_from_half("Summary", {3}) == 1);       // as it may have, of the whole
  CHECK(removed_from_half("Max", {3}) == 1);           // and nothing tells that it got a part
}

TEST_CASE("an op that can't remove anything got something else") {
  CHECK(removed_once_set_anew("Mul", 1) == 0);
  CHECK(removed_once_set_anew("Mul", 0) == 1);   // as what is not reckoned at all
  CHECK(removed_once_set_anew("Relu", 1) == 1);  // as it may have
}

TEST_CASE("integers that lie where something bad lay remove nothing") {
  for (const char* const op_type : {"aten::add_", "aten::add", "aten::where"}) {
    CAPTURE(op_type);
    const WhyAnswer a = ask(*Recorded([&] {
      const Vector x = op("aten::log", Vector{not_a_number, 1}, op("aten::randn", Vector{-1, 2}));
      record(op_type, outputs(std::vector<int>{1, 2}), inputs(x));
    }));
    CHECK(a.removed == (std::string(op_type) == "aten::where" ? 1 : 0));
  }
}

TEST_CASE("an op has removed what is in none of its outputs") {
  CHECK(removed_by_two_outputs(false) == 1);
  CHECK(removed_by_two_outputs(true) == 0);
  const auto executed = [](const Vector& second) {
    return ask(*Recorded([&] {
             const Vector x = op("Data", Vector{not_a_number, 1});
             const Vector first{1, 1};
             record("Relu", outputs(first, second), inputs(x));
           }))
        .removed;
  };
  CHECK(executed({1, 1}) == 1);
  CHECK(executed({not_a_number, 1}) == 0);
}
