#pragma once
// Which of two connections to the same peer stays.

#include <cstdint>

#include "transport/ways.h"

namespace gw::transport {

struct Candidate {
  const PeerId& dialer;
  std::uint64_t boot;  // which life of the other peer it belongs to
  Way way;
};

// Whether a new connection takes the place of the one we have. Both sides decide alike without a word, also when each has dialled the
// other at the same moment: then the one dialled by the smaller id stays. Whoever dials again has lost the one before, and a later life
// of a peer has lost everything. A relay is only for as long as there is nothing better.
inline bool replaces(const Candidate& fresh, const Candidate& kept) {
  if (fresh.boot != kept.boot) return fresh.boot > kept.boot;
  if (is_better(fresh.way, kept.way) || is_better(kept.way, fresh.way)) return is_better(fresh.way, kept.way);
  return fresh.dialer <= kept.dialer;
}

}  // namespace gw::transport
