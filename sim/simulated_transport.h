#pragma once
// Connections and messages between the nodes of a simulated grid.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "connections.h"
#include "network.h"
#include "simulated_node.h"

namespace gw::sim {

using Nodes = std::vector<std::unique_ptr<SimulatedNode>>;

// The numeric address of a node, so that peers can name each other as anchors.
std::string address_of(std::size_t node);

// Delivers messages, as far as the network lets them through, to the boot of the receiver that runs on arrival. Dials succeed if both
// directions are open and no wall is in between. In a world without walls messages need no connection. A value of the simulation; the
// nodes, timeline and log outlive it.
class SimulatedTransport {
 public:
  // The first `walled` nodes cannot be dialled.
  SimulatedTransport(Nodes& nodes, const FaultMix& mix, std::size_t walled, Timeline& timeline, RunLog& log, Rng rng)
      : nodes_(nodes), network_(mix, rng), connections_(walled), timeline_(timeline), log_(log) {}

  // Called after the nodes are made.
  void learn_nodes();

  Network& network() { return network_; }

  void send(SimulatedNode& from, const job::Send& what);
  // Delivers a message now.
  void deliver(std::size_t from, std::size_t to, const Bytes& bytes);
  void connect(SimulatedNode& from, const std::string& address);
  void dial_back(SimulatedNode& from, const job::DialBack& what);

  enum class Host : std::uint8_t { answers, silent };  // of a node that is down: refuses dials, or has no power
  // If the host still answers, the other nodes notice the closed connections at once.
  void on_crash(const SimulatedNode& node, Host host);

  // The node, or nodes_.size().
  std::size_t find(const job::PeerId& id) const;
  // Called for every message that is sent.
  std::function<void(std::size_t from, std::size_t to, const job::Send&, const Bytes&)> on_sent;
  // Replaces the messages of a node, if set.
  std::function<std::vector<Bytes>(std::size_t from, const wire::pb::PeerMessage&, Bytes)> distort;

 private:
  void put_on_wire(std::size_t from, std::size_t to, const wire::pb::PeerMessage& message, const Bytes& encoded);
  bool hears(std::size_t from, std::size_t to) const;
  bool connect_for(SimulatedNode& from, std::size_t to, const wire::Contact& contact);
  void break_connections(std::size_t node, Host host);
  void tell(std::size_t node, std::size_t other, const peer::Connection& event);
  void tell_unreachable(SimulatedNode& sender, std::size_t to);

  Nodes& nodes_;
  Network network_;
  Connections connections_;
  Timeline& timeline_;
  RunLog& log_;
  std::map<job::PeerId, std::size_t> index_;
  std::map<std::size_t, Host> hosts_;
};

}  // namespace gw::sim
