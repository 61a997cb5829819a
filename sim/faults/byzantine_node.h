#pragma once
// A peer that breaks the protocol: it sends the right messages with one field wrong.

#include <cstdint>
#include <vector>

#include "fake_worker.h"
#include "faults/message_mutator.h"
#include "wire/peer.pb.h"
#include "world_signer.h"

namespace gw::sim {

// Stands between a normal peer and the network. In each run it lies in some of the roles a peer can have. It signs changed rosters and
// grants again, since it has the leader's key. A value of the simulation; its behaviour follows from its seed.
class ByzantineNode {
 public:
  enum class Role : std::uint8_t { home, host, keeper, worker };

  // crafty: lies as home and as keeper, in the ways that once worked (issue 14), which hardly any random change of a field finds.
  enum class Style : std::uint8_t { random, crafty };

  ByzantineNode(const PublicKey& key, Rng rng, Style style);

  bool lies_as(Role role) const { return (roles_ & mask_of(role)) != 0; }
  // Remembers a message that the node has sent or received: its values may appear in later lies.
  void learn(const Bytes& message);
  // The messages that leave instead of a message of the peer inside.
  std::vector<Bytes> distort(const wire::pb::PeerMessage& message, Bytes encoded);
  // For the role worker: changes a frame. False: the frame is unchanged. The result may not be a frame any more.
  bool distort(const WorkerOutput& output, Bytes& frame, Bytes& image);

 private:
  static unsigned mask_of(Role role) { return 1u << static_cast<unsigned>(role); }
  bool lies_in(const wire::pb::PeerMessage& message) const;
  bool craft(wire::pb::PeerMessage& message);
  Bytes sign_again(const wire::pb::PeerMessage& original, Bytes mutated) const;

  const WorldSigner signer_;
  const PublicKey key_;
  Rng rng_;
  MessageMutator mutator_;
  const Style style_;
  unsigned roles_;
  std::uint64_t one_in_;  // it lies in one of so many messages
};

}  // namespace gw::sim
