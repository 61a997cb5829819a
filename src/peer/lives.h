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
class Lives {
 public:
  struct Config {
    std::size_t peers = 4096;
  };
  enum class Heard : std::uint8_t { old_life, same_life, new_life };

  explicit Lives(Config config) : config_(config) {}

  // Any message of this peer. new_life: whatever it had promised before is void.
  Heard on_seen(Time now, const PeerId& from, std::uint64_t boot);
  std::size_t size() const { return lives_.size(); }

 private:
  struct Life {
    std::uint64_t boot = 0;
    Time heard{0};
  };

  const Config config_;
  std::map<PeerId, Life> lives_;
};

}  // namespace gw::peer
