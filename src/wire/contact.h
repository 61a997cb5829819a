#pragma once
// Where a peer is, as it says itself.

#include <string>
#include <vector>

#include "base/reach.h"
#include "wire/names.h"

namespace gw::wire {

// An open peer that another one holds a connection to: whoever cannot dial that one asks here.
struct Anchor {
  PeerId peer;
  std::string address;  // numbers only: nobody asks for names to reach somebody else

  auto operator<=>(const Anchor&) const = default;
};

// What one needs to know to reach a peer; docs/design/006-connectivity.md.
struct Contact {
  std::string address;  // host:port. Empty: nowhere. Of a peer that is not open: where it is in its own network
  Reach reach = Reach::unknown;
  std::vector<Anchor> anchors;  // at most kMaxAnchors

  auto operator<=>(const Contact&) const = default;
};

}  // namespace gw::wire
