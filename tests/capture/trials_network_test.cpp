// A trial: a network that is wrapped in part.
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "trial.hpp"
#include "trial_network.hpp"

using namespace nanlens;
using test::Batch;
using test::DenseLayer;
using test::Floats;
using test::MapLayer;
using test::Network;
using test::NormLayer;
using test::Recorded;
using test::SoftmaxLayer;
using test::Trial;
using test::TrialAnswer;

namespace {

Network classifier(float epsilon = 1e-5F) {
  Network net;
  net.add<DenseLayer>(4U, 6U);
  net.add<MapLayer>("relu", [](float v) { return v > 0 ? v : 0; }, [](float v) { return v > 0 ? 1.0F : 0.0F; });
  net.add<NormLayer>(epsilon);
  net.add<DenseLayer>(6U, 3U);
  net.add<SoftmaxLayer>();
  return net;
}

Batch samples() {
  Batch batch{Floats(5 * 4), 4};
  for (std::size_t i = 0; i < batch.values.size(); ++i) batch.values[i] = static_cast<float>((i * 5 + 3) % 11) / 4;
  return batch;
}

const std::vector<std::int32_t> sample_labels{0, 2, 1, 2, 0};

void train_network(Network& net, int steps = 2, float rate = 0.01F) {
  for (int i = 0; i < steps; ++i) net.train_on(samples(), sample_labels, rate);
}

const Trial network_trials[] = {
    {"a probability underflows to 0, whose logarithm is taken",
     [] {
       Network net = classifier();
       net.at(3).weights[0][1] = 1000;
       net.add<MapLayer>("log", [](float v) { return std::log(v); }, [](float v) { return 1 / v; });
       net.infer(samples());
     },
     "log layer5", "log_softmax", "because softmax underflowed to 0", true, 1},
    {"a probability underflows to 0, by which the gradient of the loss divides",
     [] {
       Network net = classifier();
       net.at(3).weights[0][1] = 1000;
       train_network(net);
     },
     "cross-entropy-grad loss", "generic", "zeros: a division by 0 or a logarithm of 0 inside may have made it", true,
     3},
    {"dead units, and a norm without an epsilon",
     [] {
       Network net = classifier(0);
       net.at(0).weights[0].assign(net.at(0).weights[0].size(), -1.0F);
       train_network(net);
     },
     "batch-norm layer2", "generic", "from the clean result of relu", true, 3},
    {"a root of logarithms",
     [] {
       Network net = classifier();
       net.add<MapLayer>("log", [](float v) { return std::log(v); }, [](float v) { return 1 / v; });
       net.add<MapLayer>("sqrt", [](float v) { return std::sqrt(v); }, [](float v) { return 0.5F / std::sqrt(v); });
       net.infer(samples());
     },
     "sqrt layer6", "sqrtneg", "got 15 negative values from the result of log", true, 1},
    {"the loader's second batch holds a NaN",
     [] {
       Network net = classifier();
       for (int i = 0; i < 3; ++i) {
         Batch batch = samples();
         if (i == 1) batch.values[9] = NAN;
         net.train_on(batch, sample_labels, 0.01F);
       }
     },
     "dense layer0", "arrived", "already in input 0 of dense \"layer0\"", false, 3},
    {"one of the initial weights is a NaN",
     [] {
       Network net = classifier();
       net.at(3).weights[0][4] = NAN;
       train_network(net);
     },
     "dense layer3", "arrived", "already in input 1 of dense \"layer3\"", false, 3},
    {"the bias was never initialised",
     [] {
       Network net = classifier();
       net.at(3).weights[1][2] = -INFINITY;
       net.at(3).weights[1][1] = INFINITY;
       net.infer(samples());
     },
     "dense layer3", "arrived", "The −∞ and +∞ were already in input 2 of dense \"layer3\"", false, 1},
    {"a layer that is not wrapped divides 0 by 0",
     [] {
       Network net = classifier(0);
       net.at(2).wrapped = false;
       net.at(0).weights[0].assign(net.at(0).weights[0].size(), -1.0F);
       train_network(net);
     },
     "dense layer3", "arrived", "already in input 0 of dense \"layer3\"", false, 3},
    {"dropout, which nobody wrapped, drops everything and scales by 1 / 0",
     [] {
       Network net = classifier();
       net.after_hook = [](std::size_t layer, Floats& y) {
         for (float& v : y) v *= layer == 1 ? 0.0F * INFINITY : 1.0F;
       };
       train_network(net);
     },
     "batch-norm layer2", "changed", "which held the result of relu, was changed since that was recorded", false, 3},
    {"the optimizer, which nobody wrapped, takes too large a step",
     [] {
       Network net = classifier();
       for (int i = 0; i < 4; ++i) net.train_on(samples(), sample_labels, i == 2 ? INFINITY : 0.01F);
     },
     "dense layer0", "arrived", "NaN, −∞ and +∞ were already in input 1 of dense \"layer0\"", false, 2},
};

}  // namespace

TEST_CASE("trial: a network with one hook, wrapped in part") {
  test::check_clean([] {
    Network net = classifier();
    train_network(net, 3);
  });
  for (const bool in_functions : {false, true}) {
    CAPTURE(in_functions);
    Network::in_functions = in_functions;
    test::check_trials(
        network_trials,
        [](const std::string& op) { return op == "cross-entropy-grad loss" ? Network::loss_line : Network::hook_line; },
        in_functions);
  }
  Network::in_functions = false;
}

TEST_CASE("trial: what is written over before it is recorded is the op's, and the remedy says what else it may be") {
  const test::Recorded run([] {
    Network net = classifier();
    net.before_hook = [](std::size_t layer, Floats& y) { y[0] = layer == 1 ? NAN : y[0]; };
    net.infer(samples());
  });
  const test::TrialAnswer a = test::answer_of(run);
  CHECK(a.op() == "relu layer1");
  CHECK(a.says("and its inputs were clean when it had run"));
  CHECK(a.sentence.remedy.find("written over its result before it was recorded") != std::string::npos);
}

namespace {

struct Scaled {
  std::uint16_t bits = 0x7c00;               // +∞ in float16
  const char* name = "MulBackward0 of net";  // of a node of PyTorch's backward pass
  const char* next = "net.fc";
  bool is_step_taken = false;
  bool is_clipped = false;
  bool goes_on = true;
  bool has_next_pass = false;
  bool is_heard_of_later = false;
};

constexpr const char* search_for_bad = "aten::_amp_foreach_non_finite_check_and_unscale_";

enum class Seen : std::uint8_t { by_search, by_step, in_backward_pass };

// A step of which the backward pass is not on record, or one op of it: what that, the search, and the step have got.
void unseen_step(float found, Seen seen = Seen::by_search) {
  const std::vector<float> arriving{found, 2};
  std::vector<float> product(arriving);
  if (seen == Seen::in_backward_pass)
    nanlens::record({"aten::mm", "CompiledFunctionBackward of net"}, outputs(product), inputs(arriving));
  std::vector<float> gradient(arriving);
  nanlens::record(search_for_bad, outputs(gradient), inputs(arriving));
  std::vector<float> weight{1, 2};
  if (seen == Seen::by_step) {
    weight[0] = found;
    nanlens::record("aten::add_", outputs(weight), inputs(std::as_const(gradient)));
  }
  float scale = 2;
  nanlens::record("aten::_amp_update_scale_", outputs(scale));
  for (const void* const memory : std::initializer_list<const void*>{arriving.data(), product.data(), gradient.data()})
    nanlens::forget(memory, 8);
}
std::size_t causes_of_unseen(std::initializer_list<float> found, Seen seen = Seen::by_search) {
  return test::answer_of(Recorded([&] {
           for (const float f : found) unseen_step(f, seen);
         }))
      .causes;
}

// A step of PyTorch with loss scaling, as far as it is told apart.
void scaled_step(const Scaled& what) {
  std::vector<float> gradient{1e6F, 2};
  std::vector<std::uint16_t> halves{what.bits, 0x4000};
  const TensorView half = dense_view(halves.data(), DType::float16, {2});
  nanlens::record("aten::mul", outputs(gradient));
  nanlens::record({"aten::_to_copy", what.name}, outputs(half), inputs(gradient));
  std::vector<std::uint16_t> product(halves);
  const TensorView next = dense_view(product.data(), DType::float16, {2});
  nanlens::record({"aten::mm", what.next}, outputs(next), inputs(half));
  std::vector<float> unscaled{std::numeric_limits<float>::infinity(), 2};
  nanlens::record(search_for_bad, outputs(unscaled), inputs(next));
  std::vector<float> weight{std::numeric_limits<float>::infinity(), 2};
  if (what.is_step_taken) nanlens::record("aten::add_", outputs(weight), inputs(unscaled));
  float norm = std::numeric_limits<float>::infinity();
  if (what.is_clipped) {
    nanlens::record("aten::linalg_vector_norm", outputs(norm), inputs(unscaled));
    unscaled[0] = NAN;  // what was infinite, by the quotient of that norm
    nanlens::record("aten::mul_", outputs(unscaled), inputs(std::as_const(unscaled)));
  }
  float scale = 2;
  if (what.goes_on) nanlens::record("aten::_amp_update_scale_", outputs(scale));
  if (what.has_next_pass) nanlens::record({"aten::mul", "MulBackward0 of net"}, outputs(scale));
  float later = std::numeric_limits<float>::infinity();
  if (what.is_heard_of_later) nanlens::record("aten::add", outputs(later), inputs(norm));
  for (const std::vector<std::uint16_t>* const memory : {&halves, &product}) nanlens::forget(memory->data(), 4);
  nanlens::forget(unscaled.data(), 8);
}
TrialAnswer loss_scaling(const Scaled& what) {
  return test::answer_of(Recorded([&] { scaled_step(what); }));
}

}  // namespace

TEST_CASE("infinities for which loss scaling has left out a step are expected; all else about it is not") {
  const TrialAnswer a = loss_scaling({});
  CHECK(a.causes == 0);
  CHECK(a.sentence.text.empty());
  CHECK(loss_scaling({.name = "aten::_to_copy", .next = "AddmmBackward0"}).causes == 0);  // between two nodes
  CHECK(loss_scaling({.name = "aten::_to_copy", .next = "AccumulateGrad"}).causes == 0);
  CHECK(loss_scaling({.bits = 0x7e00}).op() == "aten::_to_copy MulBackward0 of net");  // a NaN
  CHECK(loss_scaling({.name = "net.fc"}).causes == 1);                                 // in the forward pass
  CHECK(loss_scaling({.is_step_taken = true}).causes == 1);
  CHECK(loss_scaling({.goes_on = false}).causes == 1);    // who knows what came then
  CHECK(loss_scaling({.is_clipped = true}).causes == 1);  // nor here
  CHECK(loss_scaling({.is_clipped = true, .has_next_pass = true}).causes == 0);
  CHECK(loss_scaling({.is_clipped = true, .has_next_pass = true, .is_heard_of_later = true}).causes == 1);
}

TEST_CASE(
    "gradients that come in bad from outside the record, and for which loss scaling has left out a step, are "
    "expected") {
  constexpr float inf = std::numeric_limits<float>::infinity();
  CHECK(causes_of_unseen({inf}) == 0);
  CHECK(causes_of_unseen({inf}, Seen::by_step) == 1);
  CHECK(causes_of_unseen({inf}, Seen::in_backward_pass) == 0);
  CHECK(causes_of_unseen({NAN, 1}, Seen::in_backward_pass) == 0);
  CHECK(causes_of_unseen({NAN}, Seen::in_backward_pass) == 1);
  CHECK(causes_of_unseen({NAN}) == 1);  // it may come again and again
  CHECK(causes_of_unseen({NAN, inf}) == 1);
  CHECK(causes_of_unseen({NAN, inf, 1}) == 0);
  CHECK(causes_of_unseen({1, NAN}) == 1);
  const Recorded run([] { unseen_step(inf); });
  causes::Causes causes(*run);
  test::finish(causes, 1);
  causes::SentenceWriter writer(causes);
  REQUIRE(writer.groups().expected().size() == 1);
  const causes::Sentence& s = writer.sentence(writer.groups().expected()[0].root);
  CHECK(s.text.find("The +∞ was already in input 0 of aten::_amp_foreach_non_finite_check_and_unscale_ at ") == 0);
  CHECK(s.text.find(" (1 of 2 elements): loss scaling has left the step out") != std::string::npos);
}

TEST_CASE("an op of the backward pass is no gradient of the same op a step before") {
  const Recorded run([&] {
    for (int step = 0; step < 3; ++step) scaled_step({.name = "ToCopyBackward0 of net"});
  });
  causes::Causes causes(*run);
  test::finish(causes, 3);
  CHECK(causes.benign().size() == 3);
}

TEST_CASE("what is expected at one line is one line of an answer") {
  const Recorded run([&] {
    for (int step = 0; step < 3; ++step) scaled_step({});
  });
  causes::Causes causes(*run);
  test::finish(causes, 3);
  causes::SentenceWriter writer(causes);
  REQUIRE(causes.benign().size() == 3);
  REQUIRE(writer.groups().expected().size() == 1);
  CHECK(writer.groups().list().empty());
  const std::uint32_t first = writer.groups().expected()[0].root;
  CHECK(writer.sentence(first).id == "scaled");
  CHECK(writer.times_words(first) == " It happened 3 times; this is the first.");
}
