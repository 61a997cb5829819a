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
  // What the owner of this machine allows the jobs of one other peer to hold here at a time. 0: no limit.
  struct Caps {
    PeerId self = {};  // this peer, whose own jobs have no caps
    std::uint32_t slots_per_origin = 0;
    std::uint32_t jobs_per_origin = 0;

    auto operator<=>(const Caps&) const = default;
  };
  struct Config {
    std::uint32_t slots = 4;
    Caps caps = {};
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

  // `boot` makes claims of different boots different.
  SlotLeases(Config config, std::uint64_t boot) : config_(config), next_claim_(boot << 32) {}

  std::uint32_t slots() const { return config_.slots; }
  std::uint32_t free_slots() const;
  // Sets aside up to `wanted` slots. nullptr: none are free, or the job has claimed some already. Asked again, the same reservation.
  const Grant* reserve(Time now, const PeerId& home, const JobId& job, std::uint32_t wanted);
  // Takes or renews. nullptr: there is no such grant.
  const Grant* claim(Time now, const PeerId& home, const JobId& job, std::uint64_t claim);
  const Grant* find(const JobId& job) const;
  const std::map<JobId, Grant>& grants() const { return grants_; }
  bool release(const PeerId& home, const JobId& job, std::uint64_t claim);
  // From now on there are so many. Ends grants that do not fit any more, the latest first, and `also` those of these jobs; returns them.
  std::vector<Grant> resize(std::uint32_t slots, const std::vector<JobId>& also);
  // From now on these caps hold. Ends grants beyond them, the latest first, and returns them.
  std::vector<Grant> set_caps(const Caps& caps);

  // Ends what nobody renewed and returns it.
  std::vector<Grant> expire(Time now);
  Time next_deadline() const;

 private:
  // How many more slots the jobs of this origin may get; 0 also if they may not be one more.
  std::uint32_t room_for(const PeerId& origin) const;
  bool beyond_caps(const PeerId& origin) const;

  Config config_;
  std::uint64_t next_claim_;
  std::map<JobId, Grant> grants_;
};

}  // namespace gw::job
