#include <fmt/format.h>

#include "checks/checkers.h"
#include "job/placing/search_query.h"

namespace gw::sim {

using wire::pb::JobMessage;

Complaint SearchChecker::on_sent(const job::PeerId& from, const job::Send& send) {
  const JobMessage& message = send.message.job();
  const auto handling = [&](std::uint64_t round) { return Handling{from, send.message.boot(), message.job(), round}; };
  if (message.has_offer() || message.has_decline()) {
    const std::uint64_t round = message.has_offer() ? message.offer().round() : message.decline().round();
    if (answered_.insert(handling(round)).second) return "";
    return fmt::format("peer {} answered a round of a search twice", from.brief());
  }
  if (!message.has_search()) return "";
  const auto query = job::read_query(message.search(), job::JobId::from(message.job()));
  if (!query) return fmt::format("peer {} sent a search that is not right: {}", from.brief(), query.error().detail);
  std::set<job::PeerId>& receivers = passed_on_[handling(query->round())];
  if (!receivers.insert(send.to).second) return fmt::format("peer {} sent a round of a search to the same peer twice", from.brief());
  if (receivers.size() > static_cast<std::size_t>(wire::kMaxAsked))
    return fmt::format("peer {} sent a round of a search to {} peers", from.brief(), receivers.size());
  PublicKey key;
  std::ranges::copy(as_bytes(message.search().home().key()), key.begin());
  const job::PeerId home{sha256(key)};
  if (from == home) return "";
  if (send.to == home) return fmt::format("peer {} passed a search on to its home", from.brief());
  if (std::ranges::find(query->asked(), job::asked_name(send.to)) != query->asked().end())
    return fmt::format("peer {} passed a search on to a peer that home asks itself", from.brief());
  return "";
}

}  // namespace gw::sim
