#include <fmt/format.h>

#include "checkers.h"

namespace gw::sim {

Complaint check_leaks(const peer::Peer& peer, std::uint32_t slots, std::size_t blobs_on_disk) {
  if (!peer.hosted_jobs().empty()) return "a member still holds a claim of a job that is over";
  if (peer.slots().free_slots() != slots) return fmt::format("{} of {} slots are free", peer.slots().free_slots(), slots);
  if (!peer.homes().empty()) return "home still has a job that is over";
  if (peer.keeper().size() != 0) return fmt::format("the keeper still has {} threads of jobs that are over", peer.keeper().size());
  if (peer.blobs().size() != 0 || blobs_on_disk != 0)
    return fmt::format("{} blobs are still needed and {} on disk after the jobs are over", peer.blobs().size(), blobs_on_disk);
  return "";
}

}  // namespace gw::sim
