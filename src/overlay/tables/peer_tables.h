#pragma once
// Every peer that one overlay knows, in whichever table it stands.

#include <string>
#include <vector>

#include "base/rng.h"
#include "overlay/distance/coordinates.h"
#include "overlay/failures/failure_detector.h"
#include "overlay/failures/last_seen.h"
#include "overlay/failures/link_watch.h"
#include "overlay/membership/contacts.h"
#include "overlay/membership/descriptor_set.h"
#include "overlay/output.h"
#include "overlay/tables/neighbours.h"
#include "overlay/tables/ring.h"
#include "overlay/tables/sampler.h"

namespace gw::overlay {

// A peer of the grid, for display and for checkers.
struct KnownPeer {
  Descriptor descriptor;
  using State = FailureDetector::State;
  State state;
  Time last_seen = kNever;  // kNever: the peer has sent no message; others have described it
  Time distance{0};         // round trip, measured or estimated
};

// The machines that remember peers. The sampler, the ring, the neighbours and the failure detector keep tables of their own for their own
// reasons; this class is the one place that looks a peer up in all of them, stores a descriptor wherever it is wanted, and removes a
// peer from all of them at once.
//
// Besides the tables there are *partners*: peers that have offered slots to a job of this one, or asked for some, however far away they
// are. They can be found here so that messages about the job reach them; the overlay itself does not use them.
//
// Invariant: no table holds this peer. The caller has verified every descriptor (DescriptorIntake). Limits: those of the machines. Stays
// where it was made, since the machines refer to it. No I/O, no threads.
class PeerTables final : public Contacts {
 public:
  struct Config {
    Sampler::Config sampler;
    Ring::Config ring;
    FailureDetector::Config detector;
    LinkWatch::Config links;
    Coordinates::Config coordinates;
    Neighbours::Config neighbours;
    LastSeen::Config last_seen;
    std::size_t partners = 512;
  };

  // `rng` outlives it.
  PeerTables(const Config& config, const PeerId& self, Rng& rng);
  PeerTables(const PeerTables&) = delete;
  PeerTables& operator=(const PeerTables&) = delete;

  // Contacts
  const Descriptor* find(const PeerId& peer) const override;
  std::vector<PeerId> all() const override;
  bool is_suspected(const PeerId& peer) const override { return detector.state(peer) == FailureDetector::State::suspected; }
  bool was_seen(const PeerId& peer) const override { return last_seen.last(peer) != kNever; }

  bool is_alive(const PeerId& peer) const;
  std::vector<KnownPeer> known_peers() const;  // by id; the dead ones that are still remembered too
  std::vector<std::string> addresses_to_remember(std::size_t most) const;

  // Whether any table has room or use for it; cheaper than verifying a signature.
  bool wants(const Descriptor& descriptor) const;
  void store(Time now, const Descriptor& descriptor, Output& out);
  // A message of that peer has arrived. Reports it as seen when it is news.
  void on_seen(Time now, const PeerId& peer, Output& out);
  // The peer is dead: every table drops it, and its death is reported if it was reported alive before.
  void remove(const PeerId& peer, Output& out);

  // A peer that no table wants has to do with a job of this one: find() knows it from now on, until Config::partners others came after it.
  // A partner that shares a job with this peer (LinkWatch) stays: each search that passes brings a home, and a partner that cannot be found
  // any more would be taken for lost.
  void add_partner(const Descriptor& descriptor);
  // Whether a table of the overlay has it: such a peer is asked now and then whether it is alive.
  bool is_in_table(const PeerId& peer) const { return find_in_tables(peer) != nullptr; }

  // The round trip to it as the coordinates estimate it.
  Time distance_to(const Descriptor& descriptor) const;
  float seconds_to(const Descriptor& descriptor) const;

 private:
  const Descriptor* find_in_tables(const PeerId& peer) const;

  PeerId self_;
  const std::size_t most_partners_;
  DescriptorSet partners_;
  std::size_t next_partner_ = 0;  // that is replaced

 public:
  // Public, because Overlay hands each message to the machine it is for.
  Sampler sampler;
  Ring ring;
  FailureDetector detector;
  LinkWatch links;
  Coordinates coordinates;
  Neighbours neighbours;
  LastSeen last_seen;
};

}  // namespace gw::overlay
