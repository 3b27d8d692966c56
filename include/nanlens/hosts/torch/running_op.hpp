/// @file
/// An op of PyTorch from its beginning to its end: its arguments, and what it made.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <forward_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/record_function.h>

#include <nanlens/capture/client.hpp>
#include <nanlens/capture/content_sample.hpp>
#include <nanlens/config.hpp>
#include <nanlens/hosts/torch/device_look.hpp>
#include <nanlens/hosts/torch/forward_stacks.hpp>
#include <nanlens/hosts/torch/nested_results.hpp>
#include <nanlens/hosts/torch/op_facts.hpp>
#include <nanlens/hosts/torch/script_call.hpp>
#include <nanlens/hosts/torch/tensor_names.hpp>
#include <nanlens/hosts/torch/tensor_views.hpp>
#include <nanlens/hosts/torch/written_parts.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN torch_host {

class Receiving;

/// An op that runs. Arguments can only be looked at when it begins; their memory is kept until it ends.
struct RunningOp final : ::at::ObserverContext {
  const OpFacts* facts = nullptr;
  std::vector<InputRef> inputs;
  std::uint64_t numbers = 0;        ///< bits of the inputs that are numbers of the program
  std::forward_list<double> given;  ///< NaN and infinity that came as plain numbers, not as tensors
  std::vector<std::pair<std::size_t, std::string>> given_names;  ///< of the inputs that they are
  std::vector<OutputRef> written;                                ///< arguments that it writes in place
  std::vector<OutputRef> around;                                 ///< tensors that the written ones are parts of
  std::vector<std::pair<InputRef, TensorIdentity>> before;       ///< these, as they were
  std::vector<TensorIdentity> input_identities;                  ///< one for each input
  std::vector<TensorIdentity> written_identities;                ///< one for each written argument
  std::vector<OutputRef> hidden;  ///< arguments of which only their content can tell whether they are written
  std::vector<nanlens::detail::ContentSample> hidden_before;
  std::vector<nanlens::detail::InputSeen> seen;  ///< one for each input
  std::vector<::c10::Storage> kept;
  const RunningOp* inside_of = nullptr;  ///< the outermost op, if it is known what that reads; asked when this begins
  std::uint64_t first_result = 0;
  std::uint64_t begun_ns = 0;
  bool from_device = false;       ///< some argument is not in the host's memory
  bool copies_later = false;      ///< a device goes on with it when the op has ended
  bool is_around_others = false;  ///< some argument stands for others, which ops inside may read, or holds others
  bool is_of_nothing = false;     ///< its first argument has no elements
  ForwardPlace place;
  std::shared_ptr<ScriptCall> script;        ///< that it runs in
  const std::string* script_path = nullptr;  ///< of its modules and functions
  std::shared_ptr<Receiving> receiving;      ///< what it is going to get from other processes
  std::shared_ptr<Receiving> arriving;       ///< what has come from them, and this copy puts in place

  /// Most ops have few tensors among their arguments.
  void reserve(std::size_t arguments) {
    const std::size_t few = std::min<std::size_t>(arguments, 4);
    inputs.reserve(few);
    input_identities.reserve(few);
    kept.reserve(few);
  }
};

inline bool overlaps_any(const nanlens::detail::TensorKey& key, const std::vector<OutputRef>& outputs) noexcept {
  return std::any_of(outputs.begin(), outputs.end(), [&](const OutputRef& output) { return output.key.overlaps(key); });
}

// Where an op writes a part of a tensor that is on record, by a view, the whole is another tensor than before.
inline void add_around(RunningOp& op, const ::c10::TensorImpl& tensor, const SeenTensor& part) {
  constexpr std::int64_t most_bytes = std::int64_t{1} << 20;  // it is looked at at every such write
  if (part.key.empty()) return;
  const ::c10::Storage& storage = tensor.storage();
  const auto bytes = static_cast<std::int64_t>(storage.nbytes());
  const auto element = static_cast<std::int64_t>(tensor.itemsize());
  if (bytes <= element * tensor.numel() || bytes % element != 0) return;
  if (NANLENS_FOLLOWS_EXCHANGES && part.key.far == 0) WrittenParts::get().add(part.key);
  if (bytes > most_bytes) return;
  // An op may have made a larger result of its own smaller: nobody has the whole, where anything may lie.
  const bool is_own = op.inside_of != nullptr && !overlaps_any(part.key, op.inside_of->written);
  if (is_own || storage.use_count() < 2) return;
  TensorView whole = dense_view(storage.data(), part.view.dtype, Shape{bytes / element});
  InputRef before{whole, nanlens::detail::key_of(whole), {}};
  if (part.key.far != 0) {
    before.view.data = nullptr;
    before.view.device = part.view.device;
    before.key.far = part.key.far;
  }
  DeviceLook look;
  look.add(before);
  look.look();
  nanlens::detail::recorder().identify(&before, 1);
  if (!before.link.known()) return;
  op.around.push_back({before.view, before.key});
  op.before.emplace_back(before, identity_of(tensor));
}

// Behind the op's own arguments, each of which keeps its place.
inline void add_before(RunningOp& op) {
  for (const auto& [whole, identity] : op.before) {
    op.inputs.push_back(whole);
    op.input_identities.push_back(identity);
  }
}

inline void add_argument(RunningOp& op, const ::c10::TensorImpl& tensor, Arguments bit) {
  const OpFacts& facts = *op.facts;
  op.from_device = op.from_device || !tensor.device().is_cpu();
  const SeenTensor seen = see(tensor);
  const auto& [view, key] = seen;
  op.is_around_others = op.is_around_others || view.device == unreadable_device;
  if (view.dtype == DType::invalid) return;
  const bool is_empty = num_elements(view.shape) == 0;
  op.is_of_nothing = op.is_of_nothing || (is_empty && bit == 1 && is_floating(view.dtype));
  if ((facts.written & bit) != 0 && !is_empty) {
    op.written.push_back({view, key});
    op.written_identities.push_back(identity_of(tensor));
  }
  if ((facts.hidden & bit) != 0 && !is_empty) op.hidden.push_back({view, key});
  if ((facts.written & bit) != 0) add_around(op, tensor, seen);
  if ((facts.unread & bit) == 0) {
    if (tensor.is_wrapped_number() && op.inputs.size() < 64) op.numbers |= std::uint64_t{1} << op.inputs.size();
    op.inputs.push_back({view, key, {}});
    op.inputs.back().key.copied = tensor.dim() == 0;  // a number of Python's, as a rule: where another one lay before
    op.input_identities.push_back(identity_of(tensor));
  }
  if (!key.empty()) op.kept.push_back(tensor.storage());
}

// Arguments that an op calculates with: an infinite bound or norm does no harm.
inline bool is_factor(std::string_view op, std::string_view argument) noexcept {
  if (argument == "value") return op.find("addcmul") != op.npos || op.find("addcdiv") != op.npos;
  return is_one_of(argument, {"alpha", "beta", "weight", "other", "scalar", "lr"});
}

// A number that is NaN or infinite: an input, with the argument's name.
inline void add_number(RunningOp& op, const ::at::RecordFunction& function, double value, std::size_t index) {
  const auto schema = function.operator_schema();
  if (!schema || index >= schema->arguments().size()) return;
  const std::string& name = schema->arguments()[index].name();
  if (!is_factor(op.facts->name, name)) return;
  op.given.push_front(value);
  op.given_names.emplace_back(op.inputs.size(), name);
  if (op.inputs.size() < 64) op.numbers |= std::uint64_t{1} << op.inputs.size();
  op.inputs.push_back({dense_view(&op.given.front(), DType::float64, Shape{}), {}, {}});
  op.input_identities.emplace_back();
}

// What is about to be written over is identified, and looked at, now.
inline void look_at_inputs(RunningOp& op) {
  const nanlens::detail::RecorderTable& recorder = nanlens::detail::recorder();
  op.seen.resize(op.inputs.size());
  DeviceLook words;
  for (InputRef& input : op.inputs)
    if (overlaps_any(input.key, op.written)) words.add(input);
  words.look();
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    InputRef& input = op.inputs[i];
    if (!overlaps_any(input.key, op.written)) continue;
    recorder.identify(&input, 1);
    DeviceLook counts;
    if (!input.link.known()) counts.add(input, DeviceLook::Role::output);
    counts.look();
    recorder.look(&input, 1, &op.seen[i]);
    input.view.counted = nullptr;
  }
}

// Arguments of which only their content can tell whether they are written.
inline void look_at_hidden(RunningOp& op) {
  DeviceLook words;
  for (OutputRef& argument : op.hidden) words.add(argument, DeviceLook::Role::input);
  words.look();
  for (const OutputRef& argument : op.hidden) op.hidden_before.emplace_back(argument.key);
}

/// What an op made.
struct Results {
  std::vector<OutputRef> refs;
  std::vector<TensorIdentity> identities;  ///< one for each

  void add(const OutputRef& result, const TensorIdentity& identity) {
    refs.push_back(result);
    identities.push_back(identity);
  }
};

// Some views are not called so in their schema.
inline bool is_view(const OutputRef& result, const RunningOp& op) noexcept {
  return op.facts->written == 0 && op.facts->hidden == 0 &&
         std::any_of(op.inputs.begin(), op.inputs.end(),
                     [&](const InputRef& input) { return input.key.overlaps(result.key); });
}

// Those of which that shows that they have been.
inline void add_hidden(Results& results, const RunningOp& op, const NestedResults& nested) {
  std::vector<OutputRef> hidden = op.hidden;
  DeviceLook words;
  for (OutputRef& argument : hidden) words.add(argument, DeviceLook::Role::input);
  words.look();
  for (std::size_t i = 0; i < hidden.size(); ++i)
    if (is_recordable(hidden[i].view) && !nested.covers(hidden[i].key, op.first_result) &&
        !op.hidden_before[i].holds(hidden[i].key))
      results.add(hidden[i], {});
}

// The results of an op that no op inside it has made.
inline Results own_results(const ::at::RecordFunction& function, const RunningOp& op, const NestedResults& nested) {
  Results results;
  const auto outputs = results_of(function, *op.facts);
  results.refs.reserve(outputs.size());
  const auto add = [&](const OutputRef& result, const TensorIdentity& identity) {
    if (is_recordable(result.view) && !is_view(result, op) && !nested.covers(result.key, op.first_result))
      results.add(result, identity);
  };
  std::size_t index = 0;
  for (const ::c10::IValue& value : outputs) {
    const bool is_kept = index < 64 && (op.facts->kept & Arguments{1} << index) != 0;
    ++index;
    if (is_kept) continue;
    each_tensor(value, [&](const ::c10::TensorImpl& tensor) {
      const SeenTensor seen = see(tensor);
      add({seen.view, seen.key}, identity_of(tensor));
    });
  }
  if (results.refs.empty())
    for (std::size_t i = 0; i < op.written.size(); ++i) add(op.written[i], op.written_identities[i]);
  if (!results.refs.empty())
    for (const OutputRef& whole : op.around) results.add(whole, {});
  if (!op.hidden.empty()) add_hidden(results, op, nested);
  return results;
}

/// The tensors of an op whose names may be asked for.
struct NamedOp {
  const RunningOp& op;
  const Results& results;

  static void name_of(const void* self, bool is_output, std::size_t index,
                      void (*take)(void* to, nanlens::detail::TextRef name), void* to) {
    const auto& named = *static_cast<const NamedOp*>(self);
    if (!is_output)
      for (const auto& [input, argument] : named.op.given_names)
        if (input == index) return take(to, std::string_view(argument));
    const auto& identities = is_output ? named.results.identities : named.op.input_identities;
    if (index < identities.size()) take(to, std::string_view(TensorNames::get().find(identities[index])));
  }
};

}  // namespace NANLENS_HIDDEN torch_host
}  // namespace nanlens::inline NANLENS_ABI
