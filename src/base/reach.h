#pragma once
// Whether a peer can be dialled.

#include <cstdint>

namespace gw {

// As the peer itself has found out by having others dial it; numbered as in wire::pb::Descriptor::Reach.
enum class Reach : std::uint8_t {
  unknown,
  open,        // others have dialled it
  outbound,    // nobody can: it dials others
  relay_only,  // nor does it get anywhere but to its anchors
};

}  // namespace gw
