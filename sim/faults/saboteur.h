#pragma once
// A peer that joins jobs and then fails its duties without breaking the protocol.

#include <cstdint>
#include <set>
#include <vector>

#include "base/bytes.h"
#include "base/rng.h"
#include "wire/peer.pb.h"

namespace gw::sim {

// Stands between a normal peer and the network until the end of the run. It answers pings, and its statements about its threads cannot be
// proved wrong; still every job has to end with the right result. A value of the simulation.
class Saboteur {
 public:
  enum class Habit : std::uint8_t {
    idles,             // takes threads and tasks, sends nothing of what they do, and says that they go on
    never_keeps,       // takes images and determinants and acknowledges nothing
    forgets,           // and says each time that it has nothing
    blames,            // says of every thread that it cannot run
    refuses,           // says of every thread that it does not take it
    suspends,          // takes every thread, and gives it back at once
    ends_twice,        // says of every thread that ends that it ends once more
    forges,            // sends code and inputs with wrong bytes
    withholds,         // announces code and inputs, and sends nothing
    lacks,             // announces them, and says that it lacks them
    stops_searches,    // passes no search on
    repeats_searches,  // passes each on twice
    declines,          // offers no slots, although it has some
    falls_silent       // offers slots, and says nothing when they are claimed
  };

  enum class Part : std::uint8_t { any, keeper, idler, seeder, relay };

  Saboteur(Rng rng, Part part);

  Habit habit() const { return habit_; }
  std::vector<Bytes> replace(const wire::pb::PeerMessage& message, Bytes encoded);

 private:
  // Whether the message brings a chunk that this peer has announced. The parts of images are not announced.
  bool brings_announced_chunk(const wire::pb::JobMessage& message) const;

  Habit habit_;
  std::set<std::uint64_t> announced_;  // names of chunks
};

}  // namespace gw::sim
