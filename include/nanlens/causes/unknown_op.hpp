/// @file
/// Of an op whose nature is not known: which of the values that it met may have made the bad one.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include <nanlens/causes/cause_facts.hpp>
#include <nanlens/causes/input_words.hpp>
#include <nanlens/causes/limits.hpp>
#include <nanlens/tensor/dtype_name.hpp>

namespace nanlens::causes::detail {

// Where did the op meet such a value: wherever its output is bad, as far as that is known, or perhaps there, or not?
enum class Met : std::uint8_t { nowhere, perhaps, everywhere };

template <class Pick>
Met met(const InputFacts& input, double count, Pick&& pick) {
  if (!input.known || !(count > 0)) return Met::nowhere;
  if (input.at_bad.empty()) return Met::perhaps;
  const auto hits = std::count_if(input.at_bad.begin(), input.at_bad.end(), pick);
  return hits == 0 ? Met::nowhere : hits == std::ssize(input.at_bad) ? Met::everywhere : Met::perhaps;
}
inline Met met_zeros(const InputFacts& input) {
  return met(input, input.health.num_zero, [](double x) { return x == 0; });
}
inline Met met_negatives(const InputFacts& input) {
  return met(input, input.health.num_negative, [](double x) { return x < 0; });
}

// Zeros of up to two inputs, or negative values of one, that the op has met there; empty if it met none. Of inputs with
// zeros those come first that are nothing else.
inline std::string zeros_inside(std::span<const InputFacts> inputs, const Speech& speech, Met where) {
  std::vector<const InputFacts*> list;
  for (const bool whole : {true, false})
    for (const InputFacts& input : inputs)
      if (met_zeros(input) == where && (input.health.num_zero == input.health.size) == whole) list.push_back(&input);
  if (list.empty()) return {};
  if (list.size() > 2) list.resize(2);
  std::sort(list.begin(), list.end());  // in input order
  if (list.size() == 2 && list[0]->name == list[1]->name) list.pop_back();
  const std::string input = name_of(*list[0], speech);
  const std::string count = zeros_words(list[0]->health, speech);
  if (list.size() == 1) return say(speech, Saying::inside_zeros, {{"input", input}, {"count", count}});
  return say(speech, Saying::inside_zeros_of_two,
             {{"input", input},
              {"count", count},
              {"other", name_of(*list[1], speech)},
              {"other_count", zeros_words(list[1]->health, speech)}});
}
inline std::string negatives_inside(const CauseFacts& f, const Speech& speech, Met where) {
  for (const InputFacts& input : f.inputs)
    if (met_negatives(input) == where)
      return say(speech, Saying::inside_negatives,
                 {{"input", name_of(input, speech)}, {"count", negatives_words(input.health, speech)}});
  return {};
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

// What goes on inside the op is not known: only a hint, the likeliest first.
inline std::string because_of_unknown_op(const CauseFacts& f, const Speech& speech) {
  const bool nan = !f.kinds_known || (f.kinds & reader::nan_flag) != 0;
  const bool infinite = f.kinds_known && (f.kinds & ~reader::nan_flag) != 0;
  const double max = dtype_max(f.out.dtype);
  const double few = max > 1e30 ? 1024 : 8;  // so many of these overflow when they are added up
  const InputFacts* const large = max > 0 ? large_input(f, std::sqrt(max)) : nullptr;  // its square overflows
  if (large != nullptr && large->largest >= max / few) return large_words(f, speech, *large);
  for (const Met where : {Met::everywhere, Met::perhaps}) {
    if (std::string zeros = zeros_inside(f.inputs, speech, where); !zeros.empty()) return zeros;
    if (large != nullptr && infinite) return large_words(f, speech, *large);
    if (!nan) continue;
    if (std::string negatives = negatives_inside(f, speech, where); !negatives.empty()) return negatives;
  }
  return large != nullptr ? large_words(f, speech, *large) : std::string();
}

}  // namespace nanlens::causes::detail
