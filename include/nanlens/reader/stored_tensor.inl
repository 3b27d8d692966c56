// Part of stored_tensor.hpp.
#pragma once

#include <nanlens/logdir/tensor_values.hpp>

namespace nanlens::reader {

namespace detail {

// As many bytes as the shape says, and no shape beyond what a view can have.
NANLENS_API std::optional<StoredTensor> checked(StoredTensor&& tensor) {
  if (tensor.shape.size() > max_rank) return std::nullopt;
  const std::int64_t n = num_elements(Shape(tensor.shape));
  const std::size_t bytes = dtype_bytes(tensor.dtype);
  if (n < 0 || bytes == 0 || tensor.content.size() / bytes != static_cast<std::size_t>(n)) return std::nullopt;
  if (tensor.content.size() % bytes != 0) return std::nullopt;
  return std::move(tensor);
}

// Elements of a typed list, whichever it is; 0 where the values are bytes.
NANLENS_API std::size_t num_listed(const logdir::TensorProto& p) noexcept {
  return p.float_val.size() + p.double_val.size() + p.int_val.size() + p.int64_val.size() + p.bool_val.size() +
         p.half_val.size() + p.uint32_val.size() + p.uint64_val.size() + p.scomplex_val.size() / 2 +
         p.dcomplex_val.size() / 2 + p.float8_val.size();
}

// A typed list, whose last element stands for all that are left out.
template <class Word, class List>
void append_list(const List& list, std::size_t n, std::string& out) {
  for (std::size_t i = 0; i < n && !list.empty(); ++i) {
    const auto& value = list[std::min(i, list.size() - 1)];
    Word word;
    if constexpr (std::is_floating_point_v<Word>)
      word = value;
    else
      word = static_cast<Word>(value);
    out.append(reinterpret_cast<const char*>(&word), sizeof word);
  }
}

NANLENS_API void append_listed(const logdir::TensorProto& p, DType dtype, std::size_t n, std::string& out) {
  switch (dtype) {
    case DType::float32: return append_list<float>(p.float_val, n, out);
    case DType::float64: return append_list<double>(p.double_val, n, out);
    case DType::complex64: return append_list<float>(p.scomplex_val, 2 * n, out);
    case DType::complex128: return append_list<double>(p.dcomplex_val, 2 * n, out);
    case DType::int32:
    case DType::qint32: return append_list<std::int32_t>(p.int_val, n, out);
    case DType::int16:
    case DType::qint16:
    case DType::uint16:
    case DType::quint16: return append_list<std::int16_t>(p.int_val, n, out);
    case DType::int8:
    case DType::qint8:
    case DType::uint8:
    case DType::quint8: return append_list<std::int8_t>(p.int_val, n, out);
    case DType::int64: return append_list<std::int64_t>(p.int64_val, n, out);
    case DType::boolean: return append_list<std::uint8_t>(p.bool_val, n, out);
    case DType::float16:
    case DType::bfloat16: return append_list<std::uint16_t>(p.half_val, n, out);
    case DType::uint32: return append_list<std::uint32_t>(p.uint32_val, n, out);
    case DType::uint64: return append_list<std::uint64_t>(p.uint64_val, n, out);
    default: break;
  }
  if (is_floating(dtype) && !p.float8_val.empty())
    for (std::size_t i = 0; i < n; ++i) out += p.float8_val[std::min(i, p.float8_val.size() - 1)];
}

}  // namespace detail

NANLENS_API bool stands_for_more_than(const logdir::TensorProto& proto, std::int64_t elements) {
  const std::int64_t n = logdir::num_elements(proto);
  return proto.tensor_content.empty() && n > elements && detail::num_listed(proto) < static_cast<std::size_t>(n);
}

NANLENS_API std::optional<StoredTensor> stored_tensor(const logdir::TensorProto& proto) {
  constexpr std::int64_t most = std::int64_t{1} << 30;  // elements that a short list may stand for
  StoredTensor tensor{static_cast<DType>(proto.dtype), {}, proto.tensor_content};
  const std::int64_t n = logdir::num_elements(proto);
  if (n < 0 || n > most || dtype_bytes(tensor.dtype) == 0) return std::nullopt;
  if (proto.shape)
    for (const auto& dim : proto.shape->dims) tensor.shape.push_back(dim.size);
  if (tensor.content.empty()) detail::append_listed(proto, tensor.dtype, static_cast<std::size_t>(n), tensor.content);
  return detail::checked(std::move(tensor));
}

NANLENS_API std::optional<StoredTensor> stored_tensor(const logdir::TensorEvidence& e) {
  if (e.content.empty()) return std::nullopt;
  return detail::checked({static_cast<DType>(e.dtype), e.shape, e.content});
}

}  // namespace nanlens::reader
