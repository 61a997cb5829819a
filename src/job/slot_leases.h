#pragma once
// The slots of this peer, and to whom they are lent.

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "job/names.h"

namespace gw::job {

// Grants slots: reserve, claim, renew, release; every grant ends by itself unless it is renewed.
//
// Invariant: reserved and claimed slots together never exceed Config::slots. At most one grant per job. A value without threads.
class SlotLeases {
 public:
  struct Config {
    std::uint32_t slots = 4;
    Time offer_for = std::chrono::seconds(3);   // a reservation that nobody claims
    Time lease_for = std::chrono::seconds(60);  // a claim that nobody renews: also how long a job goes on without its home
  };
  struct Grant {
    PeerId home;
    JobId job;
    std::uint64_t claim;
    std::uint32_t slots;
    bool claimed = false;
    Time expires;
  };

  // `boot` makes claims of different lives of the peer different.
  SlotLeases(Config config, std::uint64_t boot) : config_(config), next_claim_(boot << 32) {}

  std::uint32_t slots() const { return config_.slots; }
  std::uint32_t free_slots() const;
  // Sets aside up to `wanted` slots. nullptr: none are free, or the job has claimed some already. Asked again, the same reservation.
  const Grant* reserve(Time now, const PeerId& home, const JobId& job, std::uint32_t wanted);
  // Takes or renews. nullptr: there is no such grant.
  const Grant* claim(Time now, const PeerId& home, const JobId& job, std::uint64_t claim);
  const Grant* find(const JobId& job) const;
  bool release(const PeerId& home, const JobId& job, std::uint64_t claim);
  // From now on there are so many. Ends grants that do not fit any more, the latest first, and `also` those of these jobs; returns them.
  std::vector<Grant> resize(std::uint32_t slots, const std::vector<JobId>& also);

  // Ends what nobody renewed and returns it.
  std::vector<Grant> expire(Time now);
  Time next_deadline() const;

 private:
  Config config_;
  std::uint64_t next_claim_;
  std::map<JobId, Grant> grants_;
};

}  // namespace gw::job
