#pragma once
// The slots of a job that is placed by hash.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "base/hash.h"
#include "job/names.h"

namespace gw::job {

// Each slot of the job has a number, and a key: the hash of the manifest, the number and a salt. The overlay finds the peer that answers
// for the key, or one near it with a free slot. That peer is asked for as many slots as keys have led to it. If it refuses, the slot takes
// the next salt; after Config::salts of them it is one of those that are searched near home.
//
// Invariant: each slot is free, looked up, located at a peer, placed there, or given up. Limits: Config::at_once lookups; as many slots as
// the manifest wants. Costs: O(log slots) per slot. A value without I/O, clock or threads.
class HashPlaces {
 public:
  struct Config {
    std::uint32_t salts = 3;  // besides the key without one
    std::size_t at_once = 32;
    Time patience = std::chrono::milliseconds(300);  // with lookups, when others have found peers
  };
  struct Lookup {
    std::uint32_t slot;
    Hash256 key;
  };

  HashPlaces(const Config& config, const Hash256& manifest, std::uint32_t slots);

  // The keys to look up now, for a job that lacks `wanted` slots.
  std::vector<Lookup> next_lookups(std::uint32_t wanted);
  // The answer to a lookup. None: no peer near the key has a free slot, with any salt of the overlay, and the slot is given up.
  // `usable`: the peer may be asked; else the slot takes the next salt.
  void on_located(Time now, std::uint32_t slot, const std::optional<PeerId>& peer, bool usable);
  // The peers that were found and are to be asked now, with the number of slots: when no lookup is under way, or some time after the first
  // one has found a peer.
  std::map<PeerId, std::uint32_t> take_located(Time now);
  // The peer was asked, and has lent `slots` slots, or none.
  void on_answer(const PeerId& peer, std::uint32_t slots);
  // All peers that have not answered will not.
  void give_up_silent();
  bool waits_for_answers() const { return !asked_.empty(); }
  // The claim at the peer has ended: its slots are free again.
  void on_lost(const PeerId& peer);

  // Slots that are neither placed nor given up.
  std::uint32_t pending() const;

 private:
  struct Entry {
    std::uint32_t slot;
    std::uint32_t salt;
  };
  using Slots = std::vector<Entry>;

  Hash256 key_of(const Entry& entry) const;
  void take_next_salt(const Entry& entry);

  const Config config_;
  const Hash256 manifest_;
  std::set<std::uint32_t> free_;
  std::map<std::uint32_t, std::uint32_t> again_;      // to be looked up with another salt
  std::map<std::uint32_t, std::uint32_t> looked_up_;  // and their salts
  std::map<PeerId, Slots> located_, asked_, placed_;
  Time located_since_{0};
};

}  // namespace gw::job
