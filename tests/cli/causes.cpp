// Records several causes of NaN and infinity, for the reports of `nanlens check`: `causes LOGDIR MODE [NAME…]`.
// MODE two: a logarithm of 0 and an exponential that overflowed, on lines of their own.
// MODE moved: that logarithm on another line.
// MODE ops: one cause for each NAME, which is the op's type and name; `#line` gives them a file of hostile name.
// MODE shape: no health. MODE mask: an infinity that does no harm. MODE mask_and_log:
// that, and a logarithm of 0. MODE clean: nothing bad. MODE device: that, and a tensor on a GPU.
#include <nanlens/nanlens.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace {

std::vector<float> logs(const std::vector<float>& x) {
  std::vector<float> y;
  for (const float v : x) y.push_back(std::log(v));
  return y;
}

void record(const std::string& name, const std::vector<float>& x) {
  // clang-format off
#line 7 "evil/::error::%0A,]]>\"'<&>`|*_.cpp"
  nanlens::op({name, name}, logs(x), x);
#line 28 "tests/cli/causes.cpp"
  // clang-format on
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const std::string mode = argv[2];
  nanlens::enable_dump_debug_info(
      {.logdir = argv[1],
       .tensor_debug_mode = mode == "shape" ? nanlens::TensorDebugMode::shape : nanlens::TensorDebugMode::full_health,
       .circular_buffer_size = -1});
  const std::vector<float> x =
      nanlens::op("Input", std::vector<float>{3, 2, 1, mode == "clean" || mode == "device" ? 1.0F : 0.0F});
  for (int i = 3; i < argc; ++i) record(argv[i], x);
  if (mode == "two") {
    nanlens::op("Log", logs(x), x);
    nanlens::op("Exp", std::vector<float>{20, 7, 2, std::exp(100 + x[3])}, x);
  }
  if (mode == "moved") {  // the line of "two", elsewhere
    nanlens::op("Log", logs(x), x);
  }
  if (mode == "device") {
    const nanlens::TensorView on_gpu{nullptr, nanlens::DType::float32, {4}, {}, nanlens::gpu_device};
    nanlens::record("ToDevice", nanlens::outputs(on_gpu), nanlens::inputs(x));
  }
  if (mode == "mask_and_log") nanlens::op("Log", logs(x), x);
  if (mode.starts_with("mask")) nanlens::op("Const", std::vector<float>{0, -std::numeric_limits<float>::infinity()});
}
