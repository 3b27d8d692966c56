/// @file
/// The answer about a recorded program, in numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include <nanlens/causes/sentence.hpp>

#include "../support/finish.hpp"

namespace nanlens::test {

inline constexpr float infinity = std::numeric_limits<float>::infinity();
inline constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

struct WhyAnswer {
  std::string id;
  std::string op_type;
  std::string text;
  std::string consequence;
  std::uint64_t reach = 0;
  std::uint64_t total = 0;
  std::size_t causes = 0;
  std::size_t expected = 0;
  std::size_t removed = 0;
};

inline WhyAnswer ask(reader::Run& run) {
  causes::Causes causes(run);
  finish(causes, 3);
  WhyAnswer a;
  a.total = causes.total();
  for (const auto& root : causes.roots()) a.causes += root.reach > 0 && !causes.is_benign(root);
  a.expected = causes.benign().size();
  for (const auto& k : causes.killers()) a.removed += k.count;
  if (const auto headline = causes.headline()) {
    const auto s = causes::SentenceWriter(causes).sentence(*headline);
    a.id = s.id;
    a.op_type = s.op_type;
    a.text = s.text;
    a.consequence = s.consequence;
    a.reach = causes.roots()[*headline].reach;
  }
  return a;
}

}  // namespace nanlens::test
