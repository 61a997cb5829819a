#pragma once
// From whom a message came, and when.

#include <cstdint>
#include <vector>

#include "overlay/output.h"

namespace gw::overlay {

// The last peers heard of, for people and for whoever must know that somebody is there before any table has taken it up.
//
// Limit: Config::peers; who was silent longest goes first.
class LastSeen {
 public:
  struct Config {
    std::size_t peers = 256;
  };

  explicit LastSeen(const Config& config) : config_(config) {}

  // True: for the first time, or again after forget().
  bool on_seen(Time now, const PeerId& peer);
  // True: it was here.
  bool forget(const PeerId& peer);
  // kNever: not at all.
  Time last(const PeerId& peer) const;
  // Not since that time.
  std::vector<PeerId> silent_since(Time when) const;
  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    PeerId peer;
    Time at;
  };

  std::size_t index_of(const PeerId& peer) const;
  bool is_at(std::size_t index, const PeerId& peer) const;
  void remove_at(std::size_t index);

  const Config config_;
  std::vector<Entry> entries_;        // by peer
  std::vector<std::uint64_t> heads_;  // how their ids begin: a search stays within a few lines of the processor's cache
};

}  // namespace gw::overlay
