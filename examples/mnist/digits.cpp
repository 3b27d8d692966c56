#include "digits.hpp"

#include <algorithm>

namespace mnist {

namespace {

// A fixed generator and plain arithmetic on its numbers: standard distributions differ between libraries.
class Random {
 public:
  explicit Random(std::uint32_t seed) : engine_(seed) {}
  float unit() { return static_cast<float>(engine_() >> 8) / 16777216.0f; }
  int below(int n) { return static_cast<int>(unit() * static_cast<float>(n)); }

 private:
  std::mt19937 engine_;
};

// Segments lit for each digit: top, top left, top right, middle, bottom left, bottom right, bottom.
constexpr bool lit[num_labels][7] = {
    {true, true, true, false, true, true, true},   {false, false, true, false, false, true, false},
    {true, false, true, true, true, false, true},  {true, false, true, true, false, true, true},
    {false, true, true, true, false, true, false}, {true, true, false, true, false, true, true},
    {true, true, false, true, true, true, true},   {true, false, true, false, false, true, false},
    {true, true, true, true, true, true, true},    {true, true, true, true, false, true, true}};

struct Bar {
  int row, col, height, width;
};

}  // namespace

Digits draw_digits(int count, std::uint32_t seed) {
  Random random(seed);
  Digits digits{{count, num_pixels}, Eigen::VectorXi(count)};
  for (int i = 0; i < count; ++i) {
    const int label = random.below(num_labels);
    digits.labels[i] = label;
    const int thick = 3 + random.below(2);
    const int top = 3 + random.below(2);
    const int left = 6 + random.below(2);
    const int tall = 20 + random.below(2);
    const int wide = 14 + random.below(2);
    const int half = tall / 2;
    const Bar bars[7] = {{top, left, thick, wide},
                         {top, left, half + thick, thick},
                         {top, left + wide - thick, half + thick, thick},
                         {top + half, left, thick, wide},
                         {top + half, left, tall - half, thick},
                         {top + half, left + wide - thick, tall - half, thick},
                         {top + tall - thick, left, thick, wide}};
    const float brightness = 0.8f + 0.2f * random.unit();
    auto image = digits.pixels.row(i);
    // Now and then a scan is overexposed: a grey background, which drives the network much further than the others.
    const bool overexposed = random.below(40) == 0;
    const int grey = overexposed ? 200 + random.below(40) : 0;
    for (int p = 0; p < num_pixels; ++p)
      image[p] = static_cast<std::uint8_t>(grey + (random.below(8) == 0 ? random.below(60) : 0));
    for (int s = 0; s < 7; ++s) {
      if (!lit[label][s]) continue;
      for (int r = bars[s].row; r < std::min(bars[s].row + bars[s].height, image_size); ++r)
        for (int c = bars[s].col; c < std::min(bars[s].col + bars[s].width, image_size); ++c)
          image[r * image_size + c] =
              static_cast<std::uint8_t>(brightness * static_cast<float>(200 + random.below(56)));
    }
  }
  return digits;
}

}  // namespace mnist
