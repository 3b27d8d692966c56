/// @file
/// The how-manieth message of its sender, receiver and tag a message is. MPI promises that such messages don't overtake
/// each other, so that sender and receiver count alike, and no clock is needed to join what they recorded.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include <mpi.h>

#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN mpi_host {

/// The messages of one communicator. Numbers count from 1; 0: it is not certain which it is.
class Messages {
 public:
  using Thread = std::uint64_t;

  /// A message is about to be sent; `end_send` follows once that call has returned.
  std::uint64_t begin_send(int receiver, int tag, Thread thread) {
    const std::lock_guard guard(lock_);
    if (!has_room_for(sent_, {receiver, tag})) return 0;
    Sent& sent = sent_[{receiver, tag}];
    if (sent.under_way++ > 0 && sent.thread != thread)
      sent.lost = true;  // which of the two is first is MPI's to choose
    sent.thread = thread;
    ++sent.count;
    return sent.lost ? 0 : sent.count;
  }
  void end_send(int receiver, int tag) {
    const std::lock_guard guard(lock_);
    if (const auto sent = sent_.find({receiver, tag}); sent != sent_.end()) --sent->second.under_way;
  }

  /// A receive is about to be posted. What comes back stands for it until it is complete.
  std::uint64_t post(int sender, int tag, Thread thread) {
    const std::lock_guard guard(lock_);
    const Posted posted{sender, tag, thread};
    for (auto at = posted_.begin(); calling_ > 0 && at != posted_.end(); ++at)
      if (const Posted& other = at->second; other.calling != 0 && other.calling != thread && posted.overlaps(other))
        lost_ = true;
    ++calling_;
    const std::uint64_t ticket = ++tickets_;
    posted_.emplace(ticket, posted);
    if (posted.is_open())
      ++open_;
    else if (has_room_for(received_, {sender, tag}))
      received_[{sender, tag}].tickets.push_back(ticket);
    return ticket;
  }
  /// The call that posted it has returned.
  void end_post(std::uint64_t ticket) {
    const std::lock_guard guard(lock_);
    if (const auto at = posted_.find(ticket); at != posted_.end()) end_call(at->second);
  }
  /// The receive got a message: which one.
  std::uint64_t complete(std::uint64_t ticket, int sender, int tag) {
    const std::lock_guard guard(lock_);
    const auto at = posted_.find(ticket);
    if (at == posted_.end()) return 0;
    const bool was_open = at->second.is_open();
    end_call(at->second);
    posted_.erase(at);
    if (was_open) --open_;
    if (!has_room_for(received_, {sender, tag})) return 0;
    Received& received = received_[{sender, tag}];
    auto& tickets = received.tickets;
    const auto place = std::lower_bound(tickets.begin(), tickets.end(), ticket);
    const auto before = static_cast<std::uint64_t>(place - tickets.begin());
    if (was_open) tickets.insert(place, ticket);
    const std::uint64_t number = received.retired + before + 1;
    const bool certain = !any_open_before(ticket, sender, tag);
    retire(received);
    return certain ? number : 0;
  }
  /// What was received, or sent, in a way that is not followed: from here on nothing is certain.
  void lose() {
    const std::lock_guard guard(lock_);
    lose_all();
  }

  /// Of how many other ends and tags messages are counted; with more of them nothing is certain.
  static constexpr std::size_t most_kinds = 262'144;

 private:
  using Peer = std::pair<int, int>;  // and the tag
  struct Sent {
    std::uint64_t count = 0;
    int under_way = 0;
    Thread thread = 0;
    bool lost = false;
  };
  struct Posted {
    int sender;
    int tag;
    Thread calling;  // the thread whose call has not returned yet; 0: it has
    [[nodiscard]] bool is_open() const { return sender == MPI_ANY_SOURCE || tag == MPI_ANY_TAG; }
    [[nodiscard]] bool takes(int from, int with) const {
      return (sender == MPI_ANY_SOURCE || sender == from) && (tag == MPI_ANY_TAG || tag == with);
    }
    [[nodiscard]] bool overlaps(const Posted& other) const {
      const bool one_sender = sender == MPI_ANY_SOURCE || other.sender == MPI_ANY_SOURCE || sender == other.sender;
      return one_sender && (tag == MPI_ANY_TAG || other.tag == MPI_ANY_TAG || tag == other.tag);
    }
  };
  struct Received {
    std::uint64_t retired = 0;           // receives before those below
    std::vector<std::uint64_t> tickets;  // of receives that got, or will get, messages of this kind, in order
  };

  void lose_all() {
    lost_ = true;
    sent_.clear();
    received_.clear();
  }
  // False once nothing is certain: nothing needs to be counted then.
  template <class Kind>
  bool has_room_for(const std::map<Peer, Kind>& kinds, const Peer& peer) {
    if (!lost_ && kinds.size() >= most_kinds && !kinds.contains(peer)) lose_all();
    return !lost_;
  }
  void end_call(Posted& posted) {
    if (posted.calling != 0) --calling_;
    posted.calling = 0;
  }
  [[nodiscard]] bool any_open_before(std::uint64_t ticket, int sender, int tag) const {
    for (auto at = posted_.begin(); open_ > 0 && at != posted_.end() && at->first < ticket; ++at)
      if (at->second.is_open() && at->second.takes(sender, tag)) return true;
    return false;
  }
  // Those that are complete, and that nothing can come before any more, need not be told apart.
  void retire(Received& received) const {
    auto& tickets = received.tickets;
    std::uint64_t first_open = ~std::uint64_t{0};
    for (auto at = posted_.begin(); open_ > 0 && at != posted_.end(); ++at)
      if (at->second.is_open()) {
        first_open = at->first;
        break;
      }
    auto end = tickets.begin();
    while (end != tickets.end() && *end < first_open && posted_.count(*end) == 0) ++end;
    received.retired += static_cast<std::uint64_t>(end - tickets.begin());
    tickets.erase(tickets.begin(), end);
  }

  std::mutex lock_;
  std::map<Peer, Sent> sent_;
  std::map<Peer, Received> received_;
  std::map<std::uint64_t, Posted> posted_;  // by ticket
  std::uint64_t tickets_ = 0;
  std::size_t open_ = 0;     // posted ones that take messages of several kinds
  std::size_t calling_ = 0;  // posted ones whose call has not returned
  bool lost_ = false;
};

}  // namespace NANLENS_HIDDEN mpi_host
}  // namespace nanlens::inline NANLENS_ABI
