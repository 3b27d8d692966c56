/// @file
/// Of an op whose nature is not known: which of the values that it met may have made the bad one.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
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
inline Met met_negatives(const InputFacts& input, double num_nan) {
  const double count = input.health.num_negative;
  const bool is_odd = are_negatives_odd(input.health, num_nan);
  return is_odd ? met(input, count, [](double x) { return x < 0; }) : Met::nowhere;
}

using Suspects = std::vector<const InputFacts*>;

// How many elements of the output are bad; negative where that is not known.
inline double num_bad(const CauseFacts& f) { return f.out.num_nan + f.out.num_neg_inf + f.out.num_pos_inf; }

// The inputs that the op has met such values of. Where some have them there and nowhere else, these alone; otherwise
// those come first that hold nothing else. A tensor that went in twice is one.
template <class Has, class Count>
Suspects suspects(std::span<const InputFacts> inputs, double bad, Met where, Has&& has, Count&& count) {
  std::vector<Suspects> ranks(3);
  for (const InputFacts& input : inputs) {
    if (has(input) != where) continue;
    const bool there_alone = where == Met::everywhere && count(input) == bad;
    ranks[there_alone ? 0 : count(input) == input.health.size ? 1 : 2].push_back(&input);
  }
  Suspects list = ranks[0];
  if (list.empty()) list = ranks[1];
  if (ranks[0].empty()) list.insert(list.end(), ranks[2].begin(), ranks[2].end());
  const auto is_again = [&](const InputFacts* input) {
    return !input->name.empty() && std::any_of(list.begin(), list.end(), [&](const InputFacts* other) {
      return other < input && other->name == input->name;
    });
  };
  Suspects once;
  std::copy_if(list.begin(), list.end(), std::back_inserter(once), std::not_fn(is_again));
  return once;
}

// "3 inputs have zeros, …", of which two are named.
inline std::string several_inside(Saying saying, const Suspects& list, const Speech& speech) {
  const auto [first, second] = std::minmax(list[0], list[1]);  // in input order
  return say(
      speech, saying,
      {{"n", std::to_string(list.size())}, {"input", name_of(*first, speech)}, {"other", name_of(*second, speech)}});
}

// Zeros, or negative values, that the op has met there, and in which inputs; empty if it met none.
inline std::string zeros_inside(std::span<const InputFacts> inputs, double bad, const Speech& speech, Met where) {
  const Suspects list =
      suspects(inputs, bad, where, met_zeros, [](const InputFacts& in) { return in.health.num_zero; });
  if (list.empty()) return {};
  if (list.size() > 2) return several_inside(Saying::inside_zeros_of_more, list, speech);
  const auto [first, second] = std::minmax(list.front(), list.back());
  const std::string input = name_of(*first, speech);
  const std::string count = zeros_words(first->health, speech);
  if (list.size() == 1) return say(speech, Saying::inside_zeros, {{"input", input}, {"count", count}});
  return say(speech, Saying::inside_zeros_of_two,
             {{"input", input},
              {"count", count},
              {"other", name_of(*second, speech)},
              {"other_count", zeros_words(second->health, speech)}});
}
inline std::string negatives_inside(const CauseFacts& f, const Speech& speech, Met where) {
  const auto met_there = [&](const InputFacts& input) { return met_negatives(input, f.out.num_nan); };
  const Suspects list =
      suspects(f.inputs, num_bad(f), where, met_there, [](const InputFacts& in) { return in.health.num_negative; });
  if (list.empty()) return {};
  if (list.size() > 1) return several_inside(Saying::inside_negatives_of_more, list, speech);
  return say(speech, Saying::inside_negatives,
             {{"input", name_of(*list.front(), speech)}, {"count", negatives_words(list.front()->health, speech)}});
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

// The input whose squares overflow, added up where the op makes fewer elements of many.
inline const InputFacts* large_when_squared(const CauseFacts& f, double max) {
  const InputFacts* const largest = max > 0 ? large_input(f, 0) : nullptr;
  if (largest == nullptr) return nullptr;
  const double terms = f.out.size > 0 ? std::max(1.0, largest->health.size / f.out.size) : 1;
  return largest->largest >= std::sqrt(max / terms) ? largest : nullptr;
}

// What goes on inside the op is not known: only a hint, the likeliest first.
inline std::string because_of_unknown_op(const CauseFacts& f, const Speech& speech) {
  const bool nan = !f.kinds_known || (f.kinds & reader::nan_flag) != 0;
  const bool infinite = f.kinds_known && (f.kinds & ~reader::nan_flag) != 0;
  const double max = dtype_max(f.out.dtype);
  const double few = max > 1e30 ? 1024 : 8;  // so many of these overflow when they are added up
  const InputFacts* const large = large_when_squared(f, max);
  if (large != nullptr && large->largest >= max / few) return large_words(f, speech, *large);
  for (const Met where : {Met::everywhere, Met::perhaps}) {
    if (std::string zeros = zeros_inside(f.inputs, num_bad(f), speech, where); !zeros.empty()) return zeros;
    if (large != nullptr && infinite) return large_words(f, speech, *large);
    if (!nan || infinite) continue;  // what is negative makes no infinity
    if (std::string negatives = negatives_inside(f, speech, where); !negatives.empty()) return negatives;
  }
  return large != nullptr ? large_words(f, speech, *large) : std::string();
}

}  // namespace nanlens::causes::detail
