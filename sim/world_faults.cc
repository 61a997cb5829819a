// What goes wrong in a world, second by second.

#include "base/reached.h"
#include "world.h"

namespace gw::sim {

using std::chrono::milliseconds;
using std::chrono::seconds;

bool World::chance(double per_second) { return static_cast<double>(fault_rng_.below(1'000'000)) < per_second * 1e6; }

void World::make_faults() {
  if (healed_) return;
  for (auto& node : nodes_) {
    const std::uint64_t boot = node->boot;
    if (node->peer != nullptr && chance(faults_.crash)) crash(*node);
    if (node->peer != nullptr && chance(faults_.pause)) node->paused_until = now_ + milliseconds(fault_rng_.below(8000));
    if (node->peer != nullptr && !node->workers.empty() && chance(faults_.worker_crash)) {
      const job::WorkerId worker = node->workers.begin()->first;
      node->workers.erase(worker);
      trace(node->index, "worker crash", "");
      call(node->index, boot, [worker](Node& hit, Time now, std::vector<job::Action>& out) {
        hit.peer->on_worker(now, worker, peer::WorkerDied{"the simulation killed it"}, out);
      });
    }
    if (chance(faults_.clog)) network_.clog(node->index, fault_rng_.below(nodes_.size()), now_ + milliseconds(fault_rng_.below(5000)));
  }
  if (chance(faults_.partition)) cut_some();
  schedule(now_ + seconds(1), [this] { make_faults(); });
}

// Some are cut off from the others, in both directions or in one.
void World::cut_some() {
  const Time until = now_ + milliseconds(fault_rng_.below(20'000));
  const bool both_ways = fault_rng_.below(3) != 0;
  std::vector<bool> apart;
  for (std::size_t i = 0; i < nodes_.size(); ++i) apart.push_back(fault_rng_.below(3) == 0);
  for (std::size_t a = 0; a < nodes_.size(); ++a)
    for (std::size_t b = 0; b < nodes_.size(); ++b)
      if (apart[a] != apart[b] && (both_ways || apart[a])) network_.cut(a, b, until);
  trace(0, "partition", "");
}

void World::kill_permanently(Node& node) {
  node.permanently_dead = true;
  if (node.peer != nullptr) crash(node);
}

// A liar says, in its own name, what it has overheard; of effects also that they are of the next life, and of overlays that they are of
// another grid.
void World::lie(std::size_t to, const Bytes& overheard) {
  if (fault_rng_.below(20) != 0) return;
  const Node& liar = *nodes_[nodes_.size() - 1 - fault_rng_.below(scenario_.liars)];
  if (liar.peer == nullptr || to == liar.index) return;
  auto message = wire::decode_peer_message(overheard).value();
  message.set_boot(fault_rng_.below(10) == 0 ? 1 : liar.boot);
  if (message.has_overlay() && fault_rng_.below(4) == 0) message.mutable_overlay()->set_grid(std::string(32, 'g'));
  if (message.has_effects() && fault_rng_.below(2) == 0) {
    message.mutable_effects()->set_epoch(message.effects().epoch() + 1);
    for (Effect& effect : *message.mutable_effects()->mutable_effects()) effect.set_epoch(message.effects().epoch());
  }
  GW_REACHED("sim: a liar spoke");
  deliver(liar.index, to, wire::encode(message).value());
}

void World::heal() {
  healed_ = true;
  network_.heal();
  faults_ = FaultMix();
  for (auto& node : nodes_) {
    node->paused_until = now_;
    if (node->peer == nullptr && !node->permanently_dead) boot(*node);
  }
  trace(0, "healed", "");
}

void World::crash(Node& node) {
  GW_REACHED("sim: a peer was killed");
  trace(node.index, "crash", "");
  node.peer.reset();
  node.workers.clear();
  node.deferred.clear();
  node.disk.crash(fault_rng_);
  node.tick_at = job::kNever;
  ++node.boot;
  // Half of the time the others notice at once that its connections are gone; otherwise the host is down, too.
  node.refuses = fault_rng_.below(2) == 0;
  for (auto& other : nodes_) {
    if (!node.refuses || other->index == node.index) continue;
    const job::PeerId lost = node.id;
    schedule(now_ + milliseconds(5), [this, index = other->index, lost] {
      call(index, nodes_[index]->boot,
           [lost](Node& hearer, Time now, std::vector<job::Action>& out) { hearer.peer->on_connection(now, lost, peer::Reset{}, out); });
    });
  }
  schedule(now_ + milliseconds(500 + fault_rng_.below(20'000)), [this, &node] {
    if (node.peer == nullptr && !node.permanently_dead) boot(node);
  });
}

}  // namespace gw::sim
