#include <fmt/format.h>

#include "checks/checkers.h"
#include "simulated_node.h"

namespace gw::sim {

Complaint check_leaks(const SimulatedNode& node) {
  const peer::Peer& peer = node.peer();
  if (!peer.hosted_jobs().empty()) return "a member still holds a claim of a job that is over";
  if (peer.slots().free_slots() != node.slots()) return fmt::format("{} of {} slots are free", peer.slots().free_slots(), node.slots());
  if (!peer.homes().empty()) return "home still has a job that is over";
  if (peer.keeper().size() != 0) return fmt::format("the keeper still has {} threads of jobs that are over", peer.keeper().size());
  if (peer.blobs().size() != 0 || node.disk().blobs() != 0)
    return fmt::format("{} blobs are still needed and {} on disk after the jobs are over", peer.blobs().size(), node.disk().blobs());
  if (node.workers().any()) return "a worker still runs for a job that is over";
  if (node.inputs_waiting() != 0 || !node.disk().idle())
    return fmt::format("{} inputs and {} operations of the disk still wait", node.inputs_waiting(), node.disk().waiting());
  return "";
}

}  // namespace gw::sim
