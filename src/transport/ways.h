#pragma once
// By which way a peer is reached, and what to try in which order.

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "base/reach.h"
#include "transport/identity.h"

namespace gw::transport {

enum class Way : std::uint8_t {
  direct,   // one of us has dialled the other
  reverse,  // they have dialled us because we had them asked to, or the other way round
  relayed,  // through somebody who sees only ciphertext
};

std::string_view name(Way way);

// Whether a connection by way `a` should take the place of one by way `b`. Both ends know alike whether it is relayed.
inline bool is_better(Way a, Way b) { return a != Way::relayed && b == Way::relayed; }

// What is known when a connection to somebody is wanted.
struct Situation {
  Reach mine = Reach::unknown;
  Reach theirs = Reach::unknown;
  bool has_address = false;   // it names one
  bool has_anchors = false;   // it names some
  bool own_anchors = false;   // we have some, who may know it
  std::optional<Way> worked;  // the last time
};

struct Step {
  Way way;
  std::chrono::milliseconds after;  // the beginning

  auto operator<=>(const Step&) const = default;
};

// The attempts to make, in the order of their beginning; each begins although the ones before are still under way. Empty: there is no way.
// The table is in docs/design/006-connectivity.md. Pure.
std::vector<Step> plan_ways(const Situation& situation);

// The attempts that may lead away from a relay. Also what a peer that is not open names as its address is tried: it may be in our network.
std::vector<Step> plan_upgrade(const Situation& situation);

// Which way has led to whom. Limit: as many peers as it was told; who was met longest ago is forgotten.
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
