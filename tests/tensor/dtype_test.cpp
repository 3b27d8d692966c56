#include <doctest/doctest.h>

#include <nanlens/tensor/dtype_name.hpp>

using namespace nanlens;

TEST_CASE("dtype numbers and names are TensorFlow's") {
  CHECK(static_cast<int>(DType::float32) == 1);
  CHECK(static_cast<int>(DType::bfloat16) == 14);
  CHECK(static_cast<int>(DType::float16) == 19);
  CHECK(static_cast<int>(DType::float8_e5m2fnuz) == 28);
  CHECK(static_cast<int>(DType::float4_e2m1fn) == 33);
  CHECK(dtype_name(DType::float16) == "float16");
  CHECK(dtype_name(static_cast<DType>(101)) == "invalid");
  CHECK(dtype_name(static_cast<DType>(-1)) == "invalid");
  for (int i = 1; i <= 33; ++i) CHECK(dtype_from_name(dtype_name(static_cast<DType>(i))) == static_cast<DType>(i));
}

TEST_CASE("floating excludes complex; sub-byte and handle types have no bytes") {
  CHECK(is_floating(DType::float8_e4m3fn));
  CHECK_FALSE(is_floating(DType::complex64));
  CHECK_FALSE(is_floating(DType::int32));
  CHECK(dtype_bytes(DType::complex128) == 16);
  CHECK(dtype_bytes(DType::int4) == 0);
  CHECK(dtype_bytes(DType::resource) == 0);
}
