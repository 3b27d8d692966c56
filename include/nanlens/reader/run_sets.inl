// Part of run.hpp: a run and the file sets that it is made of.
#pragma once

namespace nanlens::reader {

NANLENS_API Run::Run(std::string id) : id_(std::move(id)) {}

NANLENS_API Run::~Run() = default;

NANLENS_API std::vector<std::string> Run::hosts() const {
  std::vector<std::string> hosts;
  for (const auto& set : sets_)
    if (std::find(hosts.begin(), hosts.end(), set->host()) == hosts.end()) hosts.push_back(set->host());
  return hosts;
}

NANLENS_API std::uint64_t Run::dropped() const noexcept {
  std::uint64_t n = 0;
  for (const auto& set : sets_) n += set->metadata.dropped_executions + set->metadata.dropped_traces;
  return n;
}

NANLENS_API std::uint64_t Run::unread_tensors() const noexcept {
  std::uint64_t n = 0;
  for (const auto& set : sets_) n += set->metadata.unread_tensors;
  return n;
}

NANLENS_API logdir::LeftOut Run::left_out() const noexcept {
  logdir::LeftOut sum;
  for (const auto& set : sets_) {
    sum.ops += set->metadata.left_out.ops;
    sum.steps += set->metadata.left_out.steps;
    sum.ns = std::max(sum.ns, set->metadata.left_out.ns);
  }
  return sum;
}

NANLENS_API std::uint64_t Run::kept_last() const noexcept {
  std::uint64_t kept = 0;
  for (const auto& set : sets_)
    if (const std::uint64_t size = set->metadata.circular_buffer_size; size > 0 && (kept == 0 || size < kept))
      kept = size;
  return num_executions() >= kept || num_traces() >= kept ? kept : 0;
}

NANLENS_API std::optional<bool> Run::clean_end() const {
  bool clean = true;
  for (const auto& set : sets_) {
    if (!set->metadata.tensorflow_version.starts_with("nanlens")) return std::nullopt;
    clean = clean && set->metadata.num_records % 2 == 0;
  }
  return clean;
}

NANLENS_API void Run::adopt(std::unique_ptr<SetFiles> set, const Diagnostics& faults) {
  for (const Diagnostic& f : faults.list()) diagnostics_.add(f.file, f.offset, f.what);
  if (sets_.size() == Locator::max_sets) {
    diagnostics_.add(set->path(), 0, {FaultId::too_many_sets, {{"n", Locator::max_sets}}});
    return;
  }
  sets_.push_back(std::move(set));
}

NANLENS_API std::string Run::device_name(std::size_t set, std::int32_t id) const {
  for (const Device& device : devices_)
    if (device.set == set && device.device_id == id) return device.device_name;
  return {};
}

NANLENS_API std::vector<logdir::RuleHit> Run::rule_outcomes() const {
  logdir::RuleOutcomes all;
  for (const auto& set : sets_) all.add(set->metadata.rules);
  return all.list();
}

NANLENS_API std::size_t Run::index_bytes() const noexcept {
  return execution_locators_.memory_bytes() + execution_times_.memory_bytes() + execution_flags_.memory_bytes() +
         trace_locators_.memory_bytes() + trace_ops_.memory_bytes() + trace_flags_.memory_bytes() +
         trace_executions_.memory_bytes();
}

}  // namespace nanlens::reader
