#include "peer/member_list.h"

#include <algorithm>

#include "base/reached.h"

namespace gw::peer {

bool MemberList::alive(const PeerId& peer) const {
  if (peer == self_) return true;
  const auto found = peers_.find(peer);
  return found != peers_.end() && found->second.alive;
}

std::vector<job::Neighbours::Neighbour> MemberList::all_alive() const {
  std::vector<Neighbour> list;
  for (const auto& [peer, entry] : peers_)
    if (entry.alive) list.push_back({peer, entry.free_slots});
  list.push_back({self_, free_slots_});
  std::ranges::sort(list, {}, &Neighbour::peer);
  return list;
}

std::vector<MemberList::Known> MemberList::all() const {
  std::vector<Known> list;
  for (const auto& [peer, entry] : peers_) list.push_back({peer, entry.address, entry.alive, entry.free_slots});
  return list;
}

// nullptr: the list is full, and nobody in it is dead.
MemberList::Entry* MemberList::entry(const PeerId& peer) {
  const auto found = peers_.find(peer);
  if (found != peers_.end()) return &found->second;
  if (peers_.size() >= config_.peers) {
    const auto dead = std::ranges::find_if(peers_, [](const auto& known) { return !known.second.alive; });
    if (dead == peers_.end()) return nullptr;
    peers_.erase(dead);
  }
  return &peers_[peer];
}

MemberList::Heard MemberList::on_heard(Time now, const PeerId& from, std::uint64_t boot, Actions& out) {
  Entry* known = from == self_ ? nullptr : entry(from);
  if (known == nullptr) return Heard::same_life;
  if (boot < known->boot) {
    GW_REACHED("members: a message of an older life");
    return Heard::old_life;
  }
  const bool reborn = boot > known->boot && known->boot != 0;
  if (!known->alive) out.notify(job::PeerSeen{from, true});
  known->boot = boot;
  known->alive = true;
  known->heard = now;
  return reborn ? Heard::new_life : Heard::same_life;
}

void MemberList::on_heartbeat(Time, const PeerId& from, const Message::Heartbeat& heartbeat) {
  if (Entry* known = from == self_ ? nullptr : entry(from)) {
    known->address = heartbeat.address();
    known->free_slots = heartbeat.free_slots();
  }
  for (const Message::Heartbeat::Neighbour& neighbour : heartbeat.neighbours()) {
    const PeerId peer = PeerId::from(neighbour.peer());
    if (peer == self_ || peers_.contains(peer) || peers_.size() >= config_.peers) continue;
    peers_[peer].address = neighbour.address();
  }
}

void MemberList::on_connected(Time now, const PeerId& peer, const std::string& address, Actions& out) {
  Entry* known = peer == self_ ? nullptr : entry(peer);
  if (known == nullptr) return;
  if (known->address.empty()) known->address = address;
  known->connect_at = now + config_.reconnect;
  out.send(peer, heartbeat());
}

bool MemberList::on_disconnected(const PeerId& peer, Actions& out) {
  const auto found = peers_.find(peer);
  if (found == peers_.end() || !found->second.alive) return false;
  found->second.alive = false;
  out.notify(job::PeerSeen{peer, false});
  return true;
}

Message MemberList::heartbeat() const {
  Message message;
  Message::Heartbeat& heartbeat = *message.mutable_heartbeat();
  heartbeat.set_address(config_.address);
  heartbeat.set_free_slots(free_slots_);
  if (peers_.empty()) return message;
  // Some that follow a random place, so that everybody is named now and then.
  auto next = std::next(peers_.begin(), static_cast<std::ptrdiff_t>(rng_.below(peers_.size())));
  const int count = static_cast<int>(std::min<std::size_t>(peers_.size(), 8));
  for (int i = 0; i < count; ++i) {
    Message::Heartbeat::Neighbour& neighbour = *heartbeat.add_neighbours();
    neighbour.set_peer(next->first.bytes());
    neighbour.set_address(next->second.address);
    if (++next == peers_.end()) next = peers_.begin();
  }
  return message;
}

std::vector<PeerId> MemberList::on_tick(Time now, Actions& out) {
  std::vector<PeerId> died;
  if (now < tick_at_) return died;
  tick_at_ = now + config_.heartbeat;
  for (auto& [peer, entry] : peers_) {
    if (entry.alive && now - entry.heard > config_.dead_after) {
      GW_REACHED("members: a peer fell silent");
      on_disconnected(peer, out);
      died.push_back(peer);
    }
    if (entry.alive) {
      out.send(peer, heartbeat());
    } else if (now >= entry.connect_at && !entry.address.empty()) {
      entry.connect_at = now + config_.reconnect;
      out.add(job::Connect{entry.address});
    }
  }
  join(now, out);
  return died;
}

void MemberList::join(Time now, Actions& out) {
  if (now < join_at_) return;
  join_at_ = now + config_.reconnect;
  for (const std::string& address : config_.known) {
    const bool known = std::ranges::any_of(peers_, [&](const auto& entry) { return entry.second.address == address; });
    if (!known && address != config_.address) out.add(job::Connect{address});
  }
}

}  // namespace gw::peer
