// LibTorch with a device whose copies go on after the op that asked for them: one of this test's own, in the host's
// memory.
#include <nanlens/hosts/torch.hpp>

#include <ATen/ATen.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <doctest/doctest.h>
#include <torch/library.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "../capture/trial.hpp"

using nanlens::test::answer_of;
using nanlens::test::Recorded;

namespace {

std::vector<std::function<void()>>& pending() {
  static std::vector<std::function<void()>> copies;
  return copies;
}
void synchronise() {
  for (const auto& copy : std::exchange(pending(), {})) copy();
}

at::Tensor copy_from(const at::Tensor& from, const at::Tensor& to, bool non_blocking) {
  pending().push_back([from, to] {
    const auto* const values = static_cast<const float*>(from.storage().data());
    std::copy_n(values, to.numel(), to.data_ptr<float>());
  });
  if (!non_blocking) synchronise();
  return to;
}

at::Tensor on_device(std::vector<float>& values) {
  const c10::Device device(c10::DeviceType::PrivateUse1, 0);
  const std::size_t bytes = values.size() * sizeof(float);
  c10::Storage storage(c10::Storage::use_byte_size_t(), bytes, c10::DataPtr(values.data(), device), nullptr, false);
  at::Tensor tensor = at::detail::make_tensor<c10::TensorImpl>(
      std::move(storage), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1), caffe2::TypeMeta::Make<float>());
  tensor.unsafeGetTensorImpl()->set_sizes_contiguous({static_cast<std::int64_t>(values.size())});
  return tensor;
}

C10_REGISTER_GUARD_IMPL(PrivateUse1, c10::impl::NoOpDeviceGuardImpl<c10::DeviceType::PrivateUse1>)
TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) { library.impl("_copy_from", &copy_from); }

// sqrt of what a device has copied to where NaN was.
class Copied {
 public:
  Copied(std::vector<float> values, bool non_blocking) : values_(std::move(values)), run_([&] { copy(non_blocking); }) {
    nanlens::torch::detach();
  }
  [[nodiscard]] const Recorded& run() const { return run_; }

 private:
  void copy(bool non_blocking) {
    CHECK(nanlens::torch::attach());
    to_.copy_(from_, non_blocking);
    synchronise();
    (void)to_.sqrt();
  }

  std::vector<float> values_;
  at::Tensor from_ = on_device(values_);
  at::Tensor to_ = at::full({from_.numel()}, std::numeric_limits<float>::quiet_NaN());
  Recorded run_;
};

constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();

}  // namespace

TEST_CASE("what a device is still copying is not taken for what it will have copied") {
  const Copied healthy({1, 4, 9}, true);
  REQUIRE(healthy.run()->num_executions() == 2);
  CHECK(healthy.run()->alerts().empty());
  CHECK(healthy.run()->unread_tensors() == 1);
  CHECK(healthy.run()->dropped() == 0);
  CHECK(answer_of(Copied({1, nan_value, 9}, true).run()).says("The NaN was already in input 0 of aten::sqrt"));
}

TEST_CASE("a copy that has ended is read as any other op's result") {
  const Copied healthy({1, 4, 9}, false);
  CHECK(healthy.run()->alerts().empty());
  CHECK(healthy.run()->unread_tensors() == 0);
  CHECK(Copied({1, nan_value, 9}, false).run()->alerts().size() == 2);
}
