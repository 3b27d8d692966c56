/// @file
/// Where ops and exchanges between processes meet; nothing where exchanges are not followed.
#pragma once

#include <memory>
#include <string_view>

#include <ATen/record_function.h>

#include <nanlens/config.hpp>
#include <nanlens/hosts/torch/exchange_ops.hpp>
#include <nanlens/hosts/torch/running_op.hpp>
#if NANLENS_FOLLOWS_EXCHANGES
#include <nanlens/hosts/torch/exchanges.hpp>
#endif

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN torch_host {

#if NANLENS_FOLLOWS_EXCHANGES
/// What has come from other processes is recorded before an op takes it.
inline void end_what_has_come() { Exchanging::get().end_what_has_come(); }

inline void begin_exchange(const ::at::RecordFunction& function, RunningOp& op,
                           const nanlens::detail::SourcePlace& where) {
  const auto arguments = arguments_of(function, *op.facts);
  op.receiving = begin_exchange(*op.facts->exchange, op.facts->name,
                                ::c10::ArrayRef<const ::c10::IValue>(arguments.data(), arguments.size()), where);
}
inline void end_exchange(const ::at::RecordFunction& function, const RunningOp& op) {
  if (op.receiving != nullptr && !function.outputs().empty()) end_exchange(op.receiving, function.outputs().back());
}
/// An op inside of one that exchanges tensors has ended: it is a part of that, and what it made is that one's own.
inline void keep_buffers(const ::at::RecordFunction& function, const RunningOp& op, Receiving& receiving) {
  for (const ::c10::IValue& value : results_of(function, *op.facts))
    each_tensor(value, [&](const ::c10::TensorImpl& tensor) {
      if (const auto* const storage = identity_of(tensor).storage) receiving.buffers.push_back(storage);
    });
}
/// A copy begins: does it bring what comes from other processes? Then that is recorded instead, when it has ended.
inline void begin_copy(RunningOp& op) {
  if (!op.inputs.empty() && op.written.size() == 1)  // what is copied is the last argument that is a tensor
    op.arriving = Exchanging::get().begin_copy(op.input_identities.back().storage, op.written[0].key);
}
inline void end_copy(Receiving& arriving) {
  if (arriving.is_copied()) arriving.end();
}

/// An op that nobody looks at.
inline void pass_over_exchange(const ::at::RecordFunction& function) noexcept {
  const ExchangeOp* const op = exchange_op(function.name());
  if (op == nullptr) return;
  if (op->kind == ExchangeKind::message)
    Counted::get().lose_messages();
  else
    Counted::get().lose_collectives();
}
/// The same of all that come.
inline void pass_over_exchanges() noexcept {
  Counted::get().lose_messages();
  Counted::get().lose_collectives();
}

/// Is what runs on this thread a part of gloo's own work?
inline bool is_gloo_work() noexcept { return gloo_works_here(); }

/// A scope begins that gloo may have. `receiving`: of the op that exchanges tensors on this thread now. That of a
/// message that is sent lasts on the program's thread until it waits for it: nothing of it is gloo's work.
inline std::unique_ptr<::at::ObserverContext> begin_gloo(std::string_view scope,
                                                         const std::shared_ptr<Receiving>* receiving) {
  if (!scope.starts_with("gloo:") || scope == "gloo:send") return nullptr;
  if (!scope.starts_with("gloo:recv")) return std::make_unique<GlooWork>();
  if (scope == "gloo:recvAnySource") Counted::get().lose_messages();
  if (receiving == nullptr || *receiving == nullptr) return nullptr;
  return std::make_unique<MessageWait>(*receiving);
}
inline void end_gloo(::at::ObserverContext& context) { static_cast<GlooScope&>(context).end(); }
#else
inline void end_what_has_come() {}
inline void begin_exchange(const ::at::RecordFunction&, RunningOp&, const nanlens::detail::SourcePlace&) {}
inline void end_exchange(const ::at::RecordFunction&, const RunningOp&) {}
inline void keep_buffers(const ::at::RecordFunction&, const RunningOp&, Receiving&) {}
inline void begin_copy(RunningOp&) {}
inline void end_copy(Receiving&) {}
inline void pass_over_exchange(const ::at::RecordFunction&) noexcept {}
inline void pass_over_exchanges() noexcept {}
inline bool is_gloo_work() noexcept { return false; }
inline std::unique_ptr<::at::ObserverContext> begin_gloo(std::string_view, const std::shared_ptr<Receiving>*) {
  return nullptr;
}
inline void end_gloo(::at::ObserverContext&) {}
#endif

}  // namespace NANLENS_HIDDEN torch_host
}  // namespace nanlens::inline NANLENS_ABI
