// The smallest program that records itself: g++ -std=c++20 -Iinclude examples/hello/hello.cpp && ./a.out /tmp/hello
#include <nanlens/nanlens.hpp>

#include <cmath>
#include <vector>

int main(int argc, char** argv) {
  nanlens::enable_dump_debug_info({.logdir = argc > 1 ? argv[1] : "/tmp/nanlens_hello",
                                   .tensor_debug_mode = nanlens::TensorDebugMode::full_health,
                                   .circular_buffer_size = -1});
  const std::vector<float> x = nanlens::op("Const", std::vector<float>{3, 2, 1, 0});
  const std::vector<float> y = nanlens::op(
      "Log",
      [&] {
        std::vector<float> logs;
        for (const float v : x) logs.push_back(std::log(v));  // log(0) = -inf
        return logs;
      },
      x);
  float sum = 0;
  for (const float v : y) sum += v;
  nanlens::op("Sum", sum, y);
}
