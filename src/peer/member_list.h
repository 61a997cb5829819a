#pragma once
// Who else is there: everybody knows everybody, by heartbeats.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/rng.h"
#include "job/actions.h"
#include "job/neighbours.h"

namespace gw::peer {

using job::Actions;
using job::Message;
using job::PeerId;
using job::Time;

// A plain list of all peers of a small grid, to be replaced by an overlay. Joins through known addresses, learns the others from
// heartbeats, takes a peer for dead after silence or when its connection breaks, and goes on trying to reach it.
//
// Invariant: of a peer only the latest life is listened to. Limits: Config. A machine without I/O or threads.
class MemberList : public job::Neighbours {
 public:
  struct Config {
    std::string address;             // where this peer is reached
    std::vector<std::string> known;  // addresses to join through
    Time heartbeat = std::chrono::seconds(1);
    Time dead_after = std::chrono::seconds(5);
    Time reconnect = std::chrono::seconds(3);
    std::size_t peers = 1024;
  };
  // What a sign of life means.
  enum class Heard : std::uint8_t { old_life, same_life, new_life };

  MemberList(const Config& config, const PeerId& self, Rng& rng) : config_(config), self_(self), rng_(rng) {}

  struct Known {
    PeerId peer;
    std::string address;  // empty: not known
    bool alive;
    std::uint32_t free_slots;  // as it said last
  };
  std::vector<Known> all() const;  // the others, by id

  bool alive(const PeerId& peer) const override;
  std::vector<Neighbour> all_alive() const override;
  void set_free_slots(std::uint32_t slots) { free_slots_ = slots; }

  // Any message of this peer. new_life: whatever it had promised before is void.
  Heard on_heard(Time now, const PeerId& from, std::uint64_t boot, Actions& out);
  void on_heartbeat(Time now, const PeerId& from, const Message::Heartbeat& heartbeat);
  void on_connected(Time now, const PeerId& peer, const std::string& address, Actions& out);
  // Returns whether it was alive.
  bool on_disconnected(const PeerId& peer, Actions& out);
  // Returns who has died of silence.
  std::vector<PeerId> on_tick(Time now, Actions& out);
  Time next_deadline() const { return tick_at_; }
  std::size_t size() const { return peers_.size(); }

 private:
  struct Entry {
    std::string address;
    std::uint64_t boot = 0;
    bool alive = false;
    Time heard{0};
    Time connect_at{0};
    std::uint32_t free_slots = 0;
  };

  Message heartbeat() const;
  Entry* entry(const PeerId& peer);
  void join(Time now, Actions& out);

  const Config config_;
  const PeerId self_;
  Rng& rng_;
  std::map<PeerId, Entry> peers_;
  std::uint32_t free_slots_ = 0;
  Time join_at_{0};
  Time tick_at_{0};
};

}  // namespace gw::peer
