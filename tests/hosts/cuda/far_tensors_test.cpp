// Tensors in a device's memory, recorded as an adapter records them; the device is this test's own.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include <nanlens/hosts/cuda/far_tensors.hpp>

#include "../../capture/trial.hpp"
#include "fake_cuda.hpp"

using namespace nanlens;
using cuda_host::FarTensors;
using nanlens::test::answer_of;
using nanlens::test::Recorded;
using Role = FarTensors::Role;

namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();
const char* const gpu = gpu_device;
int stream_of_device = 0;
void* const stream = &stream_of_device;  // not the default one

void* stream_of(std::size_t) { return stream; }

/// A tensor of the device.
struct Far {
  Far(std::uintptr_t address, DType dtype, Shape shape, Shape strides = {})
      : view{nullptr, dtype, shape, strides, gpu}, key(cuda_host::far_key(view, address, 0)) {}
  explicit Far(const std::vector<float>& values)
      : Far(fake_cuda::put(values), DType::float32, {static_cast<std::int64_t>(values.size())}) {}
  TensorView view;
  detail::TensorKey key;
};

/// Records an op as an adapter does.
void record(const char* name, const Far& output, std::vector<Far> inputs) {
  detail::read_far.store(&cuda_host::read_word);
  detail::recorder().read_far_with(&cuda_host::read_word);
  std::vector<detail::InputRef> ins;
  for (const Far& input : inputs) ins.push_back({input.view, input.key, {}});
  detail::OutputRef out{output.view, output.key};
  FarTensors far;
  far.add(out.view, out.key, Role::output);
  for (detail::InputRef& in : ins) far.add(in.view, in.key, Role::input);
  far.look(stream_of);
  if (far.any_bad())
    for (const Role role : {Role::output, Role::input}) far.fetch(role, FarTensors::most_bytes, stream_of);
  static constexpr std::source_location where = std::source_location::current();
  detail::recorder().record({name, name, where}, ins.data(), ins.size(), &out, 1, {});
}

/// Lets the device write, when its stream comes to it.
void write(const Far& to, std::vector<float> values) {
  fake_cuda::enqueue(
      stream, [=] { std::copy(values.begin(), values.end(), static_cast<float*>(fake_cuda::inside(to.key.begin))); });
}

/// Somebody wants to know what tensors hold, while it lives.
struct Asked {
  Asked() { enable_check_numerics(); }
  ~Asked() { disable_check_numerics(); }
};

HealthCounts counts_on_device(Far& tensor) {
  FarTensors far;
  far.add(tensor.view, tensor.key, Role::output);
  far.look(stream_of);
  const HealthCounts counts = tensor.view.counted != nullptr ? *tensor.view.counted : HealthCounts{};
  tensor.view.counted = nullptr;
  return counts;
}

/// A log of what has a zero, then a product.
Recorded log_of_zero() {
  return Recorded([] {
    const Far x({1, 0, 2, 4});
    const Far y(std::vector<float>(4));
    const Far z(std::vector<float>(4));
    record("Load", x, {});
    write(y, {0, -inf, 0.7f, 1.4f});
    record("Log", y, {x});
    write(z, {0, -inf, 1.4f, 2.8f});
    record("Mul", z, {y});
  });
}

}  // namespace

TEST_CASE("a device counts what the host would: dense, strided, transposed, repeated, narrow, large") {
  const Asked asked;
  std::vector<float> values(60'000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(static_cast<int>(i % 7) - 3);
  values[11] = nan_value;
  values[4'321] = inf;
  values[59'999] = -inf;
  const std::uintptr_t at = fake_cuda::put(values, 4);
  const struct {
    Shape shape;
    Shape strides;
  } layouts[] = {{{60'000}, {}},
                 {{200, 300}, {}},
                 {{300, 200}, {1, 300}},
                 {{100, 150}, {600, 2}},
                 {{4, 300}, {0, 1}},
                 {{2, 3, 5}, {15, 5, 1}},
                 {{}, {}},
                 {{5, 1, 7}, {7, 3, 1}},
                 {{10, 20, 30}, {1, 100, 2000}}};
  for (const auto& [shape, strides] : layouts) {
    Far far(at, DType::float32, shape, strides);
    const TensorView here{fake_cuda::inside(at), DType::float32, shape, strides};
    CHECK(counts_on_device(far) == full_health(here));
  }
  Far half(at, DType::float16, {100'000});
  CHECK(counts_on_device(half) == full_health(dense_view(fake_cuda::inside(at), DType::float16, {100'000})));
  CHECK(fake_cuda::contexts_entered() == 0);
}

TEST_CASE("more tensors than one launch takes") {
  const Asked asked;
  std::vector<Far> tensors;
  for (int i = 0; i < 600; ++i)
    tensors.emplace_back(std::vector<float>(static_cast<std::size_t>(i) + 1, i % 2 == 0 ? inf : -1.0f));
  FarTensors far;
  for (Far& tensor : tensors) far.add(tensor.view, tensor.key, Role::output);
  far.look(stream_of);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    REQUIRE(tensors[i].view.counted != nullptr);
    CHECK(tensors[i].view.counted->pos_inf == (i % 2 == 0 ? i + 1 : 0));
    CHECK(tensors[i].view.counted->negative == (i % 2 == 0 ? 0 : i + 1));
  }
}

TEST_CASE("the answer is that of tensors in the host's memory: counts, places, links, values") {
  const Recorded run = log_of_zero();
  CHECK(run->unread_tensors() == 0);
  REQUIRE(run->num_executions() == 3);
  const auto log = run->execution(1);
  CHECK(log->extension.output_evidence.at(0).counts == std::vector<std::uint64_t>{1, 0, 0, 0, 1, 2});
  CHECK(log->extension.output_evidence.at(0).positions == std::vector<std::int64_t>{1});
  CHECK(log->extension.input_evidence.at(0).values == std::vector<double>{0});
  CHECK(log->extension.input_evidence.at(0).content.size() == 4 * sizeof(float));
  CHECK(log->event.input_tensor_ids == run->execution(0)->event.output_tensor_ids);
  const auto answer = answer_of(run);
  CHECK(answer.op() == "Log");
  CHECK(answer.causes == 1);
  CHECK(answer.says("turned 1 zero of the result of Load into −∞ (1 of 4)"));
}

TEST_CASE("what something else has written to a device's memory is no longer what was recorded there") {
  const Recorded run([] {
    const Far x({1, 2, 3, 4});
    const Far y({1, 2, 3, 4});
    record("Load", x, {});
    write(x, {nan_value, 2, 3, 4});
    fake_cuda::synchronise();
    write(y, {nan_value, 2, 3, 4});
    record("Neg", y, {x});
  });
  const auto answer = answer_of(run);
  CHECK(answer.says("was changed since that was recorded, by something that is not on record"));
  CHECK(answer.makers.empty());
}

TEST_CASE("a part of a device's tensor is known as that, and what is left of it when another is written over") {
  const Recorded run([] {
    std::vector<float> values(64);
    std::iota(values.begin(), values.end(), 1.0f);
    const Far whole(values);
    record("Load", whole, {});
    const Far part(whole.key.begin + 4 * sizeof(float), DType::float32, {3});
    const Far result(std::vector<float>(3, nan_value));
    record("Neg", result, {part});
    const Far over(whole.key.begin, DType::float32, {2});
    record("Fill", over, {});
    record("Neg", result, {Far(whole.key.begin + 32 * sizeof(float), DType::float32, {32})});
  });
  REQUIRE(run->num_executions() == 4);
  const auto loaded = run->execution(0)->event.output_tensor_ids;
  CHECK(run->execution(1)->event.input_tensor_ids == loaded);
  CHECK(run->execution(1)->extension.input_evidence.at(0).origin == logdir::TensorOrigin::part);
  CHECK(run->execution(3)->event.input_tensor_ids == loaded);
}

TEST_CASE("while a stream is captured nothing is asked, and nothing is said of what it will make") {
  const Recorded run([] {
    const Far x({1, 2});
    const Far y({nan_value, 2});
    record("Load", x, {});
    fake_cuda::set_capturing(stream, true);
    const std::size_t before = fake_cuda::launches();
    record("Neg", y, {x});
    CHECK(fake_cuda::launches() == before);
    fake_cuda::set_capturing(stream, false);
  });
  CHECK(run->alerts().empty());
  CHECK(run->unread_tensors() == 1);
  CHECK(run->num_executions() == 2);
}

TEST_CASE("where the driver fails, the tensors are unread, and the program goes on") {
  for (const char* const name :
       {"cuCtxPushCurrent_v2", "cuLaunchKernel", "cuStreamSynchronize", "cuStreamIsCapturing"}) {
    CAPTURE(name);
    fake_cuda::set_failing(name);
    const Recorded run = log_of_zero();
    fake_cuda::set_failing({});
    CHECK(run->num_executions() == 3);
    CHECK(run->unread_tensors() == 3);
    CHECK(run->alerts().empty());
    CHECK(fake_cuda::contexts_entered() == 0);
  }
  CHECK(log_of_zero()->unread_tensors() == 0);
}

TEST_CASE("where values can't be fetched, their counts are there all the same") {
  fake_cuda::set_failing("cuMemcpyDtoHAsync_v2");
  const Recorded run = log_of_zero();
  fake_cuda::set_failing({});
  CHECK(run->unread_tensors() == 0);
  CHECK(run->alerts().size() == 2);
  const auto log = run->execution(1);
  CHECK(log->extension.output_evidence.at(0).counts == std::vector<std::uint64_t>{1, 0, 0, 0, 1, 2});
  CHECK(log->extension.output_evidence.at(0).positions.empty());
  CHECK(answer_of(run).op() == "Log");
}

TEST_CASE("complex numbers: only how many are bad is recorded, and where") {
  const Recorded run([] {
    const Far good(fake_cuda::put<float>({1, 2, 3, 4}), DType::complex64, {2});
    const Far bad(fake_cuda::put<float>({1, 2, nan_value, 4}), DType::complex64, {2});
    record("Good", good, {});
    record("Bad", bad, {good});
  });
  CHECK(run->execution(0)->extension.outputs.at(0).nonfinite_complex == 0);
  CHECK(run->execution(1)->extension.outputs.at(0).nonfinite_complex == 1);
  CHECK(run->execution(1)->extension.output_evidence.at(0).positions == std::vector<std::int64_t>{1});
}
