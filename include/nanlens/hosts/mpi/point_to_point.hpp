/// @file
/// MPI's messages between two ranks as the program calls them, each handed on to MPI's own function.
#pragma once

#include <cstdint>
#include <memory>

#include <mpi.h>

#include <nanlens/hosts/mpi/collectives.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN mpi_host {

inline Exchange message_of(const Communicator& facts, int peer, int tag) {
  Exchange exchange;
  exchange.kind = ExchangeKind::message;
  exchange.communicator = facts.joins_two_groups ? 0 : facts.identity;
  exchange.rank = facts.rank;
  exchange.size = facts.size;
  exchange.peer = peer;
  exchange.tag = tag;
  return exchange;
}

/// A message that is sent: recorded, and counted whether it is recorded or not, before MPI has it.
class Sending {
 public:
  Sending(const char* function, const Caller& caller, const void* buffer, int count, MPI_Datatype type, int receiver,
          int tag, MPI_Comm comm) noexcept
      : receiver_(receiver), tag_(tag) {
    if (receiver == MPI_PROC_NULL || !is_running()) return;
    without_throwing([&] {
      facts_ = facts_of(comm);
      if (facts_ == nullptr) return;
      Exchange exchange = message_of(*facts_, receiver, tag);
      exchange.sequence = facts_->messages.begin_send(receiver, tag, nanlens::detail::thread_number());
      Payload payload;
      if (!is_recording()) return;
      payload.add(buffer, count, type);
      if (payload.looked_at) record(CallSite{function, find_stack(caller)}, exchange, payload, 0);
    });
  }
  Sending(const Sending&) = delete;
  Sending& operator=(const Sending&) = delete;
  ~Sending() {
    if (facts_ != nullptr) without_throwing([&] { facts_->messages.end_send(receiver_, tag_); });
  }

 private:
  int receiver_;
  int tag_;
  std::shared_ptr<Communicator> facts_;
};

/// A message that is to be received.
class Receiving {
 public:
  Receiving(const char* function, const Caller& caller, void* buffer, int count, MPI_Datatype type, int sender, int tag,
            MPI_Comm comm) noexcept {
    if (sender == MPI_PROC_NULL || !is_running()) return;
    without_throwing([&] {
      const auto facts = facts_of(comm);
      if (facts == nullptr) return;
      auto posted = std::make_shared<Posted>();
      posted->facts = facts;
      posted->buffer = buffer;
      posted->type = type;
      posted->recorded = is_recording() && known_layout(type).known();
      if (posted->recorded) posted->site = CallSite{function, find_stack(caller)};
      posted->begun_ns = nanlens::detail::steady_now_ns();
      posted->ticket = facts->messages.post(sender, tag, nanlens::detail::thread_number());
      posted_ = std::move(posted);
    });
    (void)count;
  }
  /// Where MPI is to put the status: there, or here if the program does not want it.
  [[nodiscard]] MPI_Status* status(MPI_Status* wanted) noexcept {
    status_ = posted_ != nullptr && wanted == MPI_STATUS_IGNORE ? &own_ : wanted;
    return status_;
  }
  int done(int result) noexcept {
    if (posted_ == nullptr) return result;
    without_throwing([&] {
      posted_->facts->messages.end_post(posted_->ticket);
      posted_->end(result == MPI_SUCCESS ? status_ : nullptr);
    });
    return result;
  }
  int begun(int result, const MPI_Request* request) noexcept {
    if (posted_ == nullptr) return result;
    without_throwing([&] {
      posted_->facts->messages.end_post(posted_->ticket);
      if (result != MPI_SUCCESS) return posted_->end(nullptr);
      Pending::get().add(*request, [posted = posted_](const MPI_Status* status) { posted->end(status); });
    });
    return result;
  }

 private:
  struct Posted {
    std::shared_ptr<Communicator> facts;
    CallSite site;
    void* buffer = nullptr;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    bool recorded = false;
    std::uint64_t ticket = 0;
    std::uint64_t begun_ns = 0;

    void end(const MPI_Status* status) const {
      int cancelled = 0;
      if (status == nullptr || (PMPI_Test_cancelled(status, &cancelled) == MPI_SUCCESS && cancelled != 0))
        return facts->messages.lose();
      Exchange exchange = message_of(*facts, status->MPI_SOURCE, status->MPI_TAG);
      exchange.received = true;
      exchange.sequence = facts->messages.complete(ticket, exchange.peer, exchange.tag);
      int count = 0;
      if (!recorded || PMPI_Get_count(status, type, &count) != MPI_SUCCESS || count == MPI_UNDEFINED) return;
      Payload payload;
      payload.add(buffer, count, type);
      if (payload.looked_at) record(site, exchange, payload, nanlens::detail::steady_now_ns() - begun_ns);
    }
  };

  std::shared_ptr<Posted> posted_;
  MPI_Status* status_ = nullptr;
  MPI_Status own_{};
};

/// Messages of this communicator are sent or received by means that are not followed.
inline void lose_messages(MPI_Comm comm) noexcept {
  if (!is_running()) return;
  without_throwing([&] {
    if (const auto facts = facts_of(comm)) facts->messages.lose();
  });
}

}  // namespace NANLENS_HIDDEN mpi_host
}  // namespace nanlens::inline NANLENS_ABI

#define NANLENS_MPI_SEND(NAME, NONBLOCKING)                                                                         \
  NANLENS_MPI int MPI_##NAME(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) { \
    const nanlens::mpi_host::Sending sending("MPI_" #NAME, NANLENS_CALLER, buf, count, datatype, dest, tag, comm);  \
    return PMPI_##NAME(buf, count, datatype, dest, tag, comm);                                                      \
  }                                                                                                                 \
  NANLENS_MPI int MPI_##NONBLOCKING(const void* buf, int count, MPI_Datatype datatype, int dest, int tag,           \
                                    MPI_Comm comm, MPI_Request* request) {                                          \
    const nanlens::mpi_host::Sending sending("MPI_" #NONBLOCKING, NANLENS_CALLER, buf, count, datatype, dest, tag,  \
                                             comm);                                                                 \
    return PMPI_##NONBLOCKING(buf, count, datatype, dest, tag, comm, request);                                      \
  }
NANLENS_MPI_SEND(Send, Isend)
NANLENS_MPI_SEND(Bsend, Ibsend)
NANLENS_MPI_SEND(Ssend, Issend)
NANLENS_MPI_SEND(Rsend, Irsend)
#undef NANLENS_MPI_SEND

NANLENS_MPI int MPI_Recv(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                         MPI_Status* status) {
  nanlens::mpi_host::Receiving receiving("MPI_Recv", NANLENS_CALLER, buf, count, datatype, source, tag, comm);
  return receiving.done(PMPI_Recv(buf, count, datatype, source, tag, comm, receiving.status(status)));
}
NANLENS_MPI int MPI_Irecv(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                          MPI_Request* request) {
  nanlens::mpi_host::Receiving receiving("MPI_Irecv", NANLENS_CALLER, buf, count, datatype, source, tag, comm);
  return receiving.begun(PMPI_Irecv(buf, count, datatype, source, tag, comm, request), request);
}
NANLENS_MPI int MPI_Sendrecv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                             void* recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag,
                             MPI_Comm comm, MPI_Status* status) {
  const nanlens::mpi_host::Sending sending("MPI_Sendrecv", NANLENS_CALLER, sendbuf, sendcount, sendtype, dest, sendtag,
                                           comm);
  nanlens::mpi_host::Receiving receiving("MPI_Sendrecv", NANLENS_CALLER, recvbuf, recvcount, recvtype, source, recvtag,
                                         comm);
  return receiving.done(PMPI_Sendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source,
                                      recvtag, comm, receiving.status(status)));
}
NANLENS_MPI int MPI_Sendrecv_replace(void* buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source,
                                     int recvtag, MPI_Comm comm, MPI_Status* status) {
  const nanlens::mpi_host::Sending sending("MPI_Sendrecv_replace", NANLENS_CALLER, buf, count, datatype, dest, sendtag,
                                           comm);
  nanlens::mpi_host::Receiving receiving("MPI_Sendrecv_replace", NANLENS_CALLER, buf, count, datatype, source, recvtag,
                                         comm);
  return receiving.done(
      PMPI_Sendrecv_replace(buf, count, datatype, dest, sendtag, source, recvtag, comm, receiving.status(status)));
}

// Persistent requests and matched probes are not followed.
#define NANLENS_MPI_PERSISTENT(NAME, BUFFER)                                                                 \
  NANLENS_MPI int MPI_##NAME(BUFFER buf, int count, MPI_Datatype datatype, int peer, int tag, MPI_Comm comm, \
                             MPI_Request* request) {                                                         \
    nanlens::mpi_host::lose_messages(comm);                                                                  \
    return PMPI_##NAME(buf, count, datatype, peer, tag, comm, request);                                      \
  }
NANLENS_MPI_PERSISTENT(Send_init, const void*)
NANLENS_MPI_PERSISTENT(Bsend_init, const void*)
NANLENS_MPI_PERSISTENT(Ssend_init, const void*)
NANLENS_MPI_PERSISTENT(Rsend_init, const void*)
NANLENS_MPI_PERSISTENT(Recv_init, void*)
#undef NANLENS_MPI_PERSISTENT
NANLENS_MPI int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  nanlens::mpi_host::lose_messages(comm);
  return PMPI_Mprobe(source, tag, comm, message, status);
}
NANLENS_MPI int MPI_Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status) {
  nanlens::mpi_host::lose_messages(comm);
  return PMPI_Improbe(source, tag, comm, flag, message, status);
}
