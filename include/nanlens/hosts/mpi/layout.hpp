/// @file
/// How the elements of an MPI datatype lie in memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <mpi.h>

#include <nanlens/config.hpp>
#include <nanlens/tensor/tensor_view.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN mpi_host {

/// Floating elements of one type in rows, rows of rows and so on; anything else is not looked at.
struct Layout {
  struct Dimension {
    std::int64_t size = 1;
    MPI_Aint stride = 0;  ///< in bytes
  };
  DType dtype = DType::invalid;
  MPI_Aint offset = 0;  ///< of the first element, in bytes
  MPI_Aint extent = 0;  ///< from one of several to the next, in bytes
  std::vector<Dimension> dimensions;

  [[nodiscard]] bool known() const noexcept { return dtype != DType::invalid; }
};

/// The dtype of MPI's own types of floating numbers; `invalid` for all others.
inline DType plain_dtype(MPI_Datatype type) {
  if (type == MPI_DOUBLE) return DType::float64;  // by far the most frequent
  if (type == MPI_FLOAT) return DType::float32;
  static const std::array<std::pair<MPI_Datatype, DType>, 13> others{{{MPI_REAL, DType::float32},
                                                                      {MPI_DOUBLE_PRECISION, DType::float64},
                                                                      {MPI_REAL4, DType::float32},
                                                                      {MPI_REAL8, DType::float64},
                                                                      {MPI_C_COMPLEX, DType::complex64},
                                                                      {MPI_C_FLOAT_COMPLEX, DType::complex64},
                                                                      {MPI_C_DOUBLE_COMPLEX, DType::complex128},
                                                                      {MPI_COMPLEX, DType::complex64},
                                                                      {MPI_DOUBLE_COMPLEX, DType::complex128},
                                                                      {MPI_COMPLEX8, DType::complex64},
                                                                      {MPI_COMPLEX16, DType::complex128},
                                                                      {MPI_CXX_FLOAT_COMPLEX, DType::complex64},
                                                                      {MPI_CXX_DOUBLE_COMPLEX, DType::complex128}}};
  if (type == MPI_DATATYPE_NULL) return DType::invalid;  // as a type is that this MPI was built without
  for (const auto& [plain, dtype] : others)
    if (plain == type) return dtype;
  return DType::invalid;
}

inline Layout layout_of(MPI_Datatype type);

/// What a datatype was made of. The types in it are given back when it ends.
class TypeContents {
 public:
  explicit TypeContents(MPI_Datatype type) {
    int integers_size = 0;
    int addresses_size = 0;
    int types_size = 0;
    if (PMPI_Type_get_envelope(type, &integers_size, &addresses_size, &types_size, &combiner) != MPI_SUCCESS ||
        combiner == MPI_COMBINER_NAMED)
      return;
    integers.resize(static_cast<std::size_t>(integers_size) + 1);  // never empty: its address is asked for
    addresses.resize(static_cast<std::size_t>(addresses_size) + 1);
    std::vector<MPI_Datatype> made(static_cast<std::size_t>(types_size) + 1, MPI_DATATYPE_NULL);
    if (PMPI_Type_get_contents(type, integers_size, addresses_size, types_size, integers.data(), addresses.data(),
                               made.data()) == MPI_SUCCESS)
      types.assign(made.begin(), made.end() - 1);
  }
  TypeContents(const TypeContents&) = delete;
  TypeContents& operator=(const TypeContents&) = delete;
  ~TypeContents() {
    for (MPI_Datatype& type : types) {
      int counts[3];
      int made_by = MPI_COMBINER_NAMED;
      if (PMPI_Type_get_envelope(type, &counts[0], &counts[1], &counts[2], &made_by) == MPI_SUCCESS &&
          made_by != MPI_COMBINER_NAMED)
        PMPI_Type_free(&type);
    }
  }

  int combiner = MPI_COMBINER_NAMED;
  std::vector<int> integers;
  std::vector<MPI_Aint> addresses;
  std::vector<MPI_Datatype> types;
};

inline void add_around(Layout& layout, std::int64_t size, MPI_Aint stride) {
  layout.dimensions.insert(layout.dimensions.begin(), {size, stride});
}

// A part of an array, with as many blanks around it as the whole is larger.
inline void take_part(Layout& layout, const std::vector<int>& numbers) {
  const auto rank = static_cast<std::size_t>(numbers[0]);
  const int* const sizes = numbers.data() + 1;
  const int* const part = sizes + rank;
  const int* const starts = part + rank;
  const bool rows_first = starts[rank] == MPI_ORDER_C;
  MPI_Aint stride = layout.extent;
  for (std::size_t i = 0; i < rank; ++i) {  // from the dimension that varies fastest
    const std::size_t d = rows_first ? rank - 1 - i : i;
    layout.offset += starts[d] * stride;
    add_around(layout, part[d], stride);
    stride *= sizes[d];
  }
  layout.extent = stride;
}

inline Layout derived_layout(MPI_Datatype type) {
  const TypeContents made(type);
  if (made.types.size() != 1) return {};
  Layout layout = layout_of(made.types.front());
  if (!layout.known()) return {};
  const MPI_Aint one = layout.extent;
  const std::vector<int>& n = made.integers;
  switch (made.combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED: break;
    case MPI_COMBINER_CONTIGUOUS: add_around(layout, n[0], one); break;
    case MPI_COMBINER_VECTOR:
      add_around(layout, n[1], one);
      add_around(layout, n[0], n[2] * one);
      break;
    case MPI_COMBINER_HVECTOR:
      add_around(layout, n[1], one);
      add_around(layout, n[0], made.addresses[0]);
      break;
    case MPI_COMBINER_SUBARRAY: take_part(layout, n); break;
    default: return {};
  }
  MPI_Aint lowest = 0;
  if (PMPI_Type_get_extent(type, &lowest, &layout.extent) != MPI_SUCCESS) return {};
  return layout;
}

inline Layout layout_of(MPI_Datatype type) {
  Layout layout;
  layout.dtype = plain_dtype(type);
  if (!layout.known()) return type == MPI_DATATYPE_NULL ? layout : derived_layout(type);
  layout.extent = static_cast<MPI_Aint>(dtype_bytes(layout.dtype));
  return layout;
}

/// The same; that of a type that a program made is found once, and kept with the type.
inline const Layout& known_layout(MPI_Datatype type) {
  static const Layout single = layout_of(MPI_FLOAT);
  static const Layout twofold = layout_of(MPI_DOUBLE);
  static const Layout nothing;
  if (type == MPI_DOUBLE) return twofold;
  if (type == MPI_FLOAT) return single;
  static const int key = [] {
    int made = MPI_KEYVAL_INVALID;
    const auto end = [](MPI_Datatype, int, void* layout, void*) {
      delete static_cast<Layout*>(layout);
      return MPI_SUCCESS;
    };
    PMPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, end, &made, nullptr);
    return made;
  }();
  if (type == MPI_DATATYPE_NULL || key == MPI_KEYVAL_INVALID) return nothing;
  void* kept = nullptr;
  int found = 0;
  if (PMPI_Type_get_attr(type, key, static_cast<void*>(&kept), &found) != MPI_SUCCESS) return nothing;
  if (found != 0) return *static_cast<Layout*>(kept);
  auto* const layout = new Layout(layout_of(type));
  if (PMPI_Type_set_attr(type, key, layout) == MPI_SUCCESS) return *layout;
  delete layout;
  return nothing;
}

/// A view of `count` of a type in a buffer. False where they can't be looked at.
inline bool view_of_buffer(const void* buffer, std::int64_t count, const Layout& layout, TensorView& view) {
  if (!layout.known() || count < 0) return false;
  const auto bytes = static_cast<MPI_Aint>(dtype_bytes(layout.dtype));
  view = {};
  view.dtype = layout.dtype;
  if (count == 0) {
    view = dense_view(nullptr, layout.dtype, Shape{0});
    return true;
  }
  view.data = static_cast<const char*>(buffer) + layout.offset;
  std::vector<Layout::Dimension> dimensions{{count, layout.extent}};
  for (const Layout::Dimension& inner : layout.dimensions) {
    Layout::Dimension& outer = dimensions.back();
    if (outer.size == 1)
      outer = inner;
    else if (outer.stride == inner.size * inner.stride)
      outer = {outer.size * inner.size, inner.stride};
    else if (inner.size != 1)
      dimensions.push_back(inner);
  }
  for (const Layout::Dimension& d : dimensions) {
    if (d.size < 0 || d.stride % bytes != 0) return false;
    view.shape.push_back(d.size);
    view.strides.push_back(d.size == 1 ? 1 : d.stride / bytes);
  }
  return !view.shape.overflowed();
}

}  // namespace NANLENS_HIDDEN mpi_host
}  // namespace nanlens::inline NANLENS_ABI
