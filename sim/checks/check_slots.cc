#include <fmt/format.h>

#include <algorithm>

#include "checks/checkers.h"

namespace gw::sim {

Complaint check_slots(const peer::Peer& peer, const peer::Peer::Config& limits) {
  std::uint32_t lent = 0, lanes = 0;
  std::size_t shared = 0;
  for (const auto& [job, hosted_job] : peer.hosted_jobs()) {
    const job::SlotLeases::Grant* grant = peer.slots().find(job);
    const bool is_shared = grant != nullptr && grant->shared;
    if (is_shared) ++shared;
    if (!hosted_job->draining() && !is_shared) lent += hosted_job->claim().slots;
    if (const auto demand = hosted_job->demand()) lanes += std::min(demand->lanes, hosted_job->lanes());
    if (hosted_job->never_waited() > hosted_job->claim().slots)
      return fmt::format("{} threads run in {} slots", hosted_job->never_waited(), hosted_job->claim().slots);
  }
  if (lanes > limits.slots.slots) return fmt::format("{} lanes run on {} slots", lanes, limits.slots.slots);
  if (shared > limits.slots.shared) return fmt::format("{} claims share slots, and {} may", shared, limits.slots.shared);
  if (lent > limits.slots.slots) return fmt::format("{} slots of {} are lent", lent, limits.slots.slots);
  std::uint64_t granted = 0;
  for (const auto& [job, grant] : peer.slots().grants())
    if (grant.draining_until == job::kNever && !grant.shared) granted += grant.slots;
  if (granted > limits.slots.slots) return fmt::format("{} slots of {} are granted", granted, limits.slots.slots);
  for (const auto& [job, home] : peer.homes()) {
    if (home->claims().slots() > home->manifest().content().policy().slots()) return "a job has claimed more slots than it wants";
    if (home->threads() > limits.home.children + home->manifest().tasks()) return "home has more threads than allowed";
  }
  if (peer.budget().used().threads > limits.budget.all.threads) return "more threads of other peers are stored than allowed";
  // After a share was reduced there are claims whose threads are still leaving.
  const auto stays = [](const auto& entry) { return entry.second.draining_until == job::kNever && !entry.second.shared; };
  if (static_cast<std::uint64_t>(std::ranges::count_if(peer.slots().grants(), stays)) > limits.slots.slots)
    return "more peers hold slots than there are";
  if (peer.homes().size() > limits.homes) return "the peer is the home of more jobs than allowed";
  if (peer.blobs().size() > limits.blobs.blobs) return "more blobs are needed than allowed";
  if (peer.boot_numbers().size() > limits.boot_numbers.peers) return "the lives of more peers are remembered than allowed";
  return "";
}

}  // namespace gw::sim
