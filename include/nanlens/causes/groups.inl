// Part of groups.hpp.
#pragma once

#include <nanlens/causes/stack_of.hpp>

namespace nanlens::causes {

namespace detail {

// "replica_1/Log_2" is the "Log" of another replica, or of another turn of an unrolled loop.
inline std::string_view plain_op_name(std::string_view name) {
  if (name.starts_with("replica_") && name.find('/') != std::string_view::npos) name = name.substr(name.find('/') + 1);
  return without_number(name);
}

// One op of one line, in a graph or eagerly.
inline std::string key_of_site(const reader::StackFrame& at, std::string_view type, std::string_view name) {
  return "at " + at.file_path + "\n" + std::to_string(at.line) + "\n" + std::string(type) + "\n" + std::string(name);
}

}  // namespace detail

NANLENS_API CauseGroups::CauseGroups(Causes& causes) : causes_(causes) {
  group_of_root_.assign(causes.roots().size(), none);
  for (const Incident& incident : causes.incidents())
    for (const std::uint32_t root : incident.roots)
      if (causes.roots()[root].reach > 0) add(root, key_of(causes.roots()[root].event));
  if (const auto headline = causes.headline()) lead_with(*headline);
  for (CauseGroup& group : groups_) count(group);
  gather_expected();
}

// Not what came in at one place, as a mask does, and is the cause of a NaN another time.
NANLENS_API void CauseGroups::gather_expected() {
  std::map<std::string, std::uint32_t> group_of_key;
  for (const std::uint32_t root : causes_.benign()) {
    const EventRef event = causes_.roots()[root].event;
    if (causes_.roots()[root].event_class == EventClass::source && groups_of_key_.contains(key_of(event))) continue;
    const auto number = static_cast<std::uint32_t>(expected_.size());
    const auto [found, is_new] = group_of_key.try_emplace(key_of(event, false), number);
    if (is_new) expected_.emplace_back().root = root;
    expected_[found->second].roots.push_back(root);
    expected_of_root_.emplace(root, found->second);
  }
  for (CauseGroup& group : expected_) count(group);
}

NANLENS_API const CauseGroup* CauseGroups::find(std::uint32_t root) const {
  const std::uint32_t group = root < group_of_root_.size() ? group_of_root_[root] : none;
  if (group != none) return &groups_[group];
  const auto expected = expected_of_root_.find(root);
  return expected == expected_of_root_.end() ? nullptr : &expected_[expected->second];
}

NANLENS_API bool CauseGroups::is_known(std::uint32_t root) const {
  return causes_.roots()[root].event_class != EventClass::unknown;
}

NANLENS_API std::uint16_t CauseGroups::slot_of(EventRef event) {
  if (event.is_execution || causes_.model().graphs().op(causes_.run().trace_op(event.index)).num_outputs < 2)
    return event.slot;
  const auto digest = causes_.run().trace_digest(event.index);
  return digest ? static_cast<std::uint16_t>(digest->output_slot) : event.slot;
}

NANLENS_API void CauseGroups::add(std::uint32_t number, const std::string& key) {
  std::uint32_t index = group_for(number, key);
  if (index == none) {
    index = static_cast<std::uint32_t>(groups_.size());
    groups_.emplace_back().root = number;
    groups_of_key_.emplace(key, index);
    is_trapped_.push_back(extension_of(causes_.run(), causes_.roots()[number].event).hits > 0);
  }
  CauseGroup& group = groups_[index];
  if (is_known(number) && !is_known(group.root)) group.root = number;
  group.roots.push_back(number);
  group_of_root_[number] = index;
}

// The group that a root of a key belongs to, none if there is none yet: of what nobody can tell, any; and an
// instruction that is trapped has made something, whatever else was in its other lanes.
NANLENS_API std::uint32_t CauseGroups::group_for(std::uint32_t number, const std::string& key) const {
  const auto [begin, end] = groups_of_key_.equal_range(key);
  const auto found = std::find_if(begin, end, [&](const auto& known) {
    const std::uint32_t root = groups_[known.second].root;
    const bool same = causes_.roots()[root].event_class == causes_.roots()[number].event_class;
    return same || !is_known(root) || !is_known(number) || is_trapped_[known.second];
  });
  return found == end ? none : found->second;
}

// What one event is known to have done doesn't tell what others of its op did.
NANLENS_API void CauseGroups::count(CauseGroup& group) {
  std::map<std::uint16_t, std::uint64_t> count_of_slot;
  for (const std::uint32_t number : group.roots) {
    const Root& root = causes_.roots()[number];
    if (is_known(group.root) && !is_known(number)) {
      group.unknown_reach += root.reach;
      continue;
    }
    group.reach += root.reach;
    group.count = std::max(group.count, count_of_slot[slot_of(root.event)] += root.occurrences);
  }
}

NANLENS_API void CauseGroups::lead_with(std::uint32_t headline) {
  const std::uint32_t leading = headline < group_of_root_.size() ? group_of_root_[headline] : none;
  if (leading == none) return;
  CauseGroup& group = groups_[leading];
  if (causes_.roots()[group.root].event_class != causes_.roots()[headline].event_class) group.root = headline;
  const auto at = static_cast<std::ptrdiff_t>(leading);
  std::rotate(groups_.begin(), groups_.begin() + at, groups_.begin() + at + 1);
  for (std::uint32_t& index : group_of_root_)
    if (index != none && index <= leading) index = index == leading ? 0 : index + 1;
}

NANLENS_API std::string CauseGroups::key_of(EventRef event, bool named) {
  if (event.is_execution) return key_of_execution(event, named);
  const std::uint32_t op = causes_.run().trace_op(event.index);
  const auto [found, is_new] = key_of_op_.try_emplace(op);
  if (is_new) found->second = key_of_op(op);
  return found->second;
}

NANLENS_API std::string CauseGroups::key_of_op(std::uint32_t op) {
  GraphFacts& graphs = causes_.model().graphs();
  const auto detail = causes_.run().op(op);
  const auto frames =
      detail ? reader::resolve_stack(causes_.run(), detail->event.code_location) : std::vector<reader::StackFrame>{};
  const auto frame = reader::user_frame(frames);
  if (!frame || frame->line <= 0) return "op " + std::to_string(op);
  const std::string_view name = graphs.op_name(op);
  return detail::key_of_site(*frame, graphs.op_type(op), shares_line(frames, name) ? detail::plain_op_name(name) : "");
}

// Does a line stand for ops that have nothing to do with each other? One that calls a library or takes gradients does,
// and a hook of a host that names them; that of a layer which is there twice does not.
NANLENS_API bool CauseGroups::shares_line(const std::vector<reader::StackFrame>& frames, std::string_view op_name) {
  return causes_.model().owners().native() || op_name.starts_with("gradient") || reader::package_frame(frames);
}

// Is an op of PyTorch's called by a line of the program itself, and not by a module that its library has? Then it is
// one, in however many modules of the program that is.
NANLENS_API bool CauseGroups::is_called_by_line(EventRef event, const std::vector<reader::StackFrame>& frames) {
  return causes_.model().op_type(event).starts_with("aten::") && !frames.empty() &&
         frames.back().file_path.ends_with(".py") && !reader::is_library_path(frames.back().file_path);
}

// Stacks of executions are read one by one: after many, what an op type did last tells for the rest.
NANLENS_API std::string CauseGroups::key_of_execution(EventRef event, bool named) {
  constexpr std::size_t most_stacks = 4096;
  const std::string type(function_name(causes_.model().calls().op_type(event.index)));
  std::string& key = last_key_of_type_[type];
  if (stacks_read_++ >= most_stacks && !key.empty()) return key;
  const auto frames = stack_of(causes_.run(), event);
  const auto frame = reader::user_frame(frames);
  const bool of_line = is_called_by_line(event, frames) || !shares_line(frames, {});
  if (frame && frame->line > 0 && of_line) return key = detail::key_of_site(*frame, type, {});
  key = "eager " + type + "\n";
  if (named) key += extension_of(causes_.run(), event).op_name;
  if (frame) key += "\n" + frame->file_path + "\n" + (frame->line > 0 ? std::to_string(frame->line) : frame->function);
  return key;
}

}  // namespace nanlens::causes
