#pragma once
// The grids a peer is in.

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "job/actions.h"
#include "job/live_peers.h"
#include "overlay/overlay.h"
#include "peer/grid_credentials.h"

namespace gw::peer {

using job::Actions;
using job::PeerId;
using job::Time;
using overlay::Overlay;

// One grid, as the machines of jobs see it: the peers its overlay knows, and this one.
class Grid final : public job::LivePeers {
 public:
  Grid(GridCredentials credentials, const Overlay::Config& config, const Overlay::Self& self, const overlay::Signer& signer, Rng rng);

  bool alive(const PeerId& peer) const override;
  std::vector<LivePeer> all_alive() const override;

  GridCredentials credentials;
  Overlay overlay;
};

// Gives each overlay what concerns it, and makes actions of what overlays want. A peer is told to be in touch, or heard from, only in the
// grids in which it is known: a word about a job says nothing about the others.
//
// Grids come and go while the peer runs; which there are is on disk. Of a private grid that has revoked this peer nothing is heard or said
// any more.
//
// Invariant: an overlay hears nothing of a grid that is not its own. Limits: those of the overlays, kMost grids. A machine without I/O or
// threads.
class Grids final : public job::LivePeers, public job::GridRules {
 public:
  struct Config {
    std::vector<std::string> grids;  // open ones, by name, none twice; before all others
    std::string otherwise = {};      // the open one to be in if these are none, and none is on disk; empty: none
    Overlay::Config overlay;         // of each; its grid is filled in here
    Time wall_offset{0};             // from Time to nanoseconds since 1970
    // How often it is written down who is there: twice as seldom each time, so that whoever is killed soon finds back, too.
    Time remember_first = std::chrono::seconds(1);
    Time remember_every = std::chrono::minutes(1);
  };
  static constexpr std::size_t kMost = 16;
  // Somebody who was there is not any more.
  struct Lost {
    GridId grid;
    PeerId peer;
  };

  Grids(const Config& config, const Overlay::Self& self, const overlay::Signer& signer, Rng& rng);

  // Before start(), once: those that are on disk besides those of the configuration.
  Status restore(const std::vector<wire::pb::GridRecord>& records);
  // First of all others, once. `remembered`: addresses, as on_tick() has recorded them in a life before.
  void start(Time now, const std::map<GridId, std::vector<std::string>>& remembered, Actions& out);
  // Says goodbye to everybody, and records whom to ask the next time.
  void leave(Time now, Actions& out);

  // Kind::invalid: it is in this one, or in another of this name; Kind::overloaded.
  Status add(Time now, GridCredentials credentials, Actions& out);
  // REQUIRES: nothing refers to it any more.
  void remove(Time now, const GridId& id, Actions& out);
  // Writes down what was changed in credentials. It is durable when after_disk() says so.
  static void record(const GridCredentials& credentials, Actions& out);
  // A list that was checked, and that is newer than the last.
  void revoke(Time now, Grid& grid, overlay::Revocations list, Actions& out);
  // From outside the grid somebody is said to be in it.
  void on_rumoured(Time now, const GridId& id, const wire::pb::Descriptor& descriptor, Actions& out);
  void on_rumoured(Time now, const GridId& id, const std::string& address, Actions& out);

  void on_message(Time now, const PeerId& from, const overlay::Message& message, Actions& out);
  void on_connected(Time now, const PeerId& peer, const std::string& address, Actions& out);
  void on_unreachable(Time now, const PeerId& peer, overlay::Failure failure, Actions& out);
  void on_reset(Time now, const PeerId& peer, Actions& out);
  // A message about a job came from there; one goes there.
  void on_seen(Time now, const PeerId& from, Actions& out);
  void watch_peer(Time now, const PeerId& with, Actions& out);
  void on_tick(Time now, Actions& out);
  Time next_deadline() const;
  void set_slots(std::uint32_t slots, std::uint32_t free_slots);
  void set_contact(const overlay::Contact& contact);

  // Who was heard for the first time, since the last call.
  std::vector<PeerId> take_newly_seen() { return std::exchange(newly_seen_, {}); }
  // Since the last call.
  std::vector<Lost> take_losses() { return std::exchange(losses_, {}); }

  // Where jobs that name no grid run; nullptr: there is none.
  const Grid* main() const;
  // nullptr: this peer is not in it.
  const Grid* find(const GridId& grid) const;
  Grid* find(const GridId& grid) { return const_cast<Grid*>(std::as_const(*this).find(grid)); }
  const Grid* find(const std::string& name) const;
  const std::map<GridId, std::unique_ptr<Grid>>& all() const { return grids_; }
  std::vector<const Grid*> in_order() const;
  // Whether that peer is, or may be, in one of the grids: nobody else has a word here.
  bool admits(Time now, const PeerId& peer) const;
  PeerId id_of(const PublicKey& key) const { return signer_.id_of(key); }
  // How a peer is reached, as it said last; nothing in it: not known.
  overlay::Contact contact_of(const PeerId& peer) const;
  // In any of the grids.
  bool alive(const PeerId& peer) const override;
  std::vector<LivePeer> all_alive() const override;
  Status may_run(Time now, const PeerId& home, const std::optional<GridId>& grid) const override;

 private:
  template <class Input>
  void tell(const GridId& id, Grid& grid, Actions& out, const Input& input);
  template <class Input>
  void tell_all(Actions& out, const Input& input);
  template <class Input>
  void tell_where_known(const PeerId& peer, Actions& out, const Input& input);
  void carry_out(const GridId& grid, overlay::Output output, Actions& out);
  void remember(Actions& out);

  void make(GridCredentials credentials);
  void begin(Time now, Grid& grid, const std::vector<std::string>& remembered, Actions& out);

  const Config config_;
  const Overlay::Self self_;
  const overlay::Signer& signer_;
  Rng rng_;
  std::map<GridId, std::unique_ptr<Grid>> grids_;
  std::set<GridId> recorded_;
  std::uint64_t next_order_ = 0;
  std::uint32_t slots_ = 0, free_slots_ = 0;
  std::optional<overlay::Contact> contact_;                // as it was found out; grids that come later begin with it
  std::map<GridId, std::vector<std::string>> remembered_;  // as they are on disk
  std::vector<Lost> losses_;
  std::vector<PeerId> newly_seen_;
  Time remember_at_ = job::kNever;
  Time remember_wait_;
};

}  // namespace gw::peer
