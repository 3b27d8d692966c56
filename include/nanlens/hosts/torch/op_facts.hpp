/// @file
/// What an op does to its arguments, by its schema.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include <ATen/core/function_schema.h>
#include <ATen/record_function.h>

#include <nanlens/config.hpp>
#include <nanlens/hosts/torch/exchange_ops.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN torch_host {

/// A bit for each argument; those beyond the 64th count as read.
using Arguments = std::uint64_t;

struct OpFacts {
  static constexpr std::size_t any_number = static_cast<std::size_t>(-1);

  std::string name;            ///< "aten::add_"
  bool is_op = false;          ///< it has a schema: what else has a name is only a part of a program's profile
  bool is_compiled = false;    ///< what torch.compile has made of a part of the program; no op
  bool allocates = false;      ///< gives memory whose content means nothing
  bool makes_nothing = false;  ///< a view, or something about the tensor other than its values
  bool initialises = false;    ///< fills memory from elsewhere
  bool is_constant = false;    ///< gives the same whatever goes in
  bool copies = false;         ///< from one tensor to another
  Arguments written = 0;       ///< in place
  Arguments unread = 0;        ///< those whose values play no part: what is overwritten, or asked for its shape alone
  Arguments hidden = 0;        ///< written, though the schema does not say so
  Arguments kept = 0;          ///< a bit for each result: of no meaning to the program
  std::size_t arguments = any_number;  ///< how many
  std::size_t results = any_number;    ///< how many
  int non_blocking = -1;  ///< the argument that asks for a copy while the program goes on; −1: there is none
  const ExchangeOp* exchange = nullptr;  ///< with other processes: its tensors come later, and are recorded then
};

inline bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) noexcept {
  return std::find(names.begin(), names.end(), name) != names.end();
}

inline bool is_allocator(std::string_view op) noexcept {
  return op.starts_with("empty") || op.starts_with("new_empty") || op.starts_with("_empty") ||
         is_one_of(op, {"resize_", "resize_as_", "_resize_output_"});
}

// In place, but only shape, strides, storage or flags.
inline bool changes_no_values(std::string_view op) noexcept {
  return is_one_of(op, {"t_", "transpose_", "squeeze_", "unsqueeze_", "as_strided_", "swapaxes_", "swapdims_",
                        "detach_", "set_", "set_data", "requires_grad_", "rename_", "_coalesced_", "record_stream"});
}

inline bool overwrites_self(std::string_view op) noexcept {
  return is_one_of(op, {"copy_", "fill_", "zero_", "normal_", "uniform_", "random_", "exponential_", "cauchy_",
                        "log_normal_", "geometric_", "bernoulli_"});
}

// Around one that exchanges tensors: what it returns is there when that is.
inline bool is_around_exchange(std::string_view name) noexcept {
  return name.starts_with("_c10d_functional::") || name.starts_with("_c10d_functional_autograd::") ||
         name.starts_with("c10d_functional::");
}

inline bool is_constant(std::string_view op) noexcept {
  return is_one_of(
      op, {"zeros", "ones", "full", "zeros_like", "ones_like", "full_like", "new_zeros", "new_ones", "new_full"});
}

// Running mean and variance: PyTorch's schemas hide that they are written.
inline Arguments hidden_writes(std::string_view op) noexcept {
  constexpr Arguments third_and_fourth = 0b11000;
  return is_one_of(op, {"native_batch_norm", "cudnn_batch_norm", "miopen_batch_norm"}) ? third_and_fourth : 0;
}

// Results that mean nothing to the program: what an op keeps for its own gradient alone, where infinity is a value like
// others (logarithms of what is impossible); and memory that is filled only later, as FSDP's before it gathers.
inline Arguments kept_results(std::string_view op) noexcept {
  constexpr Arguments second = 0b10;
  return is_one_of(op, {"_ctc_loss", "all_gather_copy_in"}) ? second : 0;
}
inline Arguments kept_arguments(std::string_view op) noexcept {
  constexpr Arguments seventh = 0b1000000;
  return op == "_ctc_loss_backward" ? seventh : 0;
}

inline void add_schema(OpFacts& facts, const ::c10::FunctionSchema& schema) {
  const auto& arguments = schema.arguments();
  for (std::size_t i = 0; i < std::min<std::size_t>(arguments.size(), 64); ++i) {
    const ::c10::AliasInfo* const alias = arguments[i].alias_info();
    if (alias == nullptr || !alias->isWrite()) continue;
    facts.written |= Arguments{1} << i;
    if (arguments[i].is_out()) facts.unread |= Arguments{1} << i;
  }
  facts.non_blocking = schema.argumentIndexWithName("non_blocking").value_or(-1);
  const auto& returns = schema.returns();
  const bool aliases = std::any_of(returns.begin(), returns.end(), [](const ::c10::Argument& value) {
    return value.alias_info() != nullptr && !value.alias_info()->isWrite();
  });
  facts.makes_nothing = aliases && facts.written == 0;
  if (!schema.is_vararg()) facts.arguments = arguments.size();
  if (!schema.is_varret()) facts.results = returns.size();
}

inline std::unique_ptr<OpFacts> make_facts(const ::at::RecordFunction& function) {
  auto facts = std::make_unique<OpFacts>();
  facts->name = function.name();
  std::string_view op = facts->name;
  if (const std::size_t colons = op.find("::"); colons != std::string_view::npos) op.remove_prefix(colons + 2);
  if (const auto schema = function.operator_schema()) {
    facts->is_op = true;
    add_schema(*facts, *schema);
  }
  facts->is_compiled = facts->name.starts_with("Torch-Compiled Region");
  facts->allocates = is_allocator(op);
  facts->makes_nothing = facts->makes_nothing || changes_no_values(op);
  facts->initialises = overwrites_self(op);
  facts->is_constant = is_constant(op);
  facts->copies = op == "copy_";
  if (facts->initialises) facts->unread |= facts->written & 1;
  // A backward pass begins with ones like the loss: which that is shall be on record.
  if ((op.ends_with("_like") && op != "ones_like") || op.starts_with("new_")) facts->unread |= 1;
  facts->hidden = hidden_writes(op);
  facts->kept = kept_results(op);
  facts->unread |= kept_arguments(op);
  facts->exchange = exchange_op(facts->name);
  facts->makes_nothing = facts->makes_nothing || facts->exchange != nullptr || is_around_exchange(facts->name);
  return facts;
}

/// The facts of the op that runs; they last as long as the program. Its schema is read once: that is slow.
inline const OpFacts& facts_of(const ::at::RecordFunction& function) {
  struct Known {
    const char* name;
    const OpFacts* facts;
  };
  // The name of a registered op lies in its schema, for good; one overload's name has another address than the next's.
  static thread_local std::array<Known, 256> known{};
  const char* const name = function.name();
  Known& entry = known[reinterpret_cast<std::uintptr_t>(name) / 8 % known.size()];
  if (entry.name == name && std::strcmp(entry.facts->name.c_str(), name) == 0) return *entry.facts;
  static std::mutex lock;
  static auto* const all = new std::unordered_map<std::string, std::unique_ptr<OpFacts>>;
  std::string key = name;
  if (const auto op = function.operator_name()) key += "." + op->overload_name;
  const std::lock_guard guard(lock);
  std::unique_ptr<OpFacts>& facts = (*all)[key];
  if (facts == nullptr) facts = make_facts(function);
  entry = {name, facts.get()};
  return *facts;
}

/// What is on top of what a callback is given: an op that is called boxed comes with the whole stack of its caller.
template <class Values>
std::span<const ::c10::IValue> top_of(const Values& values, std::size_t count) {
  return std::span(values.data(), values.size()).last(std::min<std::size_t>(count, values.size()));
}
inline std::span<const ::c10::IValue> arguments_of(const ::at::RecordFunction& function, const OpFacts& facts) {
  return top_of(function.inputs(), facts.arguments);
}
inline std::span<const ::c10::IValue> results_of(const ::at::RecordFunction& function, const OpFacts& facts) {
  return top_of(function.outputs(), facts.results);
}

}  // namespace NANLENS_HIDDEN torch_host
}  // namespace nanlens::inline NANLENS_ABI
