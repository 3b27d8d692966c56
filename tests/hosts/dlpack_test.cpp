#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include <dlpack/dlpack.h>

#include <nanlens/hosts/dlpack.hpp>

#include "elements.hpp"
#include "recorded_ops.hpp"

using namespace nanlens;

namespace {

struct Tensor3 {
  std::vector<std::int64_t> shape{2, 3};
  std::vector<std::int64_t> strides;
  DLTensor as(void* data, DLDevice device = {kDLCPU, 0}, DLDataType type = {kDLFloat, 32, 1},
              std::uint64_t offset = 0) {
    return {data,  device,       static_cast<int>(shape.size()),
            type,  shape.data(), strides.empty() ? nullptr : strides.data(),
            offset};
  }
};

}  // namespace

TEST_CASE("DLPack: strides, given or not, and the offset in bytes") {
  float data[] = {1, 2, 3, 4, 5, 6, 7};
  Tensor3 t;
  CHECK(test::elements<float>(view_of(t.as(data))) == std::vector<float>{1, 2, 3, 4, 5, 6});
  CHECK(test::elements<float>(view_of(t.as(data, {kDLCPU, 0}, {kDLFloat, 32, 1}, 4))) ==
        std::vector<float>{2, 3, 4, 5, 6, 7});
  t.strides = {1, 2};
  const DLManagedTensor managed{t.as(data), nullptr, nullptr};
  CHECK(test::elements<float>(view_of(managed)) == std::vector<float>{1, 3, 5, 2, 4, 6});
  t.strides = {-3, -1};
  CHECK(test::elements<float>(view_of(t.as(data + 5))) == std::vector<float>{6, 5, 4, 3, 2, 1});
  t.strides = {0, 1};
  CHECK(test::elements<float>(view_of(t.as(data))) == std::vector<float>{1, 2, 3, 1, 2, 3});
}

TEST_CASE("DLPack: element types, devices, and what can't be described") {
  float data[6] = {};
  Tensor3 t;
  const auto dtype = [&](DLDataType type) { return view_of(t.as(data, {kDLCPU, 0}, type)).dtype; };
  CHECK(dtype({kDLBfloat, 16, 1}) == DType::bfloat16);
  CHECK(dtype({kDLComplex, 64, 1}) == DType::complex64);
  CHECK(dtype({kDLUInt, 8, 1}) == DType::uint8);
  CHECK(dtype({kDLFloat, 32, 4}) == DType::invalid);
  CHECK(dtype({kDLOpaqueHandle, 64, 1}) == DType::invalid);
  const TensorView device = view_of(t.as(data, {kDLCUDA, 1}));
  CHECK(device.data == nullptr);
  CHECK(std::string(device.device).find("GPU") != std::string::npos);
  CHECK(view_of(t.as(data, {kDLCUDAHost, 0})).data == data);
  DLTensor odd = t.as(data);
  odd.shape = nullptr;
  CHECK(view_of(odd).data == nullptr);
  odd.ndim = -1;
  CHECK(view_of(odd).data == nullptr);
  odd.ndim = 0;
  CHECK(view_of(odd).data == data);
  t.shape.assign(max_rank + 1, 1);
  CHECK(view_of(t.as(data)).shape.overflowed());
}

TEST_CASE("DLPack: tensors with no memory, no dtype or huge strides are recorded without being read") {
  float data[6] = {NAN};
  Tensor3 t;
  Tensor3 huge;
  huge.shape = {0, 1};
  huge.strides = {INT64_MAX, INT64_MIN};
  Tensor3 deep;
  deep.shape.assign(max_rank + 1, 1);
  const auto run = test::recorded_ops([&] {
    nanlens::op("Null", t.as(nullptr), t.as(nullptr));
    nanlens::op("Lanes", t.as(data, {kDLCPU, 0}, {kDLFloat, 32, 4}));
    nanlens::op("Huge", huge.as(data), huge.as(data));
    nanlens::op("Deep", deep.as(data), deep.as(data));
    nanlens::op("There", t.as(data, {kDLCUDA, 0}));
    nanlens::op("Bad", t.as(data));
  });
  CHECK(run.ops.size() == 6);
  CHECK(run.alerts == 1);
}
