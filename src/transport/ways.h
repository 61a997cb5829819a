#pragma once
// The ways to reach a peer, and the order in which they are tried.

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "base/reach.h"
#include "transport/identity/identity.h"

namespace gw::transport {

enum class Way : std::uint8_t {
  direct,   // one side has dialled the other
  reverse,  // one side has dialled because the other asked it to, through an anchor
  relayed,  // through a peer that sees only ciphertext
};

std::string_view name(Way way);

// Whether a connection by way `a` should replace one by way `b`. Both ends know whether a connection is relayed, so they decide alike.
inline bool is_better(Way a, Way b) { return a != Way::relayed && b == Way::relayed; }

// The facts known when a connection to a peer is wanted.
struct Situation {
  Reach mine = Reach::unknown;
  Reach theirs = Reach::unknown;
  bool has_address = false;   // the peer publishes an address
  bool has_anchors = false;   // the peer names anchors
  bool own_anchors = false;   // this peer has anchors, which may know the other one
  std::optional<Way> worked;  // the way that worked last
};

struct Step {
  Way way;
  std::chrono::milliseconds after;  // delay from the beginning of the plan

  auto operator<=>(const Step&) const = default;
};

// The attempts to make, in the order of their start; an attempt starts even if earlier ones are still under way. Empty: there is no way.
// The table is in docs/design/006-connectivity.md. Pure.
std::vector<Step> plan_ways(const Situation& situation);

// The attempts that may replace a relayed connection. The address of a peer that is not open is tried too: it may be in the same network.
std::vector<Step> plan_upgrade(const Situation& situation);

// Remembers the way that worked for each peer. Limit: the given number of peers; the least recently used is forgotten.
class WayMemory {
 public:
  explicit WayMemory(std::size_t limit) : limit_(limit) {}

  void remember(const PeerId& peer, Way way);
  void forget(const PeerId& peer) { entries_.erase(peer); }
  std::optional<Way> recall(const PeerId& peer) const;

 private:
  struct Entry {
    Way way;
    std::uint64_t turn;
  };
  const std::size_t limit_;
  std::uint64_t turns_ = 0;
  std::map<PeerId, Entry> entries_;
};

}  // namespace gw::transport
