#include <fmt/format.h>

#include "checkers.h"

namespace gw::sim {

Complaint check_slots(const peer::Peer& peer, std::uint32_t slots) {
  std::uint32_t lent = 0;
  for (const auto& [job, hosted_job] : peer.hosted_jobs()) {
    lent += hosted_job->claim().slots;
    if (hosted_job->roots_running() > hosted_job->claim().slots)
      return fmt::format("{} threads run in {} slots", hosted_job->roots_running(), hosted_job->claim().slots);
  }
  if (lent > slots) return fmt::format("{} slots of {} are lent", lent, slots);
  for (const auto& [job, home] : peer.homes()) {
    if (home->threads() > job::Home::Config{}.threads) return "home has more threads than allowed";
  }
  if (peer.keeper().size() > job::Keeper::Config{}.threads) return "the keeper has more threads than allowed";
  if (peer.boot_numbers().size() > peer::BootNumbers::Config{}.peers) return "the lives of more peers are remembered than allowed";
  return "";
}

}  // namespace gw::sim
