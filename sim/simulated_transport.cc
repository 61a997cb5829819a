#include "simulated_transport.h"

#include <fmt/format.h>

#include "wire/peer_messages.h"

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
  if (to == nodes_.size()) return log_.complain(Verdict::safety, "a peer sends to a peer that does not exist");
  auto encoded = wire::encode(what.message);
  if (!encoded) return log_.complain(Verdict::safety, encoded.error().detail);
  if (!nodes_[to]->up() && !what.contact.address.empty()) tell_unreachable(from, to);
  const Time sent = timeline_.now();
  for (const Time at : network_.arrivals(sent, from.index(), to, encoded->size())) {
    Bytes bytes = *encoded;
    if (what.message.job().has_blob() && !bytes.empty() && network_.damages()) bytes.back() ^= 1;
    timeline_.schedule(at, [this, from = from.index(), to, sent, bytes = std::move(bytes)] {
      if (network_.reachable(timeline_.now(), from, to) && network_.reachable(sent, from, to)) deliver(from, to, bytes);
    });
  }
  if (on_sent) on_sent(from.index(), to, *encoded);
}

// What the dial of a message to a peer that is down comes to: a host without a peer refuses, one without power says nothing.
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
  nodes_[to]->call([id = nodes_[from]->id(), message = std::move(*message)](
                       peer::Peer& peer, Time now, std::vector<job::Action>& out) { peer.on_message(now, id, message, out); },
                   bytes.size());
}

void SimulatedTransport::connect(SimulatedNode& node, const std::string& address) {
  const std::size_t to = std::strtoull(address.c_str() + kNetwork.size(), nullptr, 10);
  timeline_.schedule_in(milliseconds(3), [this, from = node.index(), to] {
    if (to >= nodes_.size() || !nodes_[to]->up() || !network_.both_reachable(timeline_.now(), from, to)) return;
    for (const auto& [a, b] : {std::pair(from, to), std::pair(to, from)}) {
      const peer::Connected event =
          b == to ? peer::Connected{address_of(b), peer::Link::dialled} : peer::Connected{"", peer::Link::accepted};
      nodes_[a]->call([id = nodes_[b]->id(), event](peer::Peer& peer, Time now, std::vector<job::Action>& out) {
        peer.on_connection(now, id, event, out);
      });
    }
  });
}

void SimulatedTransport::dial_back(SimulatedNode& node, const job::DialBack& what) {
  timeline_.schedule_in(milliseconds(6), [this, &node, boot = node.boot_number(), whom = what.peer] {
    const std::size_t to = find(whom);
    const bool reached = to < nodes_.size() && nodes_[to]->up() && network_.reachable(timeline_.now(), node.index(), to);
    node.call(boot, [whom, reached, to](peer::Peer& peer, Time now, std::vector<job::Action>& out) {
      peer.on_connection(now, whom, peer::DialledBack{address_of(to), reached}, out);
    });
  });
}

void SimulatedTransport::on_crash(const SimulatedNode& node, Host host) {
  hosts_[node.index()] = host;
  if (host == Host::silent) return;
  for (auto& other : nodes_) {
    if (other->index() == node.index()) continue;
    timeline_.schedule_in(milliseconds(5), [&other = *other, lost = node.id()] {
      other.call([lost](peer::Peer& peer, Time now, std::vector<job::Action>& out) { peer.on_connection(now, lost, peer::Reset{}, out); });
    });
  }
}

}  // namespace gw::sim
