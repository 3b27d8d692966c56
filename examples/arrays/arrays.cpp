// Brings signals to mean 0 and deviation 1. One of them is constant, which nobody thought of.
#include <cmath>
#include <cstdio>
#include <valarray>
#include <vector>

#include <nanlens/hosts/valarray.hpp>
#include <nanlens/nanlens.hpp>

using Signal = std::valarray<float>;

static Signal normalised(const Signal& x) {
  const auto n = static_cast<float>(x.size());
  const Signal centred = nanlens::op("Sub", x - x.sum() / n, x);  // the expression is evaluated here, once
  const Signal squares = nanlens::op("Square", centred * centred, centred);
  const auto deviation = nanlens::op("Sqrt", nanlens::tensor(std::sqrt(squares.sum() / n)), squares);
  return nanlens::op("Div", centred / deviation.value(), centred, deviation);
}

int main() {
  std::vector<Signal> signals(3, Signal(64));
  for (int i = 0; i < 64; ++i) {
    const auto at = static_cast<std::size_t>(i);
    signals[0][at] = std::sin(0.1f * static_cast<float>(i));
    signals[1][at] = 0.5f;
    signals[2][at] = static_cast<float>(i % 7);
  }
  float energy = 0;
  for (const Signal& signal : signals) energy += std::pow(normalised(signal), 2.0f).sum();
  std::printf("energy %g\n", static_cast<double>(energy));
}
