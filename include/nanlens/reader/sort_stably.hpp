/// @file
/// A sort that leaves equal elements in their order.
///
/// The standard library's has one flaw: libstdc++ 12's uses what C++17 deprecates, and clang reports that wherever it
/// is used, system header or not.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

namespace nanlens::reader {

template <class T, class Before>
void sort_stably(std::vector<T>& list, Before before) {
  std::vector<std::size_t> order(list.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (before(list[a], list[b])) return true;
    return !before(list[b], list[a]) && a < b;
  });
  std::vector<T> sorted;
  sorted.reserve(list.size());
  for (const std::size_t i : order) sorted.push_back(std::move(list[i]));
  list = std::move(sorted);
}

}  // namespace nanlens::reader
