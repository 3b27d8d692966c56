// CUDA programs that record what their kernels made; the GPU is this test's own.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <sys/mman.h>

#include <nanlens/hosts/cuda.hpp>

#include "../../capture/trial.hpp"
#include "fake_cuda.hpp"

using namespace nanlens;
using nanlens::test::answer_of;
using nanlens::test::Recorded;

namespace {

int a_stream = 0;  // its address is one
void* const cuda_stream = &a_stream;

template <class T = float>
T* on_gpu(const std::vector<T>& values) {
  return reinterpret_cast<T*>(fake_cuda::put(values));
}

// A kernel over the elements, launched.
template <class F>
void launch(float* y, const float* x, int n, F f) {
  fake_cuda::enqueue(cuda_stream, [=] {
    auto* const to = static_cast<float*>(fake_cuda::inside(reinterpret_cast<std::uintptr_t>(y)));
    const auto* const from = static_cast<const float*>(fake_cuda::inside(reinterpret_cast<std::uintptr_t>(x)));
    for (int i = 0; i < n; ++i) to[i] = f(from[i]);
  });
}

// y = log(x), z = 2 y
void log_then_double(const std::vector<float>& values) {
  const int n = static_cast<int>(values.size());
  float* const x = on_gpu(values);
  float* const y = on_gpu(values);
  float* const z = on_gpu(values);
  cuda::record("Load", cuda_stream, {cuda::tensor(x, {n})});
  launch(y, x, n, [](float v) { return std::log(v); });
  cuda::record("Log", cuda_stream, {cuda::tensor(y, {n})}, {cuda::tensor(x, {n})});
  launch(z, y, n, [](float v) { return 2 * v; });
  cuda::record("Double", cuda_stream, {cuda::tensor(z, {n})}, {cuda::tensor(y, {n})});
}

}  // namespace

TEST_CASE("CUDA: the op whose kernel made it, with its line") {
  const Recorded run([] { log_then_double({1, 2, 0, 4}); });
  CHECK(run->unread_tensors() == 0);
  const auto answer = answer_of(run);
  CHECK(answer.says("Log at cuda_test.cpp:"));
  CHECK(answer.says("turned 1 zero of the result of Load into −∞ (1 of 4)"));
  CHECK(answer.sentence.consequence == "All 2 bad tensors follow from it.");
  CHECK(run->device_name(0, run->execution(0)->event.output_tensor_device_ids.at(0)) ==
        "/job:localhost/replica:0/task:0/device:GPU:0");
}

TEST_CASE("CUDA: what comes from the host's memory, and goes back to it") {
  const Recorded run([] {
    std::vector<float> here{1, std::numeric_limits<float>::quiet_NaN()};
    float* const there = on_gpu(here);
    cuda::record("Upload", cuda_stream, {cuda::tensor(there, {2})}, {cuda::tensor(here.data(), {2})});
    std::vector<float> back(here);
    cuda::record("Download", cuda_stream, {cuda::tensor(back.data(), {2})}, {cuda::tensor(there, {2})});
    nanlens::record("Sum", outputs(back), inputs(back));
  });
  REQUIRE(run->num_executions() == 3);
  CHECK(run->execution(1)->event.input_tensor_ids == run->execution(0)->event.output_tensor_ids);
  CHECK(run->execution(2)->event.input_tensor_ids == run->execution(1)->event.output_tensor_ids);
  const auto answer = answer_of(run);
  CAPTURE(answer.sentence.text);
  CHECK(answer.says("The NaN was already in input 0 of Upload at cuda_test.cpp:"));
}

TEST_CASE("CUDA: elements with gaps, and types that are not read") {
  const Recorded run([] {
    std::vector<float> values(12, 1);
    values[3] = std::numeric_limits<float>::infinity();  // between the elements
    float* const x = on_gpu(values);
    cuda::record("Column", cuda_stream, {cuda::tensor(x, {6}, {2})});
    const int* const counts = on_gpu<int>({1, 2, 3});
    cuda::record("Count", cuda_stream, {cuda::tensor(counts, {3})}, {cuda::tensor(x, {6, 2})});
  });
  CHECK(run->alerts().empty());
  CHECK(run->unread_tensors() == 0);
  CHECK(run->num_executions() == 2);
  const Recorded backwards([] {
    float* const x = on_gpu<float>({1, 2, 3});
    cuda::record("Backwards", cuda_stream, {cuda::tensor(x + 2, {3}, {-1})});
  });
  CHECK(backwards->unread_tensors() == 1);
}

TEST_CASE("CUDA: a library that is unloaded takes its reading of devices along, and the next op brings its own") {
  const Recorded run([] {
    log_then_double({1, 2});
    detail::Client other{};
    detail::recorder().join(&other);
    detail::recorder().leave(&other);
    const bool reads = detail::read_far.load() != nullptr;
    CHECK_FALSE(reads);
    log_then_double({1, 0});
  });
  CHECK(answer_of(run).says("turned 1 zero of the result of Load into −∞ (1 of 2)"));
}

TEST_CASE("CUDA: what is freed, and neither the device's nor the host's any more, is not on record") {
  const std::size_t bytes = 4096;
  void* const gone = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(gone != MAP_FAILED);
  const Recorded run([&] {
    const float here = 1;
    cuda::record("Log", cuda_stream, {cuda::tensor(static_cast<float*>(gone), {4})}, {cuda::tensor(&here, {1})});
  });
  ::munmap(gone, bytes);
  CHECK(run->num_executions() == 1);
  CHECK(run->unread_tensors() == 1);
}

TEST_CASE("CUDA: check_numerics stops at the op") {
  enable_check_numerics();
  CHECK_THROWS_WITH_AS(log_then_double({1, 0}), doctest::Contains("Log"), NumericsError);
  CHECK_NOTHROW(log_then_double({1, 2}));
  disable_check_numerics();
}

TEST_CASE("CUDA: nothing is asked while recording is off, or where nobody asks what tensors hold") {
  const std::size_t before = fake_cuda::launches();
  log_then_double({1, 0});
  const Recorded run([] { log_then_double({1, 0}); },
                     [](DumpOptions& o) { o.tensor_debug_mode = TensorDebugMode::no_tensor; });
  CHECK(fake_cuda::launches() == before);
  CHECK(run->num_executions() == 3);
}
