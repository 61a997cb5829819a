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
  const job::BlobCache& cache = peer.blobs().cache();
  if (peer.blobs().size() != 0 || node.disk().blobs() > cache.blobs())
    return fmt::format("{} blobs are still needed, {} are on disk and {} of them in the cache after the jobs are over", peer.blobs().size(),
                       node.disk().blobs(), cache.blobs());
  if (cache.bytes() > cache.limit()) return fmt::format("{} bytes are in a cache of {}", cache.bytes(), cache.limit());
  if (peer.swarm().jobs() + peer.swarm().wanted() + peer.swarm().in_flight() + peer.chunk_uploads().waiting() != 0)
    return "the swarm of a job that is over still has requests";
  if (node.workers().any()) return "a worker still runs for a job that is over";
  if (node.inputs_waiting() != 0 || !node.disk().idle())
    return fmt::format("{} inputs and {} operations of the disk still wait", node.inputs_waiting(), node.disk().waiting());
  return "";
}

}  // namespace gw::sim
