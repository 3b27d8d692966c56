/// @file
/// NumPy's file of one array: format version 1.0 of numpy.lib.format.
#pragma once

#include <string>

#include <nanlens/reader/stored_tensor.hpp>

namespace nanlens::report {

/// The type in NumPy's words ("<f4"); dtypes that NumPy lacks as unsigned integers of the same bits. Empty if there is
/// none.
std::string npy_type(DType dtype);

/// True for dtypes that NumPy has.
bool numpy_has(DType dtype);

/// The bytes of the file.
std::string npy_file(const reader::StoredTensor& tensor);

}  // namespace nanlens::report
