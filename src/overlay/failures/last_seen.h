#pragma once
// The peers that have sent messages, and when.

#include <cstdint>
#include <vector>

#include "overlay/output.h"

namespace gw::overlay {

// The most recent senders, for display and for machines that must know a live peer before any table has it.
//
// Limit: Config::peers; the peer that was silent longest is forgotten.
class LastSeen {
 public:
  struct Config {
    std::size_t peers = 256;
  };

  explicit LastSeen(const Config& config) : config_(config) {}

  // True: the peer is new, or was forgotten.
  bool on_seen(Time now, const PeerId& peer);
  // True: the peer was known.
  bool forget(const PeerId& peer);
  // kNever: never.
  Time last(const PeerId& peer) const;
  // Peers that have not been seen since that time.
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
