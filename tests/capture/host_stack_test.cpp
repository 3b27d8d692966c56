// Stacks that the host knows: an interpreter's, say.
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include <nanlens/reader/stack.hpp>

#include "recorded.hpp"

using namespace nanlens;
using detail::SourcePlace;
using test::Recorded;
using Vector = std::vector<float>;

namespace {

void record_with(std::uint32_t stack, Vector& value) {
  auto outputs = nanlens::outputs(value);
  CHECK(detail::recorder().record({"Log", "Log", SourcePlace::of_stack(stack)}, nullptr, 0, outputs.data(),
                                  outputs.size(), {}) == nullptr);
}

// "file:line function" of each frame, outermost first.
std::string frames_of(const Recorded& run, std::size_t execution) {
  std::string text;
  for (const auto& frame : reader::resolve_stack(*run, run->execution(execution)->event.code_location))
    text += frame.file_path + ":" + std::to_string(frame.line) + " " + frame.function + "; ";
  return text;
}

}  // namespace

TEST_CASE("a host's own stack is recorded frame by frame, instead of return addresses") {
  const Recorded run([] {
    Vector x{1, std::nanf("")};
    std::uint32_t stack = 0;
    {
      const std::string file = "/work/train.py";  // the texts end before they are written
      const SourcePlace frames[] = {{file.c_str(), "<module>", 20, 0}, {file.c_str(), "loss", 8, 0}};
      stack = detail::recorder().add_stack(frames, 2);
      CHECK(detail::recorder().add_stack(frames, 2) == stack);
      CHECK(detail::recorder().add_stack(frames, 1) != stack);
    }
    record_with(stack, x);
    const SourcePlace backward[] = {{"/work/train.py", "<module>", 21, 0}};
    const std::uint32_t outer = detail::recorder().add_stack(backward, 1);
    record_with(detail::recorder().join_stacks(outer, stack), x);
  });
  CHECK(frames_of(run, 0) == "/work/train.py:20 <module>; /work/train.py:8 loss; ");
  CHECK(frames_of(run, 1) == "/work/train.py:21 <module>; /work/train.py:20 <module>; /work/train.py:8 loss; ");
}

TEST_CASE("no frames are no stack, and ops of different stacks are different places") {
  CHECK(detail::recorder().add_stack(nullptr, 0) == SourcePlace::no_stack);
  CHECK(detail::hash_place(SourcePlace::of_stack(1)) != detail::hash_place(SourcePlace::of_stack(2)));
  CHECK(SourcePlace("a.cpp", "f", 1, 2).stack() == SourcePlace::no_stack);
}
