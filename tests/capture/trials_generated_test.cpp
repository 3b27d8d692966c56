// A trial: programs made at random, wrapped in part. What is said for certain is so, of whatever program.
#include <doctest/doctest.h>

#include <string>

#include "generated_program.hpp"
#include "trial.hpp"

using namespace nanlens;
using causes::EventClass;
using test::GeneratedProgram;
using test::Recorded;

namespace {

constexpr TensorDebugMode modes[] = {TensorDebugMode::full_health, TensorDebugMode::concise_health,
                                     TensorDebugMode::curt_health};

// Nobody is blamed who has done nothing; what came in was not made by an op on record.
void check_certain(const causes::Sentence& s, EventClass event_class, const test::Deeds& deeds) {
  CAPTURE(s.text);
  const std::string name(causes::detail::without_number(s.op_name));  // of a node that was made anew
  if (event_class == EventClass::producer) CHECK(deeds.made.contains(name));
  if (event_class == EventClass::source) CHECK(deeds.received.contains(name));
}

void check_program(unsigned seed) {
  CAPTURE(seed);
  GeneratedProgram program(seed);
  const Recorded run([&] { program.run(); },
                     [&](DumpOptions& options) {
                       options.tensor_debug_mode = modes[seed % 5 % 3];
                       options.circular_buffer_size = seed % 7 == 0 ? 40 : -1;
                     });
  const test::Deeds& deeds = program.deeds();
  causes::Causes causes(*run);
  test::finish(causes, 3);
  causes::SentenceWriter writer(causes);
  CHECK(run->alerts().empty() == deeds.bad.empty());
  CHECK(causes.roots().empty() == deeds.bad.empty());
  if (seed % 3 == 0 && seed % 7 != 0) CHECK(causes.explained() == run->alerts().size());  // all is wrapped, all is kept
  for (std::uint32_t i = 0; i < causes.roots().size(); ++i) {
    const auto s = writer.sentence(i);
    test::check_whole(s.text);
    if (causes.confidence(causes.roots()[i]) >= 0.9F) check_certain(s, causes.roots()[i].event_class, deeds);
  }
}

}  // namespace

TEST_CASE("trial: programs made at random") {
  for (unsigned seed = 0; seed < 200; ++seed) check_program(seed);
}
