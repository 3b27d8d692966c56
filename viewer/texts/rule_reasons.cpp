#include "rule_reasons.hpp"

#include <algorithm>
#include <iterator>

#include "texts.hpp"

namespace nanlens::viewer {

namespace {

// Rules that ship are copied into files and recordings: known are they by their words alone.
constexpr Text reasons[] = {Text::reason_dead_relu,          Text::reason_exploding_gradient,
                            Text::reason_vanishing_gradient, Text::reason_float16_near_overflow,
                            Text::reason_denormals,          Text::reason_float16_denormals,
                            Text::reason_saturated_softmax,  Text::reason_saturated_sigmoid,
                            Text::reason_constant_tensor,    Text::reason_loss_jump,
                            Text::reason_zero_variance};

}  // namespace

std::string rule_reason(const std::string& written) {
  const auto known =
      std::find_if(std::begin(reasons), std::end(reasons), [&](Text id) { return written == tr(Tongue::english, id); });
  return known == std::end(reasons) ? written : tr(*known);
}

}  // namespace nanlens::viewer
