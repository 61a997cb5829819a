#pragma once
// Names of machines, for people.

#include <map>
#include <optional>
#include <string>

#include "gateway/client.h"

namespace gw::cli {

// The machines of the peers that the daemon knows, by peer. A peer that it does not know any more is shown by its id. A value.
class PeerNames {
 public:
  PeerNames() = default;
  explicit PeerNames(const std::vector<node::PeerView>& peers);
  // Asks the daemon. Names are only for display: without an answer there are none.
  static PeerNames of(gateway::Client& client);

  std::string name_of(const job::PeerId& peer) const;
  // "lab-3 (3f9a01)"; "-" without a peer.
  std::string text_of(const std::optional<job::PeerId>& peer) const;

 private:
  std::map<job::PeerId, std::string> names_;
};

}  // namespace gw::cli
