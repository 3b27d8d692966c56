/// @file
/// What ranks exchanged: which execution of another process put in what one got out.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

#include <nanlens/causes/event.hpp>
#include <nanlens/causes/op_code.hpp>
#include <nanlens/logdir/exchange.hpp>

namespace nanlens::causes {

using logdir::Exchange;
using logdir::ExchangeKind;

/// The ranks whose data come together in what a rank got: from `first` up to `end`.
struct Senders {
  std::int32_t first = 0;
  std::int32_t end = 0;
};

/// The rank after this one; itself if there is none.
constexpr std::int32_t rank_after(std::int32_t rank) noexcept {
  return rank < std::numeric_limits<std::int32_t>::max() ? rank + 1 : rank;
}

constexpr Senders senders_of(const Exchange& got) noexcept {
  switch (got.kind) {
    case ExchangeKind::all:
    case ExchangeKind::to_root: return {0, got.size};
    case ExchangeKind::up_to: return {0, rank_after(got.rank)};
    case ExchangeKind::before: return {0, got.rank};
    case ExchangeKind::from_root:
    case ExchangeKind::message: return {got.peer, rank_after(got.peer)};
    case ExchangeKind::none: break;
  }
  return {};
}

/// The executions that take part in exchanges. They are joined by what they are, never by time: clocks of hosts differ.
class Exchanges {
 public:
  Exchanges() = default;
  Exchanges(const Exchanges&) = delete;
  Exchanges& operator=(const Exchanges&) = delete;

  /// In the order of executions.
  void add(std::uint32_t execution, const Exchange& exchange) {
    all_.push_back({execution, exchange});
    indexed_ = false;
  }
  [[nodiscard]] bool empty() const noexcept { return all_.empty(); }

  /// The exchange that an execution takes part in; null if there is none.
  [[nodiscard]] const Exchange* find(std::uint32_t execution) const {
    const auto at = std::lower_bound(all_.begin(), all_.end(), execution,
                                     [](const Part& part, std::uint32_t number) { return part.execution < number; });
    return at != all_.end() && at->execution == execution ? &at->what : nullptr;
  }

  /// The execution in which a rank of the communicator put in what `got` has, or could have; `none` where that is not
  /// on record, or where several claim to be it.
  [[nodiscard]] std::uint32_t sent_by(const Exchange& got, std::int32_t rank) {
    if (got.communicator == 0 || got.sequence == 0) return none;
    index();
    const Key key = key_of(got, rank);
    const auto first = std::lower_bound(sent_.begin(), sent_.end(), key, Before{*this});
    if (first == sent_.end() || key_of(*first) != key) return none;
    if (std::next(first) != sent_.end() && key_of(*std::next(first)) == key) return none;
    const Exchange& what = all_[*first].what;
    const Senders among = senders_of(got);
    const bool fits = what.kind == got.kind && what.size == got.size && rank >= among.first && rank < among.end;
    return fits ? all_[*first].execution : none;
  }

  /// The execution in which the rank that has put `sent` into a collective got what came of it; `none` where that is
  /// not on record, or where several claim to be it.
  [[nodiscard]] std::uint32_t got_by_itself(const Exchange& sent) {
    index();
    const Name wanted = name_of(sent);
    const auto first =
        std::partition_point(received_.begin(), received_.end(), [&](std::uint32_t p) { return named(p) < wanted; });
    if (first == received_.end() || named(*first) != wanted) return none;
    const bool unique = std::next(first) == received_.end() || named(*std::next(first)) != wanted;
    return unique ? all_[*first].execution : none;
  }

  /// Calls visit(execution) for all in which a rank got something that `sent` may have been put into.
  template <class Visit>
  void visit_received(const Exchange& sent, Visit&& visit) {
    index();
    const auto number_of = [&](std::uint32_t part) {
      return std::tuple(all_[part].what.communicator, all_[part].what.sequence);
    };
    const std::tuple wanted(sent.communicator, sent.sequence);
    auto at = std::partition_point(received_.begin(), received_.end(),
                                   [&](std::uint32_t p) { return number_of(p) < wanted; });
    for (; at != received_.end() && number_of(*at) == wanted; ++at) visit(all_[*at].execution);
  }

  /// Calls visit(execution, exchange) for every one, in order.
  template <class Visit>
  void visit_all(Visit&& visit) const {
    for (const Part& part : all_) visit(part.execution, part.what);
  }

 private:
  struct Part {
    std::uint32_t execution;
    Exchange what;
  };
  // Communicator, sequence, sender; receiver and tag of a message.
  using Key = std::tuple<std::uint64_t, std::uint64_t, std::int32_t, std::int32_t, std::int32_t>;

  // Of what a rank got; collectives and messages are counted by themselves.
  using Name = std::tuple<std::uint64_t, std::uint64_t, ExchangeKind, std::int32_t>;

  static Name name_of(const Exchange& e) { return {e.communicator, e.sequence, e.kind, e.rank}; }
  [[nodiscard]] Name named(std::uint32_t part) const { return name_of(all_[part].what); }
  static Key key_of(const Exchange& e, std::int32_t sender) {
    if (e.kind != ExchangeKind::message) return {e.communicator, e.sequence, sender, -1, 0};
    return {e.communicator, e.sequence, sender, e.received ? e.rank : e.peer, e.tag};
  }
  [[nodiscard]] Key key_of(std::uint32_t part) const { return key_of(all_[part].what, all_[part].what.rank); }

  struct Before {
    const Exchanges& of;
    bool operator()(std::uint32_t a, std::uint32_t b) const { return of.key_of(a) < of.key_of(b); }
    bool operator()(std::uint32_t a, const Key& b) const { return of.key_of(a) < b; }
  };

  void index() {
    if (indexed_) return;
    indexed_ = true;
    sent_.clear();
    received_.clear();
    for (std::uint32_t i = 0; i < all_.size(); ++i) (all_[i].what.received ? received_ : sent_).push_back(i);
    std::sort(sent_.begin(), sent_.end(), Before{*this});
    std::sort(received_.begin(), received_.end(),
              [&](std::uint32_t a, std::uint32_t b) { return std::tuple(named(a), a) < std::tuple(named(b), b); });
  }

  std::vector<Part> all_;
  std::vector<std::uint32_t> sent_;      // by key
  std::vector<std::uint32_t> received_;  // by name
  bool indexed_ = true;
};

/// What an exchange does with numbers.
constexpr OpCode exchange_code(const Exchange& e) noexcept {
  if (!e.received || e.reduction == logdir::Reduction::none) return OpCode::keep;
  switch (e.reduction) {
    case logdir::Reduction::sum: return OpCode::add_n;
    case logdir::Reduction::product: return OpCode::product;
    case logdir::Reduction::minimum: return OpCode::minimum;
    case logdir::Reduction::maximum: return OpCode::maximum;
    default: return OpCode::other;
  }
}

}  // namespace nanlens::causes
