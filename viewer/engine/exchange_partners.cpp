// What an execution exchanged with those of other ranks: as the analysis joins them.
#include <algorithm>

#include "explain.hpp"

namespace nanlens::viewer {

using causes::Exchange;

namespace {

constexpr std::size_t most_partners = 256;
constexpr std::int64_t most_asked = 1 << 16;  // ranks: a damaged record's communicator has any number

ExchangePartner partner_of(RunIndex& index, std::uint32_t execution, bool sent) {
  const RankTracks::Place place = index.ranks().find(execution);
  ExchangePartner partner;
  partner.execution = execution;
  partner.track = place.track;
  partner.place = static_cast<std::int64_t>(place.at);
  partner.time = index.since_start(index.run().execution_wall_time(execution));
  partner.sent = sent;
  partner.bad = (index.run().execution_flags(execution) & reader::bad_flags) != 0;
  return partner;
}

}  // namespace

// Is anything bad that a rank got the doing of what another one had put in?
bool Explain::came_from(std::uint32_t received, std::uint32_t sent) {
  const std::size_t outputs = causes_->model().num_outputs(received);
  for (std::size_t slot = 0; slot < outputs; ++slot) {
    const causes::EventRef got = causes::execution_event(received, slot);
    if (!causes_->model().bad(got)) continue;
    const auto parents = causes_->lineage(got).classification.parents;
    if (std::any_of(parents.begin(), parents.end(),
                    [&](causes::EventRef parent) { return parent.is_execution && parent.index == sent; }))
      return true;
  }
  return false;
}

std::vector<ExchangePartner> Explain::partners_of(std::int64_t execution) {
  std::vector<ExchangePartner> partners;
  if (execution < 0 || !index_.ranks().several()) return partners;
  const auto self = static_cast<std::uint32_t>(execution);
  causes::Exchanges& exchanges = causes_->model().calls().exchanges();
  const Exchange* const exchange = exchanges.find(self);
  if (exchange == nullptr) return partners;
  const bool bad = (index_.run().execution_flags(self) & reader::bad_flags) != 0;
  const auto add = [&](std::uint32_t other, bool sent) {
    if (partners.size() == most_partners) return;
    partners.push_back(partner_of(index_, other, sent));
    ExchangePartner& partner = partners.back();
    partner.spread = bad && partner.bad && (sent ? came_from(self, other) : came_from(other, self));
  };
  if (exchange->received) {
    const causes::Senders senders = causes::senders_of(*exchange);
    const std::int32_t first = std::max(0, senders.first);
    const std::int64_t end = std::min<std::int64_t>(std::min(senders.end, exchange->size), first + most_asked);
    for (std::int32_t rank = first; rank < end && partners.size() < most_partners; ++rank)
      if (const std::uint32_t sent = exchanges.sent_by(*exchange, rank); sent != reader::none) add(sent, true);
    return partners;
  }
  const Exchange what = *exchange;
  exchanges.visit_received(what, [&](std::uint32_t other) {
    if (exchanges.sent_by(*exchanges.find(other), what.rank) == self) add(other, false);
  });
  return partners;
}

}  // namespace nanlens::viewer
