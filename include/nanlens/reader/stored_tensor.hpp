/// @file
/// The values of a tensor that were stored in full: by FULL_TENSOR, or with the first bad event of an op.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nanlens/logdir/events.hpp>
#include <nanlens/tensor/tensor_view.hpp>

namespace nanlens::reader {

/// All elements of a tensor, in row-major order.
struct StoredTensor {
  DType dtype = DType::invalid;
  std::vector<std::int64_t> shape;
  std::string content;

  [[nodiscard]] TensorView view() const noexcept { return dense_view(content.data(), dtype, Shape(shape)); }
};

/// Does a list of few values stand for more than so many elements?
bool stands_for_more_than(const logdir::TensorProto& proto, std::int64_t elements);

/// The values that a TensorProto holds; nothing for strings, handles, and where the content does not fit the shape.
std::optional<StoredTensor> stored_tensor(const logdir::TensorProto& proto);

/// The values that came with an evidence; nothing if they were not stored.
std::optional<StoredTensor> stored_tensor(const logdir::TensorEvidence& e);

}  // namespace nanlens::reader

#if !defined(NANLENS_SPLIT)
#include <nanlens/reader/stored_tensor.inl>
#endif
