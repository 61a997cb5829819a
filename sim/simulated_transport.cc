#include "simulated_transport.h"

#include <fmt/format.h>

#include "base/reached.h"
#include "describe_message.h"
#include "wire/messages/peer_messages.h"

namespace gw::sim {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view kNetwork = "10.0.0.";

}  // namespace

std::string address_of(std::size_t node) { return fmt::format("{}{}:1", kNetwork, node); }

void SimulatedTransport::learn_nodes() {
  for (const auto& node : nodes_) index_[node->id()] = node->index();
}

std::size_t SimulatedTransport::find(const job::PeerId& id) const {
  const auto found = index_.find(id);
  return found == index_.end() ? nodes_.size() : found->second;
}

void SimulatedTransport::send(SimulatedNode& from, const job::Send& what) {
  const std::size_t to = find(what.to);
  // Only a Byzantine home names peers that do not exist.
  if (to == nodes_.size()) return distort ? void() : log_.complain(Verdict::safety, "a peer sends to a peer that does not exist");
  auto encoded = wire::encode(what.message);
  if (!encoded) return log_.complain(Verdict::safety, encoded.error().detail);
  if (!nodes_[to]->up() && !what.contact.address.empty()) tell_unreachable(from, to);
  if (connections_.has_walls() && !connect_for(from, to, what.contact)) return;
  if (distort) {
    for (const Bytes& bytes : distort(from.index(), what.message, *encoded)) put_on_wire(from.index(), to, what.message, bytes);
  } else {
    put_on_wire(from.index(), to, what.message, *encoded);
  }
  if (on_sent) on_sent(from.index(), to, what, *encoded);
}

void SimulatedTransport::put_on_wire(std::size_t from, std::size_t to, const wire::pb::PeerMessage& message, const Bytes& encoded) {
  const Time sent = timeline_.now();
  for (const Time at : network_.arrivals(sent, from, to, encoded.size())) {
    Bytes bytes = encoded;
    if (message.job().has_blob() && !bytes.empty() && network_.damages()) bytes.back() ^= 1;
    timeline_.schedule(at, [this, from, to, sent, bytes = std::move(bytes)] {
      if (network_.reachable(timeline_.now(), from, to) && network_.reachable(sent, from, to)) deliver(from, to, bytes);
    });
  }
}

bool SimulatedTransport::hears(std::size_t from, std::size_t to) const {
  return nodes_[from]->up() && nodes_[to]->up() && network_.both_reachable(timeline_.now(), from, to);
}

void SimulatedTransport::tell(std::size_t node, std::size_t other, const peer::Connection& event) {
  nodes_[node]->call([id = nodes_[other]->id(), event](peer::Peer& peer, Time now, std::vector<job::Action>& out) {
    peer.on_connection(now, id, event, out);
  });
}

// Makes a connection for a message, if there is none. False: there is no way, and the sender is told.
bool SimulatedTransport::connect_for(SimulatedNode& from, std::size_t to, const wire::Contact& contact) {
  if (connections_.open(from.index(), to)) return true;
  std::vector<std::size_t> anchors;
  for (const wire::Anchor& anchor : contact.anchors)
    if (const std::size_t node = find(anchor.peer); node < nodes_.size()) anchors.push_back(node);
  const auto way = connections_.find_way(from.index(), to, anchors, [this](std::size_t a, std::size_t b) { return hears(a, b); });
  if (!way) {
    GW_REACHED("sim: there was no way to a node behind a wall");
    timeline_.schedule_in(milliseconds(5000), [this, &from, boot = from.boot_number(), to] {
      if (from.boot_number() == boot && !connections_.open(from.index(), to))
        tell(from.index(), to, peer::Unreachable{overlay::Failure::no_answer});
    });
    return false;
  }
  connections_.add(from.index(), to, *way);
  using Way = Connections::Way;
  const peer::Link here = way->way == Way::dialled    ? peer::Link::dialled
                          : way->way == Way::reversed ? peer::Link::reversed
                                                      : peer::Link::relayed;
  const peer::Link there = way->way == Way::dialled    ? peer::Link::accepted
                           : way->way == Way::reversed ? peer::Link::reversed
                                                       : peer::Link::carried;
  timeline_.schedule_in(milliseconds(3), [this, from = from.index(), to, here, there] {
    tell(from, to, peer::Connected{here == peer::Link::dialled ? address_of(to) : "", here});
    tell(to, from, peer::Connected{"", there});
  });
  return true;
}

// The result of a dial to a peer that is down: a host without a daemon refuses, a host without power does not answer.
void SimulatedTransport::tell_unreachable(SimulatedNode& sender, std::size_t to) {
  if (!network_.both_reachable(timeline_.now(), sender.index(), to)) return;
  const bool refused = hosts_[to] == Host::answers;
  const peer::Unreachable event{refused ? overlay::Failure::refused : overlay::Failure::no_answer};
  timeline_.schedule_in(refused ? milliseconds(3) : milliseconds(10'000), [this, &sender, boot = sender.boot_number(), to, event] {
    if (nodes_[to]->up()) return;
    sender.call(boot, [id = nodes_[to]->id(), event](peer::Peer& peer, Time now, std::vector<job::Action>& out) {
      peer.on_connection(now, id, event, out);
    });
  });
}

void SimulatedTransport::deliver(std::size_t from, std::size_t to, const Bytes& bytes) {
  auto message = wire::decode_peer_message(bytes);
  if (!message) return;  // damaged: the transport refuses it
  log_.trace(to, "message", as_text(ByteView(bytes).first(std::min<std::size_t>(bytes.size(), 64))));
  if (log_.is_printed())
    if (const std::string words = describe(*message); !words.empty()) log_.remark(to, fmt::format("hears from {}: {}", from, words));
  nodes_[to]->call([id = nodes_[from]->id(), message = std::move(*message)](
                       peer::Peer& peer, Time now, std::vector<job::Action>& out) { peer.on_message(now, id, message, out); },
                   bytes.size());
}

void SimulatedTransport::connect(SimulatedNode& node, const std::string& address) {
  const std::size_t to = std::strtoull(address.c_str() + kNetwork.size(), nullptr, 10);
  timeline_.schedule_in(milliseconds(3), [this, from = node.index(), to] {
    if (to >= nodes_.size() || !nodes_[to]->up() || !network_.both_reachable(timeline_.now(), from, to)) return;
    if (!connections_.can_be_dialled(to)) return;
    if (connections_.has_walls()) connections_.add(from, to, {});
    tell(from, to, peer::Connected{address_of(to), peer::Link::dialled});
    tell(to, from, peer::Connected{"", peer::Link::accepted});
  });
}

void SimulatedTransport::dial_back(SimulatedNode& node, const job::DialBack& what) {
  timeline_.schedule_in(milliseconds(6), [this, &node, boot = node.boot_number(), whom = what.peer] {
    const std::size_t to = find(whom);
    const bool reached =
        to < nodes_.size() && connections_.can_be_dialled(to) && nodes_[to]->up() && network_.reachable(timeline_.now(), node.index(), to);
    node.call(boot, [whom, reached, to](peer::Peer& peer, Time now, std::vector<job::Action>& out) {
      peer.on_connection(now, whom, peer::DialledBack{address_of(to), reached}, out);
    });
  });
}

void SimulatedTransport::on_crash(const SimulatedNode& node, Host host) {
  hosts_[node.index()] = host;
  if (connections_.has_walls()) return break_connections(node.index(), host);
  if (host == Host::silent) return;
  for (auto& other : nodes_) {
    if (other->index() == node.index()) continue;
    timeline_.schedule_in(milliseconds(5), [&other = *other, lost = node.id()] {
      other.call([lost](peer::Peer& peer, Time now, std::vector<job::Action>& out) { peer.on_connection(now, lost, peer::Reset{}, out); });
    });
  }
}

// Connections that the node relayed end in order; its own break.
void SimulatedTransport::break_connections(std::size_t node, Host host) {
  for (const Connections::Pair& pair : connections_.remove_all(node)) {
    const bool own = pair.a == node || pair.b == node;
    if (own && host == Host::silent) continue;
    timeline_.schedule_in(milliseconds(5), [this, pair, own, node] {
      for (const auto& [at, other] : {std::pair(pair.a, pair.b), std::pair(pair.b, pair.a)})
        if (at != node) tell(at, other, own ? peer::Connection(peer::Reset{}) : peer::Connection(peer::Closed{}));
    });
  }
}

}  // namespace gw::sim
