// LibTorch with tensors of a GPU, which is this test's own: its memory can't be read here, and its ops run when their
// stream is waited for.
#include <nanlens/hosts/torch.hpp>

#include <ATen/ATen.h>
#include <ATen/ops/as_strided_native.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <doctest/doctest.h>
#include <torch/library.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "../capture/trial.hpp"
#include "cuda/fake_cuda.hpp"

using nanlens::test::answer_of;
using nanlens::test::Recorded;

namespace {

constexpr float gpu_nan = std::numeric_limits<float>::quiet_NaN();
const c10::Device device(c10::DeviceType::CUDA, 0);
int stream_of_ops = 0;  // its address is one

at::Tensor tensor_at(std::uintptr_t address, std::int64_t size) {
  const std::size_t bytes = static_cast<std::size_t>(size) * sizeof(float);
  c10::Storage storage(c10::Storage::use_byte_size_t(), bytes, c10::DataPtr(reinterpret_cast<void*>(address), device),
                       nullptr, false);
  at::Tensor tensor = at::detail::make_tensor<c10::TensorImpl>(
      std::move(storage), c10::DispatchKeySet(c10::DispatchKey::CUDA), caffe2::TypeMeta::Make<float>());
  tensor.unsafeGetTensorImpl()->set_sizes_contiguous({size});
  return tensor;
}
at::Tensor on_gpu(const std::vector<float>& values) {
  return tensor_at(fake_cuda::put(values), static_cast<std::int64_t>(values.size()));
}
at::Tensor new_on_gpu(std::int64_t size) {
  return tensor_at(fake_cuda::allocate(static_cast<std::size_t>(size) * sizeof(float)), size);
}

float* inside(const at::Tensor& tensor) {
  auto* const storage =
      static_cast<float*>(fake_cuda::inside(reinterpret_cast<std::uintptr_t>(tensor.storage().data())));
  return storage + tensor.storage_offset();
}

// Runs a function over the elements of dense tensors, on the stream.
void on_each(const at::Tensor& to, const at::Tensor& a, const at::Tensor& b, std::function<float(float, float)> f) {
  fake_cuda::enqueue(&stream_of_ops, [=] {
    for (std::int64_t i = 0; i < to.numel(); ++i) inside(to)[i] = f(inside(a)[i], inside(b)[i]);
  });
}

at::Tensor gpu_log(const at::Tensor& x) {
  at::Tensor result = new_on_gpu(x.numel());
  on_each(result, x, x, [](float value, float) { return std::log(value); });
  return result;
}
at::Tensor gpu_mul(const at::Tensor& x, const at::Tensor& y) {
  at::Tensor result = new_on_gpu(x.numel());
  on_each(result, x, y, [](float a, float b) { return a * b; });
  return result;
}
at::Tensor& gpu_add(at::Tensor& x, const at::Tensor& y, const at::Scalar& /*alpha*/) {
  on_each(x, x, y, [](float a, float b) { return a + b; });
  return x;
}

// To the host, or from it.
at::Tensor& gpu_copy(at::Tensor& to, const at::Tensor& from, bool non_blocking) {
  const auto memory = [](const at::Tensor& x) { return x.is_cuda() ? inside(x) : x.data_ptr<float>(); };
  fake_cuda::enqueue(&stream_of_ops, [=] { std::copy_n(memory(from), from.numel(), memory(to)); });
  if (!non_blocking) fake_cuda::synchronise();
  return to;
}

C10_REGISTER_GUARD_IMPL(CUDA, c10::impl::NoOpDeviceGuardImpl<c10::DeviceType::CUDA>)
TORCH_LIBRARY_IMPL(aten, CUDA, library) {
  library.impl("as_strided", &at::native::as_strided_tensorimpl);
  library.impl("log", &gpu_log);
  library.impl("mul.Tensor", &gpu_mul);
  library.impl("add_.Tensor", &gpu_add);
  library.impl("copy_", &gpu_copy);
}

using Adjust = void (*)(nanlens::DumpOptions&);

template <class Body>
Recorded recorded_on_gpu(const Body& body, Adjust adjust = [](nanlens::DumpOptions&) {}) {
  fake_cuda::set_current_stream(&stream_of_ops);
  CHECK(nanlens::torch::attach());
  const struct Detach {
    ~Detach() { nanlens::torch::detach(); }
  } detach;
  return Recorded(body, adjust);
}

}  // namespace

TEST_CASE("what a GPU made is counted there, and seen where it is bad") {
  const at::Tensor x = on_gpu({1, 2, 0, 4});
  const Recorded run = recorded_on_gpu([&] {
    const at::Tensor two = at::mul(x, x);
    const at::Tensor logs = at::log(two);
    (void)at::mul(logs, x);
  });
  REQUIRE(run->num_executions() == 3);
  CHECK(run->unread_tensors() == 0);
  const auto log = run->execution(1);
  CHECK(log->event.input_tensor_ids == run->execution(0)->event.output_tensor_ids);
  CHECK(log->extension.output_evidence.at(0).counts == std::vector<std::uint64_t>{1, 0, 0, 0, 1, 2});
  CHECK(log->extension.output_evidence.at(0).positions == std::vector<std::int64_t>{2});
  const auto answer = answer_of(run);
  CHECK(answer.says("turned 1 zero of the result of aten::mul into −∞ (1 of 4)"));
  CHECK(answer.causes == 1);
}

TEST_CASE("what a GPU's op writes over was looked at before: what came in bad is said to have come in") {
  const Recorded run = recorded_on_gpu([&] {
    at::Tensor x = on_gpu({1, gpu_nan, 3});
    x.add_(on_gpu({1, 2, 3}));
  });
  REQUIRE(run->num_executions() == 1);
  CHECK(answer_of(run).says("The NaN was already in input 0 of aten::add_ (1 of 3 elements)"));
  const auto add = run->execution(0);
  CHECK(add->extension.input_evidence.at(0).counts == std::vector<std::uint64_t>{0, 0, 1, 0, 0, 2});
}

TEST_CASE("what is copied to the host while the program goes on is the copy's result, and known to who reads it") {
  const Recorded run = recorded_on_gpu([] {
    at::Tensor here = at::zeros({3});
    here.copy_(at::log(on_gpu({1, 0, 3})), true);
    (void)here.mul(here);
  });
  REQUIRE(run->num_executions() == 4);
  CHECK(run->unread_tensors() == 0);
  CHECK(run->execution(3)->event.input_tensor_ids.at(0) == run->execution(2)->event.output_tensor_ids.at(0));
  const auto answer = answer_of(run);
  CHECK(answer.says("aten::log"));
  CHECK(answer.sentence.consequence == "All 3 bad tensors follow from it.");
}

TEST_CASE("a part that is written makes the whole another tensor") {
  const Recorded run = recorded_on_gpu([&] {
    const at::Tensor x = on_gpu({1, 2, 3, 4, 5, 6});
    const at::Tensor whole = at::mul(x, x);
    whole.slice(0, 2, 4).add_(on_gpu({0, gpu_nan}));
    (void)at::mul(whole, x);
  });
  REQUIRE(run->num_executions() == 3);
  const auto add = run->execution(1);
  REQUIRE(add->event.output_tensor_ids.size() == 2);
  CHECK(run->execution(2)->event.input_tensor_ids.at(0) == add->event.output_tensor_ids.at(1));
  const auto answer = answer_of(run);
  CAPTURE(answer.sentence.text);
  CHECK(answer.says("The NaN was already in input 1 of aten::add_ (1 of 2 elements)"));  // the whole comes last
  CHECK(add->event.input_tensor_ids.size() == 3);
}

TEST_CASE("values of a GPU's tensors where all are recorded; statistics likewise") {
  const at::Tensor x = on_gpu({1, -2, 3});
  const auto body = [&] { (void)at::mul(x, x); };
  const Recorded full = recorded_on_gpu(
      body, [](nanlens::DumpOptions& o) { o.tensor_debug_mode = nanlens::TensorDebugMode::full_tensor; });
  REQUIRE(full->num_executions() == 1);
  CHECK(full->unread_tensors() == 0);
  CHECK(full->execution(0)->event.tensor_protos.at(0).tensor_content.size() == 3 * sizeof(float));
  const Recorded statistics = recorded_on_gpu(body, [](nanlens::DumpOptions& o) { o.statistics = true; });
  CHECK(statistics->execution(0)->extension.outputs.at(0).max == 9);
}

TEST_CASE("while a graph is captured, what it will make is unread, and nobody's") {
  const at::Tensor x = on_gpu({1, 2, 3});
  const Recorded run = recorded_on_gpu([&] {
    fake_cuda::set_capturing(&stream_of_ops, true);
    const at::Tensor y = at::mul(x, x);
    fake_cuda::set_capturing(&stream_of_ops, false);
    (void)at::log(y);
  });
  REQUIRE(run->num_executions() == 2);
  CHECK(run->unread_tensors() == 1);
  CHECK(run->execution(1)->event.input_tensor_ids != run->execution(0)->event.output_tensor_ids);
}

TEST_CASE("where nobody asks what tensors hold, a GPU is asked nothing, and what feeds an op is known by its address") {
  const at::Tensor x = on_gpu({1, gpu_nan, 3});
  const std::size_t before = fake_cuda::launches();
  const Recorded run = recorded_on_gpu(
      [&] {
        const at::Tensor y = at::mul(x, x);
        (void)at::log(y);
      },
      [](nanlens::DumpOptions& o) { o.tensor_debug_mode = nanlens::TensorDebugMode::no_tensor; });
  CHECK(fake_cuda::launches() == before);
  REQUIRE(run->num_executions() == 2);
  CHECK(run->execution(1)->event.input_tensor_ids == run->execution(0)->event.output_tensor_ids);
}

TEST_CASE("of large tensors that are bad again and again at one place, the counts") {
  std::vector<float> values(10'000'000, 1);
  values[1234] = 0;
  const at::Tensor x = on_gpu(values);
  const Recorded run = recorded_on_gpu([&] {
    for (int i = 0; i < 2; ++i) (void)at::log(x);
  });
  REQUIRE(run->num_executions() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    const auto evidence = run->execution(i)->extension.output_evidence.at(0);
    CHECK(evidence.counts.at(0) == 1);
    CHECK(evidence.positions.empty() == (i == 1));
  }
}
