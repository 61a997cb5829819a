#include "cli/jobs/peer_names.h"

#include "cli/console/job_tables.h"

namespace gw::cli {

PeerNames::PeerNames(const std::vector<node::PeerView>& peers) {
  for (const node::PeerView& peer : peers) names_.emplace(peer.id, peer.name);
}

PeerNames PeerNames::of(gateway::Client& client) {
  const auto peers = client.peers();
  return peers ? PeerNames(*peers) : PeerNames();
}

std::string PeerNames::name_of(const job::PeerId& peer) const {
  const auto found = names_.find(peer);
  return found == names_.end() ? "" : found->second;
}

std::string PeerNames::text_of(const std::optional<job::PeerId>& peer) const { return peer ? peer_text(name_of(*peer), *peer) : "-"; }

}  // namespace gw::cli
