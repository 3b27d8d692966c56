// The walkthrough: a classifier that stops learning after its first step, because its loss takes the log of a zero.
// A counterpart of TensorFlow's debug_mnist_v2 on synthetic digits.
#include <nanlens/nanlens.hpp>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>

#include "model.hpp"

namespace {

struct Flags {
  int max_steps = 10;
  int train_batch_size = 100;
  int test_size = 1000;
  float learning_rate = 0.025f;
  bool check_numerics = false;
  std::string dump_dir;
  std::string dump_tensor_debug_mode = "NO_TENSOR";
  int dump_circular_buffer_size = 1000;
  std::int64_t dump_value_budget = nanlens::DumpOptions().value_budget;
  std::int64_t dump_pinned_sites = nanlens::DumpOptions().pinned_sites;
  mnist::Fix fix = mnist::Fix::none;
};

constexpr std::uint32_t train_seed = 72;  // a draw on which the bug strikes in step 1, as it does on MNIST
constexpr std::uint32_t test_seed = 43;
constexpr std::uint32_t model_seed = 42;

void train(const Flags& flags) {
  const int size = flags.train_batch_size;
  const mnist::Digits train_set = mnist::draw_digits(size * flags.max_steps, train_seed);
  const mnist::Digits test_set = mnist::draw_digits(flags.test_size, test_seed);
  mnist::Model model = mnist::make_model(model_seed);
  mnist::Adam adam(model, flags.learning_rate);
  for (int step = 0; step < flags.max_steps; ++step) {
    const mnist::Batch batch = mnist::format_example(train_set, step * size, size);
    const mnist::Batch test = mnist::format_example(test_set, 0, flags.test_size);
    const mnist::Forward pass = mnist::forward(model, batch.images, flags.fix, true);
    const mnist::Loss loss = mnist::loss(pass.probs, batch.labels, flags.fix);
    adam.apply(model, mnist::gradients(model, batch, pass, loss, flags.fix));
    const mnist::Forward verdict = mnist::forward(model, test.images, flags.fix, false);
    const float accuracy = mnist::accuracy(verdict.probs, test.labels);
    std::printf("Accuracy at step %d: %.3f\n", step, static_cast<double>(accuracy));
    std::fflush(stdout);
    nanlens::step();
  }
}

}  // namespace

int main(int argc, char** argv) {
  Flags flags;
  CLI::App app{"Trains a small classifier; without --fix its loss becomes NaN in step 1."};
  app.add_option("--max_steps", flags.max_steps, "training steps")->check(CLI::Range(1, 10000));
  app.add_option("--train_batch_size", flags.train_batch_size)->check(CLI::Range(1, 10000));
  app.add_option("--test_size", flags.test_size, "digits in the test set")->check(CLI::Range(1, 60000));
  app.add_option("--learning_rate", flags.learning_rate, "of Adam; the default is far too high, as in the original");
  app.add_option("--dump_dir", flags.dump_dir, "record into this logdir");
  app.add_option("--dump_tensor_debug_mode", flags.dump_tensor_debug_mode, "NO_TENSOR … FULL_TENSOR");
  app.add_option("--dump_circular_buffer_size", flags.dump_circular_buffer_size, "keep the last so many; -1: all");
  app.add_option("--dump_pinned_sites", flags.dump_pinned_sites,
                 "at how many places a ring keeps the first bad events");
  app.add_option("--dump_value_budget", flags.dump_value_budget, "bytes of values to keep of the first bad tensors");
  app.add_flag("--check_numerics", flags.check_numerics, "stop at the first NaN or infinity");
  const std::map<std::string, mnist::Fix> fixes = {
      {"none", mnist::Fix::none}, {"clip", mnist::Fix::clip}, {"cross_entropy", mnist::Fix::cross_entropy}};
  app.add_option(
         "--fix", flags.fix,
         "clip: clip the probabilities (this also stops gradients, so it may learn slowly); cross_entropy: the stable "
         "loss from logits")
      ->transform(CLI::CheckedTransformer(fixes));
  CLI11_PARSE(app, argc, argv);
  if (flags.check_numerics && !flags.dump_dir.empty()) {
    std::fprintf(stderr, "mnist: --check_numerics and --dump_dir exclude each other\n");
    return 2;
  }
  try {
    if (flags.check_numerics) nanlens::enable_check_numerics();
    if (!flags.dump_dir.empty())
      nanlens::enable_dump_debug_info({.logdir = flags.dump_dir,
                                       .tensor_debug_mode = nanlens::debug_mode_from_name(flags.dump_tensor_debug_mode),
                                       .circular_buffer_size = flags.dump_circular_buffer_size,
                                       .value_budget = flags.dump_value_budget,
                                       .pinned_sites = flags.dump_pinned_sites});
    train(flags);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
