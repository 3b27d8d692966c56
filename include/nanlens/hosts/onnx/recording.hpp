/// @file
/// From what probes see to a graph with its traces. A node of the graph is what a node of the model did to certain
/// tensors: the iterations of a loop are nodes of their own, so that each says where its inputs came from.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include <nanlens/capture/check_numerics.hpp>
#include <nanlens/capture/client.hpp>
#include <nanlens/capture/hash.hpp>
#include <nanlens/config.hpp>
#include <nanlens/hosts/onnx/description.hpp>
#include <nanlens/nanlens.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN onnx_host {

using nanlens::detail::GraphOp;
using nanlens::detail::mix;

/// An output of an op on record.
struct Made {
  const GraphOp* op = nullptr;
  std::int32_t slot = 0;
  std::uint64_t when = 0;  ///< of two values the later one is the larger
};

/// A model's graph on record; grows by what its runs do. Any thread may use it.
class RecordedModel {
 public:
  explicit RecordedModel(Description description) : description_(std::move(description)) {
    graph_ = nanlens::detail::recorder().new_graph(std::string_view(description_.graph_name), nullptr);
    const std::lock_guard guard(lock_);
    constants_.resize(description_.values.size());
    for (std::size_t i = 0; i < constants_.size(); ++i)
      if (description_.values[i].is_constant) constants_[i] = op_of(static_cast<ValueNumber>(i), {});
  }

  [[nodiscard]] const Description& description() const noexcept { return description_; }

  /// The op that made a value of these inputs.
  Made op_of(ValueNumber value, std::span<const Made> inputs) {
    const DescribedValue& described = description_.values[value];
    std::uint64_t key = described.node;
    if (ops_.size() < most_ops)
      for (const Made& input : inputs)
        key = mix(key, mix(reinterpret_cast<std::uintptr_t>(input.op), static_cast<std::uint64_t>(input.slot)));
    const GraphOp*& op = ops_[key];
    if (op == nullptr) op = declare(description_.nodes[described.node], inputs);
    return {op, static_cast<std::int32_t>(described.slot)};
  }
  /// The same, for all threads.
  Made find(ValueNumber value, std::span<const Made> inputs) {
    if (constants_[value].op != nullptr) return constants_[value];
    const std::lock_guard guard(lock_);
    return op_of(value, inputs);
  }
  [[nodiscard]] const Made& constant(ValueNumber value) const { return constants_[value]; }

 private:
  static constexpr std::size_t most_ops = 32'768;  // beyond, a node of the model is one op, whatever its inputs

  const GraphOp* declare(const DescribedNode& node, std::span<const Made> inputs) {
    std::vector<const GraphOp*> ops;
    std::vector<std::int32_t> slots;
    for (const Made& input : inputs) {
      ops.push_back(input.op);
      slots.push_back(input.slot);
    }
    return nanlens::detail::recorder().add_op(graph_, {node.type, node.name, nanlens::detail::SourcePlace()},
                                              ops.data(), slots.data(), ops.size(), node.num_outputs);
  }

  Description description_;
  void* graph_ = nullptr;
  std::mutex lock_;
  std::unordered_map<std::uint64_t, const GraphOp*> ops_;  // by node and inputs
  std::vector<Made> constants_;                            // by value; those that are none are empty
};

/// The model that a description's bytes are of, the same for the same bytes. Null if they are no description.
inline std::shared_ptr<RecordedModel> model_of(std::string_view bytes) {
  static auto* const models = new std::map<std::string, std::shared_ptr<RecordedModel>, std::less<>>;
  static std::mutex lock;
  const std::lock_guard guard(lock);
  if (const auto known = models->find(bytes); known != models->end()) return known->second;
  Description description;
  if (!decode({reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()}, description)) return nullptr;
  return models->emplace(bytes, std::make_shared<RecordedModel>(std::move(description))).first->second;
}

/// What tells a run: its number, and where what is known of it lies.
struct RunToken {
  std::int64_t place = 0;
  std::int64_t number = 0;
};

/// A run of a model under way: what its values were made of so far.
class ModelRun {
 public:
  /// False if another run is under way here, and was begun after `oldest`.
  bool begin(const std::shared_ptr<RecordedModel>& model, std::int64_t number, std::int64_t oldest) {
    const std::lock_guard guard(lock_);
    if (num_left_ > 0 && number_ > oldest) return false;
    model_ = model;
    number_ = number;
    num_left_ = model_->description().num_outermost;
    made_.assign(model_->description().values.size(), {});
    gathered_.clear();
    return true;
  }
  /// A loop begins: what an earlier run of it made is no longer meant.
  void forget(std::int64_t number, ValueNumber begin, ValueNumber end) {
    const std::lock_guard guard(lock_);
    if (number != number_) return;
    for (ValueNumber value = begin; value < end && value < made_.size(); ++value) made_[value] = {};
    std::erase_if(gathered_, [&](const auto& entry) { return entry.first >= begin && entry.first < end; });
  }
  /// A value is there; false if this is another run by now.
  bool record(std::int64_t number, ValueNumber value, const TensorView& view) {
    Made made;
    {
      const std::lock_guard guard(lock_);
      if (number != number_ || value >= made_.size()) return false;
      if (model_->description().values[value].is_outermost && num_left_ > 0) --num_left_;
      find_inputs(value);
      made = model_->find(value, inputs_);
      made.when = ++now_;
      made_[value] = made;
      constexpr std::size_t most = 256;
      if (model_->description().values[value].is_gathered)
        if (auto& all = gathered_[value]; all.size() < most) all.push_back(made);
    }
    if (made.op != nullptr)
      tell(nanlens::detail::recorder().trace(made.op, made.slot, view, static_cast<std::uint64_t>(number)));
    return true;
  }

 private:
  const Made& made(ValueNumber value) const {
    return made_[value].op != nullptr ? made_[value] : model_->constant(value);
  }
  void find_inputs(ValueNumber value) {
    const Description& d = model_->description();
    inputs_.clear();
    for (const Alternatives& input : d.nodes[d.values[value].node].inputs) {
      Made latest;
      for (const ValueNumber one : input) {
        if (const auto all = gathered_.find(one); all != gathered_.end()) {
          inputs_.insert(inputs_.end(), all->second.begin(), all->second.end());
          continue;
        }
        const Made& candidate = made(one);
        if (candidate.op != nullptr && (latest.op == nullptr || candidate.when > latest.when)) latest = candidate;
      }
      if (latest.op != nullptr) inputs_.push_back(latest);
    }
  }

  std::mutex lock_;
  std::shared_ptr<RecordedModel> model_;
  std::int64_t number_ = 0;
  std::uint64_t now_ = 0;
  std::size_t num_left_ = 0;  // values of the outermost graph that have not come: without any, the run is over
  std::vector<Made> made_;    // by value
  std::map<ValueNumber, std::vector<Made>> gathered_;  // what each iteration made
  std::vector<Made> inputs_;                           // kept for its memory
};

/// Runs under way. Of more at a time, and of those that failed half way, the oldest are given up.
class ModelRuns {
 public:
  static ModelRuns& get() {
    static auto* const runs = new ModelRuns;  // never destroyed: threads may run models while the program ends
    return *runs;
  }

  RunToken begin(const std::shared_ptr<RecordedModel>& model) {
    constexpr auto most = static_cast<std::int64_t>(std::tuple_size_v<decltype(runs_)>);
    const std::int64_t number = last_.fetch_add(1) + 1;
    for (std::int64_t oldest = -1;; oldest = std::max(number - most, oldest + most))
      for (std::int64_t i = 0; i < most; ++i) {
        const RunToken token{(number + i) % most, number};
        if (at(token)->begin(model, number, oldest)) return token;
      }
  }
  /// Null for what is no run's.
  ModelRun* at(const RunToken& token) noexcept {
    const bool exists = token.place >= 0 && token.place < static_cast<std::int64_t>(runs_.size());
    return exists ? &runs_[static_cast<std::size_t>(token.place)] : nullptr;
  }

 private:
  std::array<ModelRun, 64> runs_;
  std::atomic<std::int64_t> last_{0};
};

}  // namespace NANLENS_HIDDEN onnx_host
}  // namespace nanlens::inline NANLENS_ABI
