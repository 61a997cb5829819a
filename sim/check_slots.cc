#include <fmt/format.h>

#include "checkers.h"

namespace gw::sim {

Complaint check_slots(const peer::Peer& peer, const peer::Peer::Config& limits) {
  std::uint32_t lent = 0;
  for (const auto& [job, hosted_job] : peer.hosted_jobs()) {
    lent += hosted_job->claim().slots;
    if (hosted_job->roots_running() > hosted_job->claim().slots)
      return fmt::format("{} threads run in {} slots", hosted_job->roots_running(), hosted_job->claim().slots);
  }
  if (lent > limits.slots.slots) return fmt::format("{} slots of {} are lent", lent, limits.slots.slots);
  for (const auto& [job, home] : peer.homes()) {
    if (home->threads() > limits.home.threads) return "home has more threads than allowed";
  }
  if (peer.keeper().size() > limits.keeper.threads) return "the keeper has more threads than allowed";
  if (peer.boot_numbers().size() > limits.boot_numbers.peers) return "the lives of more peers are remembered than allowed";
  return "";
}

}  // namespace gw::sim
