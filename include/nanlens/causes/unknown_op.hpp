/// @file
/// Of an op whose nature is not known: which of the values that it met may have made the bad one.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <nanlens/causes/cause_facts.hpp>
#include <nanlens/causes/input_words.hpp>
#include <nanlens/causes/limits.hpp>
#include <nanlens/tensor/dtype_name.hpp>

namespace nanlens::causes::detail {

// Did the op meet such a value where its output is bad? Where that is not known, an input that has one will do.
template <class Pick>
bool met(const InputFacts& input, double count, Pick&& pick) {
  return input.known && count > 0 &&
         (input.at_bad.empty() || std::any_of(input.at_bad.begin(), input.at_bad.end(), pick));
}
inline bool met_zeros(const InputFacts& input) {
  return met(input, input.health.num_zero, [](double x) { return x == 0; });
}
inline bool met_negatives(const InputFacts& input) {
  return met(input, input.health.num_negative, [](double x) { return x < 0; });
}

// Up to two inputs with zeros, those first that are nothing else.
inline std::vector<const InputFacts*> inputs_with_zeros(const CauseFacts& f) {
  std::vector<const InputFacts*> list;
  for (const bool whole : {true, false})
    for (const InputFacts& input : f.inputs)
      if (met_zeros(input) && (input.health.num_zero == input.health.size) == whole) list.push_back(&input);
  if (list.size() > 2) list.resize(2);
  std::sort(list.begin(), list.end());  // in input order
  return list;
}

// The input with the largest numbers, where these reach `limit`.
inline const InputFacts* large_input(const CauseFacts& f, double limit) {
  const auto largest = std::max_element(f.inputs.begin(), f.inputs.end(),
                                        [](const InputFacts& a, const InputFacts& b) { return a.largest < b.largest; });
  const bool reaches = largest != f.inputs.end() && largest->known && largest->largest >= limit;
  return reaches ? &*largest : nullptr;
}

inline std::string large_words(const CauseFacts& f, const Speech& speech, const InputFacts& input) {
  return say(speech, Saying::inside_large,
             {{"input", name_of(input, speech)},
              {"magnitude", about(input.largest, speech)},
              {"dtype", std::string(dtype_name(f.out.dtype))},
              {"max", short_number(dtype_max(f.out.dtype), speech)}});
}

// What goes on inside the op is not known: only a hint.
inline std::string because_of_unknown_op(const CauseFacts& f, const Speech& speech) {
  const bool nan = !f.kinds_known || (f.kinds & reader::nan_flag) != 0;
  const double max = dtype_max(f.out.dtype);
  const double few = max > 1e30 ? 1024 : 8;  // so many of these overflow when they are added up
  const InputFacts* const large = max > 0 ? large_input(f, std::sqrt(max)) : nullptr;  // its square overflows
  if (large != nullptr && large->largest >= max / few) return large_words(f, speech, *large);
  const auto zeros = inputs_with_zeros(f);
  if (zeros.size() == 1)
    return say(speech, Saying::inside_zeros,
               {{"input", name_of(*zeros[0], speech)}, {"count", zeros_words(zeros[0]->health, speech)}});
  if (zeros.size() == 2)
    return say(speech, Saying::inside_zeros_of_two,
               {{"input", name_of(*zeros[0], speech)},
                {"count", zeros_words(zeros[0]->health, speech)},
                {"other", name_of(*zeros[1], speech)},
                {"other_count", zeros_words(zeros[1]->health, speech)}});
  for (const InputFacts& input : f.inputs)
    if (nan && met_negatives(input))
      return say(speech, Saying::inside_negatives,
                 {{"input", name_of(input, speech)}, {"count", negatives_words(input.health, speech)}});
  const bool infinite = f.kinds_known && (f.kinds & ~reader::nan_flag) != 0;
  return large != nullptr && infinite ? large_words(f, speech, *large) : std::string();
}

}  // namespace nanlens::causes::detail
