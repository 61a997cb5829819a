#pragma once
// Intake of descriptors: which statements about peers this peer believes.

#include <optional>

#include "overlay/membership/membership_filter.h"
#include "overlay/membership/rejoin.h"
#include "overlay/output.h"
#include "overlay/tables/peer_tables.h"

namespace gw::overlay {

// The only way a descriptor gets into a table. Descriptors arrive from peers that may lie or may pass on lies, so nothing is stored that
// its owner did not sign for this grid, and in a private grid nothing of a peer that is no member.
//
// Checking a signature costs more than everything else here, so a descriptor that no table wants is dropped unchecked. A peer that sends
// a wrong descriptor *of itself* is reported; one that passes on a wrong descriptor is not, since it need not have checked it.
class DescriptorIntake {
 public:
  struct Environment {  // outlives it
    const GridId& grid;
    const PeerId& self;
    const Signer& signer;
    const std::optional<MembershipFilter>& membership_filter;  // none: an open grid
    PeerTables& tables;
    Rejoin& rejoin;
  };
  explicit DescriptorIntake(const Environment& environment) : environment_(environment) {}

  // Stores it if a table wants it and its owner signed it.
  void learn(Time now, const wire::pb::Descriptor& message, Output& out);
  void learn(Time now, const Descriptor& descriptor, Output& out);
  // The descriptor that a peer sent of itself; always stored, since the peer is certainly there. Nothing: it was wrong, and is reported.
  std::optional<Descriptor> learn_sender(Time now, const PeerId& from, const wire::pb::Descriptor& message, Output& out);

  bool is_admitted(Time now, const PeerId& peer) const;
  bool is_genuine(Time now, const Descriptor& descriptor) const;

 private:
  void store(Time now, const Descriptor& descriptor, Output& out);

  const Environment environment_;
};

}  // namespace gw::overlay
