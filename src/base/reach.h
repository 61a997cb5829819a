#pragma once
// Reachability: whether other peers can dial a peer.

#include <cstdint>

namespace gw {

// Whether other peers can dial a peer, as it has found out by dial-backs; numbered as in wire::pb::Descriptor::Reach.
enum class Reach : std::uint8_t {
  unknown,
  open,        // other peers have dialled it
  outbound,    // no other peer can dial it: it dials others
  relay_only,  // its own dials reach only its anchors
};

}  // namespace gw
