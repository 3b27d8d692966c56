// The mean of its arguments: mean 1 2 3
#include <nanlens/nanlens.hpp>

#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int argc, char** argv) {
  std::vector<float> values;
  for (int i = 1; i < argc; ++i) values.push_back(std::strtof(argv[i], nullptr));
  nanlens::op("Input", values);
  float sum = 0;
  for (const float value : values) sum += value;
  const float mean = nanlens::op("Mean", sum / static_cast<float>(values.size()), values);
  std::printf("%g\n", static_cast<double>(mean));
}
