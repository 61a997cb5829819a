#pragma once
// Which life of each peer speaks.

#include <cstdint>
#include <map>

#include "job/names.h"

namespace gw::peer {

using job::PeerId;
using job::Time;

// Remembers the highest boot number heard from each peer: what an older life said is void, and a newer one means the older is over.
//
// Limit: Config::peers; then the one not heard from for longest is forgotten. A value without threads.
class BootNumbers {
 public:
  struct Config {
    std::size_t peers = 4096;
  };
  enum class Change : std::uint8_t { older, same, newer };

  explicit BootNumbers(Config config) : config_(config) {}

  // Any message of this peer. newer: whatever it had promised before is void.
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
