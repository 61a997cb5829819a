#pragma once
// Finds the first other peers of a grid through trackers and the local network.

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "node/discovery/lan_discovery.h"
#include "node/discovery/tracker_rounds.h"
#include "peer/peer.h"

namespace gw::node {

// Announces this peer to trackers and in the local network, and gives it the peers found there. Belongs to the node thread. REQUIRES:
// stop() has returned before the destructor.
class Discovery final : TrackerRounds::Owner, LanDiscovery::Owner {
 public:
  struct Config {
    std::vector<std::string> trackers;  // host:port
    std::uint16_t lan_port = 0;         // announced in the local network; 0: no announcement
    std::uint64_t seed = 0;
  };
  // References outlive it.
  struct Parts {
    boost::asio::io_context& io;
    NameResolver& names;
    const peer::Peer& peer;
    std::function<void(peer::Request)> ask;  // gives the peer a request
  };

  Discovery(Parts parts, const Config& config);

  void start();
  boost::asio::awaitable<void> stop();

 private:
  std::vector<TrackerRounds::Grid> to_announce() override;
  void on_listed(const overlay::GridId& grid, const std::vector<wire::pb::Descriptor>& peers) override;
  std::vector<const peer::GridCredentials*> to_call_out() override;
  void on_called(const overlay::GridId& grid, const std::string& address) override;

  const peer::Peer& peer_;
  const std::function<void(peer::Request)> ask_;
  TrackerRounds trackers_;
  std::unique_ptr<LanDiscovery> lan_;  // none: not wanted
};

}  // namespace gw::node
