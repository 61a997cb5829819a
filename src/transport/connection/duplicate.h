#pragma once
// Which of two connections to the same peer stays.

#include <cstdint>

#include "transport/ways.h"

namespace gw::transport {

struct Candidate {
  const PeerId& dialer;
  std::uint64_t boot;  // of the other peer
  Way way;
};

// Whether a new connection replaces the present one. Both sides decide alike without a message, also when each has dialled the other at the
// same moment: then the connection dialled by the smaller id stays. A peer that dials again has lost its earlier connection, and a later
// boot of a peer has lost all. A relayed connection is replaced by any better one.
inline bool replaces(const Candidate& fresh, const Candidate& kept) {
  if (fresh.boot != kept.boot) return fresh.boot > kept.boot;
  if (is_better(fresh.way, kept.way) || is_better(kept.way, fresh.way)) return is_better(fresh.way, kept.way);
  return fresh.dialer <= kept.dialer;
}

}  // namespace gw::transport
