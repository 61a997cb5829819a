#pragma once
// Where a peer is, as it says itself.

#include <string>
#include <vector>

#include "base/reach.h"
#include "wire/names.h"

namespace gw::wire {

// An open peer that another peer keeps a connection to. A peer that cannot dial the other one asks its anchor.
struct Anchor {
  PeerId peer;
  std::string address;  // numeric only: a stranger's anchor must not cause name lookups

  auto operator<=>(const Anchor&) const = default;
};

// How to reach a peer; docs/design/006-connectivity.md.
struct Contact {
  std::string address;  // host:port; empty: none. For a peer that is not open: its address in its own network
  Reach reach = Reach::unknown;
  std::vector<Anchor> anchors;  // at most kMaxAnchors

  auto operator<=>(const Contact&) const = default;
};

}  // namespace gw::wire
