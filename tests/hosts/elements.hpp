/// @file
/// What a view shows, to be compared with what its library reads.
#pragma once

#include <cstring>
#include <vector>

#include <nanlens/tensor/view_of.hpp>

namespace nanlens::test {

/// The elements of a view in the order of its dimensions, read from its memory by its strides.
template <class Element>
std::vector<Element> elements(const TensorView& view) {
  std::vector<Element> found;
  if (view.dtype != dtype_of<Element> || view.data == nullptr || view.shape.overflowed()) return found;
  const Shape strides = strides_of(view);
  const std::int64_t count = num_elements(view.shape);
  for (std::int64_t n = 0; n < count; ++n) {
    std::int64_t rest = n;
    std::int64_t offset = 0;
    for (std::size_t d = view.shape.size(); d-- > 0; rest /= view.shape[d]) offset += rest % view.shape[d] * strides[d];
    found.emplace_back();
    std::memcpy(&found.back(), static_cast<const Element*>(view.data) + offset, sizeof(Element));
  }
  return found;
}

}  // namespace nanlens::test
