/// @file
/// What a node of ggml's graph reads and writes.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include <nanlens/config.hpp>
#include <nanlens/hosts/ggml/tensor_values.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN ggml_host {

enum class NodeKind : std::uint8_t {
  leaf,      ///< made by no op: a weight, an input, a constant
  view,      ///< another look at the memory of its input
  copy,      ///< CPY: its second input is the place that it writes to
  set_rows,  ///< SET_ROWS: writes some rows of its third input
  other,
};

inline NodeKind kind_of(const ::ggml_tensor& tensor) {
  const std::string_view op = calls.op_desc(&tensor);
  if (op == "NONE") return NodeKind::leaf;
  if (op == "VIEW" || op == "RESHAPE" || op == "PERMUTE" || op == "TRANSPOSE") return NodeKind::view;
  if (op == "CPY") return NodeKind::copy;
  return op == "SET_ROWS" ? NodeKind::set_rows : NodeKind::other;
}

/// The name, or for want of one the op.
inline std::string_view name_of(const ::ggml_tensor& tensor) {
  return *tensor.name != '\0' ? std::string_view(tensor.name, ::strnlen(tensor.name, sizeof tensor.name))
                              : std::string_view(calls.op_desc(&tensor));
}

/// Is this input only the place that the node writes to?
constexpr bool is_destination(NodeKind kind, std::size_t source) noexcept {
  return (kind == NodeKind::copy && source == 1) || (kind == NodeKind::set_rows && source == 2);
}

/// ggml before 2026 computes all nodes of a graph; later those that it has marked.
inline bool is_computed(const ::ggml_tensor& node) noexcept {
  constexpr std::int32_t compute_flag = 16;
  static std::atomic<bool> marks{false};
  const bool marked = (node.flags & compute_flag) != 0;
  if (marked) marks.store(true, std::memory_order_relaxed);
  return marked || !marks.load(std::memory_order_relaxed);
}

/// The rows that SET_ROWS has written, as a tensor of their own: what else its result holds, a cache for instance, may
/// never have been initialised. Without data where they can't be read.
class WrittenRows {
 public:
  explicit WrittenRows(const ::ggml_tensor& node) : rows_(node) {
    const ::ggml_tensor* const from = node.src[0];
    const ::ggml_tensor* const numbers = node.src[1];
    rows_.data = nullptr;
    rows_.view_src = nullptr;
    rows_.buffer = nullptr;
    if (from == nullptr || numbers == nullptr || !is_here(node) || !is_here(*numbers)) return;
    for (int d = 1; d < 4; ++d) rows_.ne[d] = from->ne[d];
    const std::size_t row_bytes = static_cast<std::size_t>(node.ne[0] / calls.block_elements(node.type)) * node.nb[0];
    rows_.nb[1] = row_bytes;
    rows_.nb[2] = row_bytes * static_cast<std::size_t>(from->ne[1]);
    rows_.nb[3] = rows_.nb[2] * static_cast<std::size_t>(from->ne[2]);
    bytes_.resize(rows_.nb[3] * static_cast<std::size_t>(from->ne[3]));
    rows_.data = bytes_.data();
    char* to = bytes_.data();
    for (std::int64_t i3 = 0; i3 < from->ne[3]; ++i3)
      for (std::int64_t i2 = 0; i2 < from->ne[2]; ++i2)
        for (std::int64_t i1 = 0; i1 < from->ne[1]; ++i1, to += row_bytes)
          std::memcpy(to, byte_of(node, number_at(*numbers, i1, i2 % numbers->ne[1], i3 % numbers->ne[2]), i2, i3),
                      row_bytes);
  }
  [[nodiscard]] const ::ggml_tensor& tensor() const noexcept { return rows_; }

 private:
  static const char* byte_of(const ::ggml_tensor& t, std::int64_t i1, std::int64_t i2, std::int64_t i3) noexcept {
    return static_cast<const char*>(t.data) + static_cast<std::size_t>(i1) * t.nb[1] +
           static_cast<std::size_t>(i2) * t.nb[2] + static_cast<std::size_t>(i3) * t.nb[3];
  }
  static std::int64_t number_at(const ::ggml_tensor& numbers, std::int64_t i0, std::int64_t i1, std::int64_t i2) {
    const char* const at = static_cast<const char*>(numbers.data) + static_cast<std::size_t>(i0) * numbers.nb[0] +
                           static_cast<std::size_t>(i1) * numbers.nb[1] + static_cast<std::size_t>(i2) * numbers.nb[2];
    std::int64_t number = 0;
    std::int32_t short_number = 0;
    if (dtype_of(numbers.type) == DType::int64) {
      std::memcpy(&number, at, sizeof number);
      return number;
    }
    std::memcpy(&short_number, at, sizeof short_number);
    return short_number;
  }

  ::ggml_tensor rows_;
  std::vector<char> bytes_;
};

}  // namespace NANLENS_HIDDEN ggml_host
}  // namespace nanlens::inline NANLENS_ABI
