#pragma once
// The slots of this peer, and to whom they are lent.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "job/lending/lending_rules.h"
#include "job/names.h"

namespace gw::job {

// Whether a claim of a gang is held, as its home says.
struct SlotHold {
  bool held = false;
  std::uint64_t round = 0;  // 0: the job has begun
};

// Grants slots: reserve, claim, renew, release; every grant ends by itself unless it is renewed.
//
// Invariants: reserved and claimed slots together, but for those that are being drained, exceed Config::slots only by *shared* grants:
// those of users that hold less than their part while others hold all slots. The jobs then take turns (FairTurns). A user's grants have no
// more slots than its part, if they are shared; there are at most Config::shared of them. At most one grant per job. A home that held slots
// and used none of them, however that ended, waits for the next as long as it held them, and twice as long each time, so that a stranger
// with job ids of its own does not keep every other home from them.
//
// A gang *holds* slots until it has enough of them (job/home/gang.h). Held slots are taken away for an older job that wants them, and for
// no other: job ids decide between jobs of the same time. They are held for Config::held_for at most, and their home holds no others here
// for as long as it has held them; a home that lost them to another job need not wait. Slots of a job that has begun are never taken this
// way.
//
// Costs: O(grants) per call. They are few: each that is not shared has a slot at least, so there are at most Config::slots of them and
// Config::shared others, besides those that are being drained after the number of slots was lowered. A value without threads.
class SlotLeases {
 public:
  // Limits, set by the owner of this machine, on what the jobs of one other peer hold here at a time. 0: no limit.
  struct Caps {
    PeerId self = {};  // this peer, whose own jobs have no caps
    std::uint32_t slots_per_origin = 0;
    std::uint32_t jobs_per_origin = 0;

    auto operator<=>(const Caps&) const = default;
  };
  struct Config {
    std::uint32_t slots = 4;
    Caps caps = {};
    Time offer_for = std::chrono::seconds(3);   // a reservation that is not claimed
    std::size_t claims_per_origin = 64;         // and reservations
    std::size_t shared = 64;                    // grants beyond the slots; 0: none
    std::size_t waiting = 1024;                 // origins that have to wait
    Time lease_for = std::chrono::seconds(60);  // a claim that is not renewed: also how long a job goes on without its home
    Time held_for = std::chrono::seconds(20);   // held slots, renewed or not; longer than Gang::Config::longest
  };
  struct Grant {
    PeerId home;
    JobId job;
    std::uint64_t claim;
    std::uint32_t slots;
    ConsumerName consumer = {};  // the user whose job it is
    std::uint32_t weight = 1;
    std::uint32_t priority = 0;
    bool shared = false;  // beyond the slots
    bool claimed = false;
    bool used = false;        // a thread was given to it
    bool may_hold = false;    // they were reserved to be held
    bool held = false;        // the job has not begun: an older one may take the slots away
    std::uint64_t round = 0;  // of the last change of `held`
    Time submitted{0};        // since 1970: when the job was, as far as this peer believes it
    Time since;               // was reserved
    Time expires;
    Time draining_until = kNever;  // its threads are leaving, and have to be gone by then; kNever: they stay
  };

  // `boot` makes claims of different boots different.
  SlotLeases(Config config, std::uint64_t boot) : config_(config), next_claim_(boot << 32) {}

  std::uint32_t slots() const { return config_.slots; }
  std::uint32_t free_slots() const;
  struct Wanted {
    PeerId home;
    JobId job;
    std::uint32_t slots;  // at most
    ConsumerName consumer = {};
    std::uint32_t weight = 1;
    std::uint32_t priority = 0;
    Time submitted{0};  // as in Grant
    bool held = false;  // until the job can begin
  };
  // Sets aside up to `slots` slots. If that needs it, held slots of younger jobs are taken away: take_wounded(). nullptr: none are free and
  // the user has its part, or the job has claimed some already. Asked again, the same reservation.
  const Grant* reserve(Time now, const Wanted& wanted);
  void set_weights(const std::function<std::uint32_t(const ConsumerName&)>& weight_of) {
    for (auto& [job, grant] : grants_) grant.weight = weight_of(grant.consumer);
  }
  // Whether slots may be shared from now on. Without it, a user gets its part when claims of others are drained for it: make_room().
  void set_sharing(bool sharing) { sharing_ = sharing; }
  // The latest claim of the user that has most beyond its part, if `wanted` should get slots and cannot share any: it is drained.
  std::optional<Grant> make_room(const Wanted& wanted, Time until);
  // The grants that were taken away from gangs since the last call.
  std::vector<Grant> take_wounded() { return std::exchange(wounded_, {}); }
  // Takes or renews. nullptr: there is no such grant. `slots`: how many are taken of those that were reserved; 0: all.
  const Grant* claim(Time now, const PeerId& home, const JobId& job, std::uint64_t claim, std::uint32_t slots = 0,
                     const SlotHold& hold = {});
  const Grant* find(const JobId& job) const;
  const std::map<JobId, Grant>& grants() const { return grants_; }
  bool release(Time now, const PeerId& home, const JobId& job, std::uint64_t claim);
  // Sets the number of slots. Claims that do not fit any more, the latest first, and `also` those of these jobs, are drained until `until`
  // and returned; reservations end at once.
  std::vector<Grant> resize(std::uint32_t slots, const std::vector<JobId>& also, Time until);
  // Sets the caps. Claims beyond them are drained as above.
  std::vector<Grant> set_caps(const Caps& caps, Time until);
  // Ends the claim of the job, if it has one.
  std::optional<Grant> end(const JobId& job);

  // The home of the job has given it a thread: it need not wait for its next slots.
  void on_used(const JobId& job);
  // Ends a grant that its home has claimed and on which nothing has run since `since`, and lets the home wait before the next one.
  std::optional<Grant> end_unused(Time now, const JobId& job, Time since);

  // Ends the grants that were not renewed in time and returns them.
  std::vector<Grant> expire(Time now);
  Time next_deadline() const;

 private:
  struct Room {
    std::uint32_t slots = 0;  // for the job now
    std::uint32_t free = 0;   // of these
  };
  Room room_now(const Wanted& wanted) const;
  void wound_for(const Wanted& wanted);
  std::size_t shared_grants() const;
  // The slots that a user of this weight may hold, while users of the weight `all` together, itself included, compete.
  std::uint32_t part_of(std::uint32_t weight, std::uint64_t all) const;
  // The weights of all users that hold slots, and of this one.
  std::uint64_t weights_with(const ConsumerName& consumer, std::uint32_t weight) const;
  // Slots of the user's grants of at least this priority.
  std::uint32_t held_by_user(const ConsumerName& consumer, std::uint32_t priority) const;
  // How many more slots the jobs of this origin may get; 0 also if they may not be one more.
  std::uint32_t room_for(const PeerId& origin) const;
  bool beyond_caps(const PeerId& origin) const;
  void drain(const JobId& job, Time until, std::vector<Grant>& leaving);
  void let_wait(Time now, const PeerId& origin, Time held);
  void let_rest(Time now, const PeerId& origin, Time held);
  void on_unused(Time now, const Grant& grant) {
    grant.held ? let_rest(now, grant.home, now - grant.since) : let_wait(now, grant.home, now - grant.since);
  }

  Config config_;
  bool sharing_ = true;
  std::uint64_t next_claim_;
  std::map<JobId, Grant> grants_;
  struct Wait {
    std::uint32_t times = 0;  // slots were not used
    Time until{0};
  };
  std::map<PeerId, Wait> waits_;  // origins that reserve slots and do not use them
  std::map<PeerId, Time> rests_;  // origins that have held slots, and until when they hold no others
  std::vector<Grant> wounded_;
};

}  // namespace gw::job
