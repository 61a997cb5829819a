#pragma once
// The boot number of each peer.

#include <cstdint>
#include <map>

#include "job/names.h"

namespace gw::peer {

using job::PeerId;
using job::Time;

// Remembers the highest boot number received from each peer. A message of an older boot is refused; a newer boot means that the older one
// has ended.
//
// Limit: Config::peers; beyond it the least recently seen peer is forgotten. A value without threads.
class BootNumbers {
 public:
  struct Config {
    std::size_t peers = 4096;
  };
  enum class Change : std::uint8_t { older, same, newer };

  explicit BootNumbers(Config config) : config_(config) {}

  // Called for every message of the peer. newer: everything its earlier boot had promised is void.
  Change on_seen(Time now, const PeerId& from, std::uint64_t boot);
  std::size_t size() const { return boot_numbers_.size(); }

 private:
  struct Entry {
    std::uint64_t boot = 0;
    Time last_seen{0};
  };

  const Config config_;
  std::map<PeerId, Entry> boot_numbers_;
};

}  // namespace gw::peer
