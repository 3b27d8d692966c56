/// @file
/// The field numbers of ONNX's messages, as far as a model's graph is read and added to. Source: the ONNX IR
/// specification.
#pragma once

#include <cstdint>

#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI::onnx_host::tags {

enum class ModelProto : std::uint32_t { ir_version = 1, graph = 7, opset_import = 8 };

enum class OperatorSetId : std::uint32_t { domain = 1, version = 2 };

enum class GraphProto : std::uint32_t {
  node = 1,
  name = 2,
  initializer = 5,
  input = 11,
  output = 12,
  value_info = 13,
};

enum class NodeProto : std::uint32_t { input = 1, output = 2, name = 3, op_type = 4, attribute = 5, domain = 7 };

enum class AttributeProto : std::uint32_t { name = 1, i = 3, s = 4, g = 6, type = 20 };

/// The values of AttributeProto.type.
enum class AttributeType : std::int32_t { integer = 2, string = 3 };

enum class ValueInfoProto : std::uint32_t { name = 1, type = 2 };

enum class TypeProto : std::uint32_t { tensor = 1, sequence = 4, map = 5, sparse_tensor = 8, optional = 9 };

enum class TensorProto : std::uint32_t { name = 8 };

}  // namespace nanlens::inline NANLENS_ABI::onnx_host::tags
