/// @file
/// The name of an op, together with the place in the source that names it.
#pragma once

#include <source_location>

namespace nanlens {

/// Made from a string literal, it remembers the line of the call: `nanlens::op("Log", …)`. A second string gives the op
/// of a graph a name of its own: `f.op({"ReadVariableOp", "MatMul/ReadVariableOp"}, …)`. Strings must outlive the
/// program's recording.
struct OpName {
  const char* type;
  const char* name;
  std::source_location where;

  // NOLINTNEXTLINE(google-explicit-constructor): a literal is what callers write
  OpName(const char* op_type, std::source_location here = std::source_location::current()) noexcept
      : type(op_type), name(op_type), where(here) {}
  OpName(const char* op_type, const char* op_name, std::source_location here = std::source_location::current()) noexcept
      : type(op_type), name(op_name), where(here) {}
};

/// Kinds of functions, which decide the names of their executions as TensorFlow mangles them.
enum class FunctionKind { inference, forward, backward };

/// The name of a function: `Function f("loss", …)`, `Function f({"loss", FunctionKind::forward}, …)`.
struct FunctionName {
  const char* name;
  FunctionKind kind;
  std::source_location where;

  // NOLINTNEXTLINE(google-explicit-constructor): a literal is what callers write
  FunctionName(const char* function, std::source_location here = std::source_location::current()) noexcept
      : name(function), kind(FunctionKind::inference), where(here) {}
  FunctionName(const char* function, FunctionKind function_kind,
               std::source_location here = std::source_location::current()) noexcept
      : name(function), kind(function_kind), where(here) {}
};

}  // namespace nanlens
