/// @file
/// What the names in a graph of a model stand for, and the names of the graphs around it.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <nanlens/config.hpp>
#include <nanlens/hosts/onnx/description.hpp>
#include <nanlens/hosts/onnx/model.hpp>

namespace nanlens::inline NANLENS_ABI::onnx_host {

/// What a value of a model is to the recorder: one with a probe, or, where it can have none (a sequence), the values
/// that it was made of.
struct Meaning {
  std::vector<Alternatives> inputs;
  bool is_tensor = true;

  /// Takes in what else it may be.
  void add(const Meaning& other) {
    if (inputs.size() == 1 && other.inputs.size() == 1)
      inputs.front().insert(inputs.front().end(), other.inputs.front().begin(), other.inputs.front().end());
    else
      append(other);
    is_tensor = is_tensor && other.is_tensor;
  }
  /// Takes in what it is made of, too. What is made of very many is known by some.
  void append(const Meaning& other) {
    constexpr std::size_t most = 64;
    for (const Alternatives& input : other.inputs)
      if (inputs.size() < most) inputs.push_back(input);
  }
};

/// A graph while its nodes are gone through.
class Scope {
 public:
  Scope(const Scope* outer, std::string run, std::string prefix)
      : outer_(outer), run_(std::move(run)), prefix_(std::move(prefix)) {}

  void set(std::string_view name, Meaning meaning) { names_.insert_or_assign(name, std::move(meaning)); }
  /// Null where nothing is known by that name.
  [[nodiscard]] const Meaning* find(std::string_view name) const {
    for (const Scope* scope = this; scope != nullptr; scope = scope->outer_)
      if (const auto found = scope->names_.find(name); found != scope->names_.end()) return &found->second;
    return nullptr;
  }
  [[nodiscard]] Meaning meaning(std::string_view name) const {
    const Meaning* const found = find(name);
    return found == nullptr ? Meaning() : *found;
  }
  /// Is the graph in no other?
  [[nodiscard]] bool is_outermost() const noexcept { return outer_ == nullptr; }
  /// The value that tells the run, or the iteration.
  [[nodiscard]] const std::string& run() const noexcept { return run_; }
  /// What the names of the graph's nodes begin with.
  [[nodiscard]] const std::string& prefix() const noexcept { return prefix_; }

  /// The values of this graph that get a probe, in the order in which they are made.
  std::vector<std::pair<std::string_view, ValueNumber>> probed;

 private:
  const Scope* outer_;
  std::string run_;
  std::string prefix_;
  std::unordered_map<std::string_view, Meaning> names_;
};

}  // namespace nanlens::inline NANLENS_ABI::onnx_host
