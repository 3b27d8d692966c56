/// @file
/// Numbers, kinds of bad values, and what inputs are called, in sentences about causes.
#pragma once

#include <cstdio>
#include <string>

#include <nanlens/causes/cause_facts.hpp>
#include <nanlens/causes/speech.hpp>

namespace nanlens::causes::detail {

inline std::string short_number(double value, const Speech& speech) {
  char text[32];
  std::snprintf(text, sizeof text, value >= 1e6 ? "%.2e" : "%.10g", value);
  return with_point(text, speech);
}

// Of a number that need not be exact.
inline std::string about(double value, const Speech& speech) {
  char text[32];
  std::snprintf(text, sizeof text, value >= 1e3 && value < 1e6 ? "%.0f" : "%.3g", value);
  return with_point(text, speech);
}

inline std::string zeros_words(const TensorHealth& h, const Speech& speech) {
  return counted(speech, Saying::zeros, h.num_zero);
}
inline std::string negatives_words(const TensorHealth& h, const Speech& speech) {
  return counted(speech, Saying::negatives, h.num_negative);
}

// "NaN, −∞ and +∞".
inline std::string kinds_words(Kinds kinds, const Speech& speech) {
  std::string words;
  const auto add = [&](Kinds bit, const char* name) {
    if ((kinds & bit) == 0) return;
    kinds = static_cast<Kinds>(kinds & ~bit);
    if (!words.empty()) words += speech[(kinds & reader::bad_flags) != 0 ? Saying::list_comma : Saying::list_and];
    words += name;
  };
  add(reader::nan_flag, "NaN");
  add(reader::neg_inf_flag, "−∞");
  add(reader::pos_inf_flag, "+∞");
  return words.empty() ? say(speech, Saying::nan_or_inf) : words;
}

inline std::string name_of(const InputFacts& input, const Speech& speech) {
  return input.name.empty() ? say(speech, Saying::its_input) : input.name;
}

}  // namespace nanlens::causes::detail
