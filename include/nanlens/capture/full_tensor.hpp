/// @file
/// FULL_TENSOR: the values themselves, in the encodings that TensorFlow uses for eager tensors and for graph tensors.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <nanlens/config.hpp>
#include <nanlens/logdir/tags.hpp>
#include <nanlens/logdir/wire.hpp>
#include <nanlens/summary/strided.hpp>
#include <nanlens/tensor/tensor_view.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN detail {

inline void write_shape(logdir::WireWriter& w, const Shape& shape) {
  w.message(logdir::tags::TensorProto::tensor_shape, [&](logdir::WireWriter& proto) {
    for (const std::int64_t size : shape)
      proto.message(logdir::tags::TensorShapeProto::dim,
                    [&](logdir::WireWriter& dim) { dim.field(logdir::tags::TensorDim::size, size); });
  });
}

/// Appends the elements of a view in row-major order.
inline void append_row_major(const TensorView& view, std::string& out) {
  const std::size_t bytes = dtype_bytes(view.dtype);
  const auto count = static_cast<std::size_t>(num_elements(view.shape));
  const auto* const data = static_cast<const char*>(view.data);
  if (is_dense(view)) {
    out.append(data, count * bytes);
    return;
  }
  std::int64_t index[max_rank] = {};
  std::int64_t at = 0;
  for (std::size_t i = 0; i < count; ++i) {
    out.append(data + at * static_cast<std::int64_t>(bytes), bytes);
    for (std::size_t d = view.shape.size(); d-- > 0;) {
      at += view.strides[d];
      if (++index[d] < view.shape[d]) break;
      at -= view.strides[d] * view.shape[d];
      index[d] = 0;
    }
  }
}

namespace NANLENS_HIDDEN detail {

template <class Word>
Word element(const std::string& content, std::size_t i) noexcept {
  Word word;
  std::memcpy(&word, content.data() + i * sizeof(Word), sizeof word);
  return word;
}

// Zeros are left out of single-element lists by nobody: a list of one zero is still a list.
template <class Number, class Word>
void write_list(logdir::WireWriter& w, logdir::FieldNumber field, const std::string& content, std::size_t count) {
  std::vector<Number> numbers;
  for (std::size_t i = 0; i < count; ++i) numbers.push_back(static_cast<Number>(element<Word>(content, i)));
  if constexpr (std::is_floating_point_v<Number>)
    w.packed_fixed(field, std::span<const Number>(numbers));
  else
    w.packed(field, std::span<const Number>(numbers));
}

// Python's make_tensor_proto: single elements, bool and complex go into typed fields, the rest into tensor_content.
inline bool write_typed(logdir::WireWriter& w, DType dtype, const std::string& content, std::size_t count) {
  using Tag = logdir::tags::TensorProto;
  switch (dtype) {
    case DType::complex64: return write_list<float, float>(w, Tag::scomplex_val, content, 2 * count), true;
    case DType::complex128: return write_list<double, double>(w, Tag::dcomplex_val, content, 2 * count), true;
    case DType::boolean: return write_list<std::uint8_t, std::uint8_t>(w, Tag::bool_val, content, count), true;
    default: break;
  }
  if (count != 1) return false;
  switch (dtype) {
    case DType::float32: return write_list<float, float>(w, Tag::float_val, content, 1), true;
    case DType::float64: return write_list<double, double>(w, Tag::double_val, content, 1), true;
    case DType::int32:
    case DType::qint32: return write_list<std::int32_t, std::int32_t>(w, Tag::int_val, content, 1), true;
    case DType::int16:
    case DType::qint16: return write_list<std::int32_t, std::int16_t>(w, Tag::int_val, content, 1), true;
    case DType::int8:
    case DType::qint8: return write_list<std::int32_t, std::int8_t>(w, Tag::int_val, content, 1), true;
    case DType::uint16:
    case DType::quint16: return write_list<std::int32_t, std::uint16_t>(w, Tag::int_val, content, 1), true;
    case DType::uint8:
    case DType::quint8: return write_list<std::int32_t, std::uint8_t>(w, Tag::int_val, content, 1), true;
    case DType::int64: return write_list<std::int64_t, std::int64_t>(w, Tag::int64_val, content, 1), true;
    case DType::float16:
    case DType::bfloat16: return write_list<std::int32_t, std::uint16_t>(w, Tag::half_val, content, 1), true;
    case DType::uint32: return write_list<std::uint32_t, std::uint32_t>(w, Tag::uint32_val, content, 1), true;
    case DType::uint64: return write_list<std::uint64_t, std::uint64_t>(w, Tag::uint64_val, content, 1), true;
    default: break;
  }
  if (!is_floating(dtype)) return false;
  w.field(Tag::float8_val, content);  // the float8 family
  return true;
}

}  // namespace NANLENS_HIDDEN detail

/// The largest tensor whose values are recorded; a TensorProto can't hold 2 GiB.
inline constexpr std::int64_t max_full_tensor_bytes = std::int64_t{1} << 30;

/// Writes a whole tensor. False, with nothing written, if it can't be: memory that can't be read, dtypes without a
/// fixed layout, too large.
inline bool write_full_tensor(logdir::WireWriter& w, const TensorView& view, bool eager) {
  using Tag = logdir::tags::TensorProto;
  const auto bytes = static_cast<std::int64_t>(dtype_bytes(view.dtype));
  const std::int64_t count = num_elements(view.shape);
  if (bytes == 0 || count < 0 || view.shape.overflowed() || (view.data == nullptr && count > 0)) return false;
  if (count > max_full_tensor_bytes / bytes) return false;
  w.field(Tag::dtype, std::int64_t{static_cast<std::int32_t>(view.dtype)});
  write_shape(w, view.shape);
  if (count == 0) return true;
  std::string content;
  append_row_major(view, content);
  if (!eager || !detail::write_typed(w, view.dtype, content, static_cast<std::size_t>(count)))
    w.field(Tag::tensor_content, content);
  return true;
}

}  // namespace NANLENS_HIDDEN detail
}  // namespace nanlens::inline NANLENS_ABI
