/// @file
/// One run of a graph of ggml, node by node: from what ggml has computed to what the recorder takes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <nanlens/capture/client.hpp>
#include <nanlens/capture/fp_flags.hpp>
#include <nanlens/capture/platform.hpp>
#include <nanlens/config.hpp>
#include <nanlens/hosts/ggml/graph_name.hpp>
#include <nanlens/hosts/ggml/node.hpp>
#include <nanlens/hosts/ggml/parameters.hpp>
#include <nanlens/hosts/ggml/recording.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN ggml_host {

using nanlens::detail::InputRef;
using nanlens::detail::InputSeen;
using nanlens::detail::OutputRef;
using nanlens::detail::SourcePlace;
using nanlens::detail::TensorLink;

/// A run of a graph that is under way. Ops know their inputs by ggml's own pointers, not by memory: the allocator gives
/// the memory of one tensor to others in the same run.
class GraphRun {
 public:
  GraphRun() = default;
  GraphRun(const GraphRun&) = delete;
  GraphRun& operator=(const GraphRun&) = delete;
  ~GraphRun() { end(false); }

  void begin(std::string_view name) {
    nanlens::detail::CallRef call;
    call.name = name;
    call_ = nanlens::detail::recorder().enter_function(call);
    if (call_ != nullptr) nanlens::detail::recorder().hand_over_function(call_);
  }
  [[nodiscard]] bool is_open() const noexcept { return call_ != nullptr; }
  /// `failed`: ggml gave up; its nodes so far stay, without an Execution.
  void end(bool failed) noexcept {
    if (call_ != nullptr) nanlens::detail::recorder().leave_function(call_, failed);
    call_ = nullptr;
    made_.clear();
    leaves_.clear();
    writers_.clear();
  }
  /// Has the node been computed in this run already?
  [[nodiscard]] bool has(const ::ggml_tensor& node) const { return made_.contains(&node); }

  /// Just before a node is computed.
  void before(const ::ggml_tensor& node) {
    seen_.clear();
    had_bad_ = false;
    const NodeKind kind = kind_of(node);
    if (kind == NodeKind::view || kind == NodeKind::leaf) return;
    meet_parameters(node);
    for (const ::ggml_tensor* const source : node.src) {
      if (source == nullptr || !overlap(node, *source) || !is_here(node) || !is_here(*source)) continue;
      had_bad_ = had_bad_ || has_bad(*source);
      if (find(made_, root_of(*source)) == nullptr) see(*source);
    }
    begun_ns_ = nanlens::detail::steady_now_ns();
    flags_.begin();
  }

  /// Just after.
  void after(const ::ggml_tensor& node) {
    constexpr std::uint32_t telling =
        nanlens::detail::fp_invalid | nanlens::detail::fp_divide_by_zero | nanlens::detail::fp_overflow;
    std::uint32_t raised = flags_.begun() ? flags_.end() & telling : 0;
    const std::uint64_t duration = nanlens::detail::steady_now_ns() - begun_ns_;
    if (!is_computed(node)) return;
    if (is_first_of_all() || (raised != 0 && got_bad(node))) raised = 0;
    const Within within(call_);
    record(node, {duration, raised, nullptr, nullptr});
  }

 private:
  // ggml may fill its tables within the first node of all, and what that raises would be the node's.
  static bool is_first_of_all() noexcept {
    static std::atomic_flag any;
    return !any.test(std::memory_order_relaxed) && !any.test_and_set(std::memory_order_relaxed);
  }
  static const ::ggml_tensor& root_of(const ::ggml_tensor& tensor) noexcept {
    return tensor.view_src == nullptr ? tensor : *tensor.view_src;
  }

  using Links = std::unordered_map<const ::ggml_tensor*, TensorLink>;
  static const TensorLink* find(const Links& links, const ::ggml_tensor& tensor) {
    const auto found = links.find(&tensor);
    return found == links.end() ? nullptr : &found->second;
  }

  // A parameter that came bad out of an earlier run has a row in this one, as it was before anything wrote it.
  void meet_parameters(const ::ggml_tensor& node) {
    for (const ::ggml_tensor* const source : node.src) {
      if (source == nullptr || find(leaves_, *source) != nullptr || find(made_, *source) != nullptr) continue;
      if (!Parameters::get().has(source->data) || !has_bad(*source)) continue;
      const TensorView view = view_at(*source, source->data);
      TensorLink link;
      OutputRef output{view, nanlens::detail::key_of(view), &link};
      const Within within(call_);
      tell(nanlens::detail::recorder().record({"Placeholder", name_of(*source), SourcePlace()}, nullptr, 0, &output, 1,
                                              {}));
      leaves_.emplace(source, link);
    }
  }

  static bool has_bad(const ::ggml_tensor& tensor) {
    const TensorView view = view_at(tensor, is_here(tensor) ? tensor.data : nullptr);
    return view.data != nullptr && is_floating(view.dtype) && has_non_finite(view);
  }
  // What a node of −∞ raises, say, as masks hold it: it makes nothing of its own.
  bool got_bad(const ::ggml_tensor& node) const {
    bool bad = had_bad_;
    for (const ::ggml_tensor* const source : node.src) bad = bad || (source != nullptr && has_bad(*source));
    return bad;
  }

  // An input that nothing on record made, and that the node is about to write over.
  void see(const ::ggml_tensor& source) {
    HealthCounts counts;
    TensorValues values;
    if (dtype_of(source.type) == DType::invalid) {
      if (values.count_by_rows(source, counts)) seen_[&source].counts = counts;
    } else if (const TensorView view = values.view(source); is_floating(view.dtype) && view.data != nullptr) {
      seen_[&source].counts = full_health(view);
    }
  }

  // An op without a row of values: its tensor is known as the op's output all the same.
  static TensorLink add_silent(std::string_view type, std::string_view name, std::vector<InputRef>& inputs) {
    TensorLink link;
    OutputRef output{{nullptr, DType::resource, {}, {}, cpu_device}, {}, &link};
    tell(nanlens::detail::recorder().record({type, name, SourcePlace()}, inputs.data(), inputs.size(), &output, 1, {}));
    return link;
  }

  // A scheduler copies inputs from one device to another, under the name "DEVICE#NAME#0".
  const TensorLink* copied(const ::ggml_tensor& leaf) const {
    const std::string_view name = name_of(leaf);
    const std::size_t begin = name.find('#');
    const std::size_t end = name.rfind('#');
    if (begin == std::string_view::npos || end <= begin + 1) return nullptr;
    const std::string_view own = name.substr(begin + 1, end - begin - 1);
    for (const auto& [tensor, link] : made_)
      if (name_of(*tensor) == own) return &link;
    return nullptr;
  }

  const TensorLink& link_of_leaf(const ::ggml_tensor& leaf) {
    if (const TensorLink* const known = find(leaves_, leaf)) return *known;
    std::vector<InputRef> none;
    const TensorLink* const original = copied(leaf);
    return leaves_.emplace(&leaf, original != nullptr ? *original : add_silent("Placeholder", name_of(leaf), none))
        .first->second;
  }

  InputRef input_of(const ::ggml_tensor& node, const ::ggml_tensor& source) {
    InputRef input;
    input.identified = true;
    input.view = view_at(source, is_here(source) ? source.data : nullptr);
    input.here = input.view.data != nullptr && !overlap(node, source);
    if (const auto seen = seen_.find(&source); seen != seen_.end()) input.seen = &seen->second;
    const TensorLink* link = find(writers_, source);
    if (link == nullptr) link = find(made_, source);
    input.link = link != nullptr ? *link : link_of_leaf(source);
    const ::ggml_tensor& root = root_of(source);
    if (find(made_, root) != nullptr || find(writers_, root) != nullptr) input.origin = logdir::TensorOrigin::recorded;
    return input;
  }

  // Of quantised and device memory nothing is read unless it has to tell why a result is bad.
  void read_hidden(const ::ggml_tensor& node, NodeKind kind, std::vector<InputRef>& inputs) {
    std::size_t at = 0;
    for (std::size_t i = 0; i < most_sources && at < inputs.size(); ++i) {
      const ::ggml_tensor* const source = node.src[i];
      if (source == nullptr || is_destination(kind, i)) continue;
      InputRef& input = inputs[at++];
      if (input.here || input.seen != nullptr || source->data == nullptr) continue;
      if (is_here(*source) && overlap(node, *source)) continue;
      TensorValues& values = copies_.emplace_back();
      if (dtype_of(source->type) != DType::invalid) {
        input.view = values.view(*source);
        input.here = input.view.data != nullptr;
        continue;
      }
      HealthCounts counts;
      if (!values.count_by_rows(*source, counts)) continue;
      nanlens::detail::InputSeen& seen = seen_[source];
      seen.counts = counts;
      input.seen = &seen;
      input.view.dtype = DType::float32;
    }
  }

  void record_view(const ::ggml_tensor& node) {
    std::vector<InputRef> inputs;
    const TensorLink* const writer = find(writers_, root_of(node));
    if (writer != nullptr && node.src[0] != nullptr && find(made_, *node.src[0]) == nullptr) {
      // What was written into a leaf in this run is read by a view of it: a cache.
      InputRef& input = inputs.emplace_back();
      input.identified = true;
      input.here = false;
      input.link = *writer;
      input.origin = logdir::TensorOrigin::recorded;
    }
    if (node.src[0] != nullptr) inputs.push_back(input_of(node, *node.src[0]));
    made_.insert_or_assign(&node, add_silent(calls.op_desc(&node), name_of(node), inputs));
  }

  void record(const ::ggml_tensor& node, const nanlens::detail::Measured& measured) {
    const NodeKind kind = kind_of(node);
    if (kind == NodeKind::leaf) return;
    if (kind == NodeKind::view) return record_view(node);
    std::vector<InputRef> inputs;
    for (std::size_t i = 0; i < most_sources; ++i)
      if (node.src[i] != nullptr && !is_destination(kind, i)) inputs.push_back(input_of(node, *node.src[i]));
    TensorLink link;
    TensorValues values;
    OutputRef output{{}, {}, &link};
    if (is_optimizer(node) && is_here(node)) output.key = Parameters::get().add(view_at(node, node.data));
    if (kind == NodeKind::set_rows) {
      const WrittenRows rows(node);
      record_values(node, kind, values.view(rows.tensor()), inputs, output, measured);
    } else {
      record_values(node, kind, values.view(node), inputs, output, measured);
    }
    made_.insert_or_assign(&node, link);
    if (node.view_src != nullptr) writers_.insert_or_assign(node.view_src, link);
  }

  void record_values(const ::ggml_tensor& node, NodeKind kind, const TensorView& view, std::vector<InputRef>& inputs,
                     OutputRef& output, const nanlens::detail::Measured& measured) {
    output.view = view;
    bool hidden = false;
    for (const InputRef& input : inputs) hidden = hidden || !input.here;
    if (hidden && view.data != nullptr && is_floating(view.dtype) && has_non_finite(view))
      read_hidden(node, kind, inputs);
    tell(nanlens::detail::recorder().record({calls.op_desc(&node), name_of(node), SourcePlace()}, inputs.data(),
                                            inputs.size(), &output, 1, measured));
    copies_.clear();
  }

  void* call_ = nullptr;
  Links made_;                                                // in this run, views included
  Links leaves_;                                              // read in this run
  Links writers_;                                             // of tensors that nodes wrote into: the last
  std::unordered_map<const ::ggml_tensor*, InputSeen> seen_;  // inputs of the node that runs, where they are lost
  std::deque<TensorValues> copies_;                           // what views of inputs of this node point to
  bool had_bad_ = false;  // an input of the node that runs, which it writes over, held a NaN or ∞
  nanlens::detail::FpFlags flags_;
  std::uint64_t begun_ns_ = 0;
};

}  // namespace NANLENS_HIDDEN ggml_host
}  // namespace nanlens::inline NANLENS_ABI
