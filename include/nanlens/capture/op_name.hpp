/// @file
/// The name of an op, together with the place in the source that names it.
#pragma once

#include <concepts>
#include <cstdint>
#include <source_location>
#include <string_view>
#include <type_traits>

#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI {

namespace detail {

/// What a name can be made of: literals, std::string, std::string_view, any character pointer.
template <class T>
concept NameText = std::convertible_to<const T&, std::string_view>;

// A null pointer is an empty name.
template <NameText T>
constexpr std::string_view name_text(const T& text) noexcept {
  if constexpr (std::is_pointer_v<T>)
    if (text == nullptr) return {};
  return std::string_view(text);
}

}  // namespace detail

/// Made from a string, it remembers the line of the call: `nanlens::op("Log", …)`. A second string is the op's own
/// name, beside its type: `nanlens::op({layer.type, layer.name}, …)`, `f.op({"ReadVariableOp",
/// "MatMul/ReadVariableOp"}, …)`. Names are told apart by their content, and copied: strings made at run time need only
/// last for the call.
class OpName {
 public:
  template <detail::NameText Type>
  // NOLINTNEXTLINE(google-explicit-constructor): a string is what callers write
  constexpr OpName(const Type& op_type, std::source_location here = std::source_location::current()) noexcept
      : OpName(Texts{detail::name_text(op_type), detail::name_text(op_type)}, here) {}
  template <detail::NameText Type, detail::NameText Name>
  constexpr OpName(const Type& op_type, const Name& op_name,
                   std::source_location here = std::source_location::current()) noexcept
      : OpName(Texts{detail::name_text(op_type), detail::name_text(op_name)}, here) {}

  [[nodiscard]] constexpr std::string_view type() const noexcept { return {type_, type_size_}; }
  [[nodiscard]] constexpr std::string_view name() const noexcept { return {name_, name_size_}; }
  [[nodiscard]] constexpr const std::source_location& where() const noexcept { return where_; }
  /// True if the op has a name that is not its type.
  [[nodiscard]] constexpr bool has_own_name() const noexcept { return name_ != type_ && name() != type(); }

 private:
  struct Texts {
    std::string_view type;
    std::string_view name;
  };
  // Small: it is made before anything is known of whether recording is on.
  constexpr OpName(const Texts& texts, std::source_location here) noexcept
      : type_(texts.type.data()),
        name_(texts.name.data()),
        type_size_(static_cast<std::uint32_t>(texts.type.size())),
        name_size_(static_cast<std::uint32_t>(texts.name.size())),
        where_(here) {}

  const char* type_;
  const char* name_;
  std::uint32_t type_size_;
  std::uint32_t name_size_;
  std::source_location where_;
};

/// Kinds of functions, which decide the names of their executions as TensorFlow mangles them.
enum class FunctionKind { inference, forward, backward };

/// The name of a function: `Function f("loss", …)`, `Function f({"loss", FunctionKind::forward}, …)`. Any string, as
/// for an OpName.
struct FunctionName {
  std::string_view name;
  FunctionKind kind;
  std::source_location where;

  template <detail::NameText Name>
  // NOLINTNEXTLINE(google-explicit-constructor): a string is what callers write
  constexpr FunctionName(const Name& function, std::source_location here = std::source_location::current()) noexcept
      : name(detail::name_text(function)), kind(FunctionKind::inference), where(here) {}
  template <detail::NameText Name>
  constexpr FunctionName(const Name& function, FunctionKind function_kind,
                         std::source_location here = std::source_location::current()) noexcept
      : name(detail::name_text(function)), kind(function_kind), where(here) {}
};

}  // namespace nanlens::inline NANLENS_ABI
