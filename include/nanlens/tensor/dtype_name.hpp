/// @file
/// The names of element types, as TensorFlow prints them.
#pragma once

#include <string_view>

#include <nanlens/config.hpp>
#include <nanlens/tensor/dtype.hpp>

namespace nanlens::inline NANLENS_ABI {

/// Display name ("float32", "bool", …); "invalid" for numbers that are not in the enum.
constexpr std::string_view dtype_name(DType dtype) noexcept { return detail::facts_of(dtype).name; }

/// The dtype with this display name; `DType::invalid` if there is none.
constexpr DType dtype_from_name(std::string_view name) noexcept {
  for (std::int32_t i = 1; i < detail::num_dtypes; ++i)
    if (detail::dtype_facts[i].name == name) return static_cast<DType>(i);
  return DType::invalid;
}

}  // namespace nanlens::inline NANLENS_ABI
