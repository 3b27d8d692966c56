/// @file
/// How a cause came from the process that it began in to others.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include <nanlens/causes/causes.hpp>

namespace nanlens::causes {

/// Where a cause came to by what ranks exchanged.
struct Spread {
  std::size_t ranks = 0;  ///< processes besides those it began in
  EventRef first;         ///< what brought it to another one first, as the process saw it in which it began
  bool at_once = false;   ///< all of them got it by that very exchange
};

namespace detail {

// Bad tensors of exchanges that follow from some roots.
class SpreadSearch {
 public:
  SpreadSearch(Causes& causes, const std::vector<std::uint32_t>& roots)
      : causes_(causes), roots_(roots.begin(), roots.end()) {
    for (const std::uint32_t root : roots_) origins_.insert(set_of(causes_.roots()[root].event.index));
  }
  [[nodiscard]] Spread find() {
    CallTable& calls = causes_.model().calls();
    Spread spread;
    calls.exchanges().visit_all([&](std::uint32_t execution, const Exchange& e) { look_at(execution, e, spread); });
    if (!spread.first.exists()) return spread;
    spread.ranks = reached_.size();
    spread.at_once = reached_by(spread.first.index, *calls.exchanges().find(spread.first.index)) == reached_;
    return spread;
  }

 private:
  [[nodiscard]] std::size_t set_of(std::uint32_t execution) const { return causes_.run().set_of_execution(execution); }

  // The other processes that got what follows from the roots out of what one has put in.
  [[nodiscard]] std::set<std::size_t> reached_by(std::uint32_t sent, const Exchange& exchange) {
    Exchanges& exchanges = causes_.model().calls().exchanges();
    std::set<std::size_t> sets;
    exchanges.visit_received(exchange, [&](std::uint32_t other) {
      const bool elsewhere = origins_.count(set_of(other)) == 0;
      if (elsewhere && exchanges.sent_by(*exchanges.find(other), exchange.rank) == sent && follows(other))
        sets.insert(set_of(other));
    });
    return sets;
  }

  [[nodiscard]] bool follows(std::uint32_t execution) {
    if ((causes_.run().execution_flags(execution) & reader::bad_flags) == 0) return false;
    const std::size_t outputs = causes_.model().num_outputs(execution);
    for (std::size_t slot = 0; slot < outputs; ++slot) {
      if (roots_.count(causes_.root_of(execution_event(execution, slot))) != 0) return true;
    }
    return false;
  }

  // Executions of a process come in the order in which it ran them.
  void look_at(std::uint32_t execution, const Exchange& exchange, Spread& spread) {
    if (!follows(execution)) return;
    const bool at_origin = origins_.count(set_of(execution)) != 0;
    if (exchange.received && !at_origin) reached_.insert(set_of(execution));
    if (exchange.received || !at_origin || spread.first.exists()) return;
    if (!reached_by(execution, exchange).empty()) spread.first = execution_event(execution, 0);
  }

  Causes& causes_;
  std::set<std::uint32_t> roots_;
  std::set<std::size_t> origins_;
  std::set<std::size_t> reached_;
};

}  // namespace detail

/// Where the cause came to that these roots stand for.
inline Spread spread_of(Causes& causes, const std::vector<std::uint32_t>& roots) {
  return detail::SpreadSearch(causes, roots).find();
}

}  // namespace nanlens::causes
