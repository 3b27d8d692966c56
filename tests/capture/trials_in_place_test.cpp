// A trial: ops that write over what they read, and name only the rest as inputs; and memory that others had before.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <functional>
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

void scale(Numbers& x, float by) {
  for (float& value : x) value *= by;
  nanlens::record("Scale", outputs(x), inputs(by));
}
void divide(Numbers& x, const Numbers& by) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] /= by[i];
  nanlens::record("Divide", outputs(x), inputs(by));
}

}  // namespace

TEST_CASE("an op that does not name what it writes over as an input: a NaN there was passed on, perhaps") {
  // Small, and so large that its memory is known in parts.
  for (const std::size_t size : {std::size_t{6}, std::size_t{200'000}})
    for (const bool in_function : {false, true}) {
      CAPTURE(size);
      CAPTURE(in_function);
      const Recorded run([&] {
        Numbers weights(size, 1);
        Numbers sums(size, 2);
        sums[3] = 0;
        weights[3] = 0;
        nanlens::record("Weights", outputs(weights));
        std::optional<Function> f;
        if (in_function) f.emplace("step");
        divide(weights, sums);
        scale(weights, 3);
        const Numbers likelihood(size, 0.5F);
        for (std::size_t i = 0; i < size; ++i) weights[i] *= likelihood[i];
        nanlens::record("Update", outputs(weights), inputs(likelihood));
      });
      const TrialAnswer a = test::answer_of(run);
      CHECK(a.op() == "Divide");
      CHECK(a.sentence.consequence == "All 3 bad tensors follow from it.");
      CHECK(a.causes == 1);
    }
}

TEST_CASE("infinity that is scaled by 0 in place: the 0 alone would have made all of it NaN") {
  const Recorded run([] {
    Numbers x{1, 2, 3};
    nanlens::record("Gradient", outputs(x));
    divide(x, {1, 0, 1});
    scale(x, 0);
  });
  const TrialAnswer a = test::answer_of(run);
  CHECK(a.op() == "Divide");
  CHECK(a.sentence.consequence == "All 2 bad tensors follow from it.");
}

TEST_CASE("memory that was bad before, at other places, or by the same op: what is made there anew is its own") {
  const Recorded elsewhere([] {
    Numbers x{1, 1, 1, 1};
    nanlens::record("Ones", outputs(x));
    divide(x, {1, 0, 1, 1});
    for (float& value : x) value = -1;
    x[3] = -4;
    for (std::size_t i = 0; i < 4; ++i) x[i] = i == 2 ? std::sqrt(x[i]) : 1.0F;
    nanlens::record("Polish", outputs(x), inputs(Numbers{2, 2, -2, 2}));
  });
  CHECK(test::answer_of(elsewhere).causes == 2);
  const Recorded again([] {
    Numbers x(4);
    for (int turn = 0; turn < 3; ++turn) {
      x = {1, 0, 1, 1};
      divide(x, {1, 0, 1, 1});
    }
  });
  const TrialAnswer a = test::answer_of(again);
  CHECK(a.op() == "Divide");
  CHECK(a.sentence.consequence == "All 3 bad tensors follow from it. It happened 3 times; this is the first.");
}

TEST_CASE("results that lie where others lay: what they are made of is 0 where they are bad") {
  const Recorded run([] {
    const Numbers x{3, 0, 1};
    Numbers y(3);
    for (const char* const name : {"First", "Second", "Third"}) {
      std::transform(x.begin(), x.end(), y.begin(), [](float value) { return std::log(value); });
      if (name[0] == 'T')
        y = nanlens::op(name, std::move(y), x);
      else
        nanlens::record(name, outputs(y), inputs(x));
    }
  });
  CHECK(test::answer_of(run).makers == std::vector<std::string>{"First", "Second", "Third"});
}

TEST_CASE("an input in memory that was bad before: it is not taken for that where the output is not as bad") {
  const Recorded run([] {
    Numbers dots(4);
    const Numbers norms{1, 2, 0, 3};
    Numbers cosine(4);
    for (int query = 0; query < 3; ++query) {
      for (std::size_t i = 0; i < 4; ++i) dots[i] = i == 2 ? 0.0F : 1.0F;
      for (std::size_t i = 0; i < 4; ++i) cosine[i] = dots[i] / norms[i];
      nanlens::record("Cosine", outputs(cosine), inputs(dots, norms));
      for (float& value : dots) value = cosine[2];
      nanlens::record("Softmax", outputs(dots), inputs(cosine));
    }
  });
  const TrialAnswer a = test::answer_of(run);
  CHECK(a.op() == "Cosine");
  CHECK(a.sentence.consequence == "All 6 bad tensors follow from it. It happened 3 times; this is the first.");
}

TEST_CASE("inputs of another shape with as many elements: what they held where the output is bad") {
  const Recorded run([] {
    const Numbers height{0, 3, 1, 5, 6, 0};
    const Numbers area{1, 2, -1, 4, 5, 6};
    Numbers shade(6);
    for (std::size_t i = 0; i < 6; ++i) shade[i] = std::sqrt(area[i]) + height[i];
    nanlens::record("Shade", outputs(tensor_view(shade.data(), {2, 3})), inputs(height, area));
  });
  CHECK(test::answer_of(run).says("input 1 has 1 negative value: a root"));
}

TEST_CASE("a complex tensor is not counted among the bad ones: it is not the only one that came of it") {
  const Recorded run([] {
    using Complex = std::complex<double>;
    const std::vector<Complex> zero{{1, 0}, {0, 0}};
    std::vector<Complex> ratio{Complex{1, 1} / zero[0], Complex{1, 1} / zero[1]};
    nanlens::record("Divide", outputs(ratio), inputs(zero));
    const std::vector<double> real{ratio[0].real(), ratio[1].real()};
    nanlens::record("Real", outputs(real), inputs(ratio));
  });
  const TrialAnswer a = test::answer_of(run);
  CHECK(a.op() == "Divide");
  CHECK(a.sentence.consequence == "1 bad tensor follows from it.");
}

TEST_CASE("an op's value in memory that was bad before: a variable that it has changed, or new in what was freed") {
  for (const std::size_t zeros : {std::size_t{1}, std::size_t{4}}) {
    CAPTURE(zeros);
    const Recorded run([&] {
      Numbers x(4, 1);
      std::fill_n(x.begin(), zeros, 0.0F);
      const Numbers emission(4, -1);
      Numbers next(4);
      std::transform(x.begin(), x.end(), next.begin(), [](float value) { return std::log(value); });
      next = nanlens::op("Log", std::move(next), x);
      for (std::size_t i = 0; i < 4; ++i) next[i] += emission[i];
      nanlens::op("AddEmission", next, emission);
    });
    const TrialAnswer a = test::answer_of(run);
    CHECK(a.makers == std::vector<std::string>{"Log"});
    CHECK(a.causes == (zeros == 4 ? 2 : 1));  // all of it bad: nobody can tell
  }
}

TEST_CASE("what another call, another function or an eager op made is written over") {
  const Numbers x{1, 0, 2, 3};
  const Numbers ones(4, 1);
  Numbers y(4);
  const auto log = [&] {
    std::transform(x.begin(), x.end(), y.begin(), [](float value) { return std::log(value); });
    nanlens::record("Log", outputs(y), inputs(x));
  };
  const auto times = [&](const char* name) {
    for (std::size_t i = 0; i < 4; ++i) y[i] *= ones[i];
    nanlens::record(name, outputs(y), inputs(ones));
  };
  const auto in = [](const char* function, auto&& body) {
    const Function f(function);
    body();
  };
  const std::function<void()> ways[] = {
      [&] { in("one", log), times("Scale"); },
      [&] { log(), in("one", [&] { times("Scale"); }); },
      [&] { in("one", log), in("two", [&] { times("Scale"); }); },
      [&] { in("outer", [&] { in("inner", log), times("Scale"); }); },
      [&] { in("outer", [&] { log(), in("inner", [&] { times("Scale"); }); }); },
      [&] { in("one", log), in("one", [&] { times("Scale"); }); },
      [&] { in("one", log), times("Scale"), y = nanlens::op("Copy", std::move(y), ones); },
  };
  for (const auto& way : ways) {
    CAPTURE(&way - ways);
    const Recorded run([&] { way(); });
    const TrialAnswer a = test::answer_of(run);
    CHECK(a.makers == std::vector<std::string>{"Log"});
    CHECK(a.causes == 1);
  }
}

TEST_CASE("all of it bad, written over in place: in a function as outside") {
  for (const bool in_function : {false, true}) {
    CAPTURE(in_function);
    const Recorded run([&] {
      std::optional<Function> f;
      if (in_function) f.emplace("step");
      Numbers x(4, 1);
      divide(x, Numbers(4, 0));
      scale(x, 2);
    });
    const TrialAnswer a = test::answer_of(run);
    CHECK(a.op() == "Divide");
    CHECK(a.causes == 1);
    CHECK(a.sentence.consequence == "All 2 bad tensors follow from it.");
  }
}

TEST_CASE("a running mean that was given one infinity keeps it: it did not make it again from what is clean") {
  for (const bool in_function : {false, true})
    for (const bool moved : {false, true}) {
      CAPTURE(in_function);
      CAPTURE(moved);
      const Recorded run([&] {
        Numbers mean(4, 0);
        for (int step = 0; step < 6; ++step) {
          std::optional<Function> f;
          if (in_function) f.emplace("step");
          const Numbers x{1, step == 2 ? 0.0F : 2.0F, 3, 4};
          Numbers logs(4);
          std::transform(x.begin(), x.end(), logs.begin(), [](float value) { return std::log(value); });
          nanlens::record("Log", outputs(logs), inputs(x));
          for (std::size_t i = 0; i < 4; ++i) mean[i] = 0.9F * mean[i] + 0.1F * logs[i];
          if (moved)
            mean = nanlens::op("Mean", std::move(mean), logs);
          else
            nanlens::record("Mean", outputs(mean), inputs(logs));
        }
      });
      const TrialAnswer a = test::answer_of(run);
      CHECK(a.op() == "Log");
      CHECK(a.sentence.consequence == "All 5 bad tensors follow from it.");
    }
}

TEST_CASE("a state that is named among the inputs: known by its run of the graph, whatever the call") {
  for (const bool in_function : {false, true}) {
    CAPTURE(in_function);
    const Recorded run([&] {
      Numbers weights(4, 1);
      Numbers momentum(4, 0);
      const Numbers x{1, 2, 3, 4};
      for (int step = 0; step < 5; ++step) {
        std::optional<Function> f;
        if (in_function) f.emplace("step");
        Numbers gradient(x);
        if (step == 1) gradient[2] = HUGE_VALF;
        nanlens::record("Gradient", outputs(gradient), inputs(x));
        for (std::size_t i = 0; i < 4; ++i) {
          momentum[i] = 0.9F * momentum[i] + gradient[i];
          weights[i] -= 0.1F * momentum[i];
        }
        nanlens::record("Sgd", outputs(weights, momentum), inputs(weights, momentum, gradient));
      }
    });
    const TrialAnswer a = test::answer_of(run);
    CHECK(a.op() == "Gradient");
    CHECK(a.sentence.consequence == "All 9 bad tensors follow from it.");
    CHECK(a.causes == 1);
  }
}

TEST_CASE("an op that fills its buffer anew, or adds to it: from the second time on nobody can tell") {
  const Recorded run([] {
    Numbers field(4);
    const Numbers x{1, 2, 3, 4};
    for (int step = 0; step < 4; ++step) {
      field = x;
      if (step > 0) field[2] = std::nanf("");
      nanlens::record("Physics", outputs(field), inputs(x));
    }
  });
  const TrialAnswer a = test::answer_of(run);
  CHECK(a.op() == "Physics");
  CHECK(a.causes == 1);
  CHECK(a.sentence.consequence ==
        "It is 1 of 3 bad tensors; 2 more come from the same op, and it can't be told whether it made them or passed "
        "them on.");
}

TEST_CASE("an op of which it is known once, and can't be told later: what follows from it is counted apart") {
  const Recorded run([] {
    Numbers next(4, 1);
    for (int turn = 0; turn < 3; ++turn) {
      const Numbers emission(4, turn == 0 ? -HUGE_VALF : -1.0F);
      next = nanlens::op("Identity", Numbers(next), next);
      for (std::size_t i = 0; i < 4; ++i) next[i] += emission[i];
      nanlens::op("AddEmission", next, emission);
    }
  });
  const TrialAnswer a = test::answer_of(run);
  CHECK(a.says("already in input 0 of AddEmission"));
  CHECK(a.causes == 1);
  CHECK(a.sentence.consequence ==
        "2 of 5 bad tensors follow from it; 3 more come from the same op, and it can't be told whether it made them "
        "or passed them on.");
}

TEST_CASE("a bad element that is mended where nobody looks: what an op makes of the tensor then is its own") {
  const Recorded run([] {
    constexpr std::size_t between = 1237;  // the words that tell whether memory was changed
    Numbers x(4096, 2);
    x[between] = 0;
    Function f("step");
    Numbers logs(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) logs[i] = std::log(x[i]);
    nanlens::record("Log", outputs(logs), inputs(x));
    logs[between] = 0;
    Numbers inverse(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) inverse[i] = 1 / logs[i];
    nanlens::record("Reciprocal", outputs(inverse), inputs(logs));
  });
  const TrialAnswer a = test::answer_of(run);
  CHECK(a.makers == std::vector<std::string>{"Log", "Reciprocal"});
  CHECK(a.causes == 2);
}
