#pragma once
// The grids a peer is in.

#include <deque>
#include <map>
#include <memory>
#include <optional>
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

// A grid as the machines of jobs see it: the peers its overlay knows, and this one.
class Grid final : public job::LivePeers {
 public:
  Grid(GridCredentials credentials, const Overlay::Config& config, const Overlay::Self& self, const overlay::Signer& signer, Rng rng);

  bool alive(const PeerId& peer) const override;
  // Made again after forget_alive() only.
  const std::vector<LivePeer>& all_alive() const override;
  std::vector<Neighbour> neighbours() const override;
  std::vector<PeerId> opened_since(std::uint64_t& mark) const override;
  void on_given_back(const PeerId& peer, std::uint32_t slots) const override { note_opened(peer, slots); }
  Time distance(const PeerId& peer) const override { return peer == overlay.self().id ? Time(0) : overlay.distance(peer); }
  std::string network(const PeerId& peer) const override;
  wire::pb::Descriptor introduction() const override { return overlay.introduction(); }
  void forget_alive() { alive_.reset(); }

  GridCredentials credentials;
  Overlay overlay;

 private:
  static constexpr std::size_t kOpened = 64;
  static constexpr std::uint32_t kToldBeside = 16;  // jobs that are told of a peer, beside one for each slot
  struct Opening {
    PeerId peer;
    std::uint64_t number;
    std::uint32_t told;  // how many more jobs are
  };

  void note_announced(std::map<PeerId, std::uint32_t> announced) const;
  void note_opened(const PeerId& peer, std::uint32_t slots) const;

  mutable std::optional<std::vector<LivePeer>> alive_;
  mutable std::map<PeerId, std::uint32_t> announced_;  // free slots of the live peers
  mutable std::deque<Opening> opened_;                 // peers that joined, announced more free slots or got some back, last
  mutable std::uint64_t openings_ = 0;
};

// Gives each overlay its inputs, and turns the outputs of overlays into actions. A message about a job counts as a sign of life only in the
// grids in which its sender is known.
//
// Grids can be joined and left while the peer runs; the list is on disk. A private grid that has revoked this peer gets no input and sends
// nothing any more.
//
// Invariant: an overlay gets no message of another grid. Limits: those of the overlays, kMost grids. A machine without I/O or threads.
class Grids final : public job::PeerLiveness, public job::GridRules {
 public:
  struct Config {
    std::vector<std::string> grids;  // open grids by name, each once; they come before all others
    std::string otherwise = {};      // the open grid to join if `grids` is empty and none is on disk; empty: none
    Overlay::Config overlay;         // of each grid; the grid's id is filled in here
    Time wall_offset{0};             // from Time to nanoseconds since 1970
    // How often addresses of live peers are recorded. The interval doubles each time, so that also a peer that is killed soon can rejoin.
    Time remember_first = std::chrono::seconds(1);
    Time remember_every = std::chrono::minutes(1);
  };
  static constexpr std::size_t kMost = 16;
  // A peer that was alive and is dead now.
  struct Lost {
    GridId grid;
    PeerId peer;
  };

  // The records of grids on disk.
  struct Stored {
    std::vector<wire::pb::GridRecord> records;  // checked
    std::set<GridId> damaged = {};              // grids whose records cannot be read
    bool unknown_keys = false;                  // there are records with keys that cannot be read: one of them may be that of a grid
  };

  Grids(const Config& config, const Overlay::Self& self, const overlay::Signer& signer, Rng& rng);

  // Called once before start(), with the grids on disk; those of the configuration are added. A damaged record may be that of a private
  // grid: as long as there is one, this peer joins no grid by default, and main() is known only if the configuration names it.
  Status restore(const Stored& stored);
  // Called once, before all others below. `remembered`: addresses that on_tick() has recorded in an earlier boot.
  void start(Time now, const std::map<GridId, std::vector<std::string>>& remembered, Actions& out);
  // Announces to all peers that this one leaves, and records the addresses to rejoin with.
  void leave(Time now, Actions& out);

  // Kind::invalid: this peer is in the grid already, or in another one of this name; Kind::overloaded. After the records of all grids were
  // lost, the user has said with this which one counts.
  Status add(Time now, GridCredentials credentials, Actions& out);
  // REQUIRES: no job refers to the grid.
  void remove(Time now, const GridId& id, Actions& out);
  // Deletes the damaged record of a grid. False: the record of that grid is not damaged.
  bool remove_damaged(const GridId& id, Actions& out);
  // Records changed credentials. Use after_disk() to wait until they are durable.
  static void record(const GridCredentials& credentials, Actions& out);
  // Takes a revocation list that was checked and is newer than the present one.
  void revoke(Time now, Grid& grid, overlay::Revocations list, Actions& out);
  // A tracker or beacon names a peer of the grid.
  void on_rumoured(Time now, const GridId& id, const wire::pb::Descriptor& descriptor, Actions& out);
  void on_rumoured(Time now, const GridId& id, const std::string& address, Actions& out);

  void on_message(Time now, const PeerId& from, const overlay::Message& message, Actions& out);
  void on_connected(Time now, const PeerId& peer, const std::string& address, Actions& out);
  void on_unreachable(Time now, const PeerId& peer, overlay::Failure failure, Actions& out);
  void on_reset(Time now, const PeerId& peer, Actions& out);
  // A peer describes itself in a message about a job of that grid. False: not genuinely, or it may not speak there.
  bool introduce(Time now, const GridId& id, const wire::pb::Descriptor& descriptor, Actions& out);
  // A message about a job came from the peer; a message goes to it.
  void on_seen(Time now, const PeerId& from, Actions& out);
  void watch_peer(Time now, const PeerId& with, Actions& out);
  void on_tick(Time now, Actions& out);
  Time next_deadline() const;
  void set_slots(std::uint32_t slots, std::uint32_t free_slots);
  void set_contact(const overlay::Contact& contact);

  // Peers seen for the first time since the last call.
  std::vector<PeerId> take_newly_seen() { return std::exchange(newly_seen_, {}); }
  // Asks the overlay of that grid for a peer near the key with a free slot. Returns the number of its answer, which may be there already.
  std::uint64_t place(Time now, const GridId& grid, const Hash256& key, Actions& out);
  struct KeyAnswer {
    GridId grid;
    std::uint64_t number;
    std::optional<PeerId> peer;  // none: there is none
  };
  // Answers to place() since the last call.
  std::vector<KeyAnswer> take_key_answers() { return std::exchange(key_answers_, {}); }
  // Since the last call.
  std::vector<Lost> take_losses() { return std::exchange(losses_, {}); }

  // The grid of jobs that name none; nullptr: there is none, or its record may be a damaged one.
  const Grid* main() const;
  // The grid that a job names, or main(); nullptr: this peer is not in it.
  const Grid* of(const std::optional<GridId>& grid) const { return grid ? find(*grid) : main(); }
  // Whether a job that is to run in this grid, or in main(), lacks it because of damage on the disk.
  bool is_damaged(const std::optional<GridId>& grid) const;
  // nullptr: this peer is not in it.
  const Grid* find(const GridId& grid) const;
  Grid* find(const GridId& grid) { return const_cast<Grid*>(std::as_const(*this).find(grid)); }
  const Grid* find(const std::string& name) const;
  const std::map<GridId, std::unique_ptr<Grid>>& all() const { return grids_; }
  std::vector<const Grid*> in_order() const;
  // Whether the peer is, or may be, in one of the grids. Messages about jobs are taken only from such peers.
  bool admits(Time now, const PeerId& peer) const;
  PeerId id_of(const PublicKey& key) const { return signer_.id_of(key); }
  // The contact that a peer published last; empty: not known.
  overlay::Contact contact_of(const PeerId& peer) const;
  // The name that the machine of a peer gives itself; empty: none is known.
  std::string name_of(const PeerId& peer) const;
  // The estimated round trip to the peer in the grid where it is nearest; kNever: not known.
  Time distance(const PeerId& peer) const;
  // Looks in all grids.
  bool alive(const PeerId& peer) const override;
  Status may_run(Time now, const PeerId& home, const std::optional<GridId>& grid) const override;

 private:
  template <class Input>
  void tell(const GridId& id, Grid& grid, Actions& out, const Input& input);
  template <class Input>
  void tell_all(Actions& out, const Input& input);
  template <class Input>
  void tell_where_known(const PeerId& peer, Actions& out, const Input& input);
  // The newest descriptor of it; nullptr: no grid knows it.
  const overlay::Descriptor* newest(const PeerId& peer) const;
  void carry_out(const GridId& grid, overlay::Output output, Actions& out);
  void remember(Actions& out);
  void erase_records(const GridId& id, Actions& out) const;

  void make(GridCredentials credentials);
  void put_first(Grid& grid, Actions& out);
  void begin(Time now, Grid& grid, const std::vector<std::string>& remembered, Actions& out);

  const Config config_;
  const Overlay::Self self_;
  const overlay::Signer& signer_;
  Rng rng_;
  std::map<GridId, std::unique_ptr<Grid>> grids_;
  std::set<GridId> recorded_;
  std::set<GridId> damaged_;  // not joined again since
  bool unknown_keys_ = false;
  std::uint64_t next_order_ = 0;
  std::uint32_t slots_ = 0, free_slots_ = 0;
  std::optional<overlay::Contact> contact_;                // as Reachability found it; grids joined later start with it
  std::map<GridId, std::vector<std::string>> remembered_;  // addresses as they are on disk
  std::vector<Lost> losses_;
  std::vector<PeerId> newly_seen_;
  std::vector<KeyAnswer> key_answers_;
  Time remember_at_ = job::kNever;
  Time remember_wait_;
};

}  // namespace gw::peer
