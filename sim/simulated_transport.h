#pragma once
// Connections and messages between the nodes of a simulated grid.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "network.h"
#include "simulated_node.h"

namespace gw::sim {

using Nodes = std::vector<std::unique_ptr<SimulatedNode>>;

// Where a node listens: in numbers, so that peers can name each other as anchors.
std::string address_of(std::size_t node);

// Takes what nodes send and brings it, as the network lets it, to the lives that are there when it arrives. Dials succeed where both
// directions are open. A value of the simulation; the nodes, timeline and log outlive it.
class SimulatedTransport {
 public:
  SimulatedTransport(Nodes& nodes, const FaultMix& mix, Timeline& timeline, RunLog& log, Rng rng)
      : nodes_(nodes), network_(mix, rng), timeline_(timeline), log_(log) {}

  // After the nodes are made.
  void learn_nodes();

  Network& network() { return network_; }

  void send(SimulatedNode& from, const job::Send& what);
  // A message that is there now.
  void deliver(std::size_t from, std::size_t to, const Bytes& bytes);
  void connect(SimulatedNode& from, const std::string& address);
  void dial_back(SimulatedNode& from, const job::DialBack& what);

  enum class Host : std::uint8_t { answers, silent };  // of a node that is down: refuses dials, or has no power
  // The others see at once that its connections are gone, if its host still answers.
  void on_crash(const SimulatedNode& node, Host host);

  // The node, or nodes_.size().
  std::size_t find(const job::PeerId& id) const;
  // Sees every message as it is sent.
  std::function<void(std::size_t from, std::size_t to, const Bytes&)> on_sent;

 private:
  void tell_unreachable(SimulatedNode& sender, std::size_t to);

  Nodes& nodes_;
  Network network_;
  Timeline& timeline_;
  RunLog& log_;
  std::map<job::PeerId, std::size_t> index_;
  std::map<std::size_t, Host> hosts_;
};

}  // namespace gw::sim
