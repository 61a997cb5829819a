#pragma once
// The grids a peer is in.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "job/actions.h"
#include "job/neighbours.h"
#include "overlay/overlay.h"

namespace gw::peer {

using job::Actions;
using job::PeerId;
using job::Time;
using overlay::GridId;
using overlay::Overlay;

// One grid, as the machines of jobs see it: the peers its overlay knows, and this one.
class Grid final : public job::Neighbours {
 public:
  Grid(const Overlay::Config& config, const Overlay::Self& self, const overlay::Notary& notary, Rng rng);

  bool alive(const PeerId& peer) const override;
  std::vector<Neighbour> all_alive() const override;

  Overlay overlay;
};

// Gives each overlay what concerns it, and makes actions of what overlays want. A peer is told to be in touch, or heard from, only in the
// grids in which it is known: a word about a job says nothing about the others.
//
// Invariant: an overlay hears nothing of a grid that is not its own. Limits: those of the overlays. A machine without I/O or threads.
class Grids final : public job::Neighbours {
 public:
  struct Config {
    std::vector<GridId> grids;  // one at least, none twice; the first is that of jobs that name none
    Overlay::Config overlay;    // of each; its grid is filled in here
    // How often it is written down who is there: twice as seldom each time, so that whoever is killed soon finds back, too.
    Time remember_first = std::chrono::seconds(1);
    Time remember_every = std::chrono::minutes(1);
  };
  // Somebody who was there is not any more.
  struct Lost {
    GridId grid;
    PeerId peer;
  };

  Grids(const Config& config, const Overlay::Self& self, const overlay::Notary& notary, Rng& rng);

  // First of all, once. `remembered`: addresses, as on_tick() has recorded them in a life before.
  void start(Time now, const std::map<GridId, std::vector<std::string>>& remembered, Actions& out);
  // Says goodbye to everybody, and records whom to ask the next time.
  void leave(Time now, Actions& out);

  void on_message(Time now, const PeerId& from, const overlay::Message& message, Actions& out);
  void on_connected(Time now, const PeerId& peer, const std::string& address, Actions& out);
  void on_unreachable(Time now, const PeerId& peer, overlay::Failure failure, Actions& out);
  void on_reset(Time now, const PeerId& peer, Actions& out);
  // A message about a job came from there; one goes there.
  void on_heard(Time now, const PeerId& from, Actions& out);
  void in_touch(Time now, const PeerId& with, Actions& out);
  void on_tick(Time now, Actions& out);
  Time next_deadline() const;
  void set_slots(std::uint32_t slots, std::uint32_t free_slots);
  void set_contact(const overlay::Contact& contact);

  // Since the last call.
  std::vector<Lost> take_losses() { return std::exchange(losses_, {}); }

  const GridId& main() const { return config_.grids.front(); }
  // nullptr: this peer is not in it.
  const Grid* find(const GridId& grid) const;
  const std::map<GridId, std::unique_ptr<Grid>>& all() const { return grids_; }
  // How a peer is reached, as it said last; nothing in it: not known.
  overlay::Contact contact_of(const PeerId& peer) const;
  // In any of the grids.
  bool alive(const PeerId& peer) const override;
  std::vector<Neighbour> all_alive() const override;

 private:
  template <class Input>
  void tell(const GridId& id, Grid& grid, Actions& out, const Input& input);
  template <class Input>
  void tell_all(Actions& out, const Input& input);
  template <class Input>
  void tell_where_known(const PeerId& peer, Actions& out, const Input& input);
  void carry_out(const GridId& grid, overlay::Output output, Actions& out);
  void remember(Actions& out);

  const Config config_;
  std::map<GridId, std::unique_ptr<Grid>> grids_;
  std::map<GridId, std::vector<std::string>> remembered_;  // as they are on disk
  std::vector<Lost> losses_;
  Time remember_at_ = job::kNever;
  Time remember_wait_;
};

}  // namespace gw::peer
