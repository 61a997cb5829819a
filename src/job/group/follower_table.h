#pragma once
// What the leader of a group knows of the logs of the others.

#include <cstdint>
#include <map>
#include <vector>

#include "job/group/group_log.h"

namespace gw::job {

// One row per member that is not the leader, and per learner: a peer that gets the log and does not count until it is a member.
// A value without threads.
class FollowerTable {
 public:
  struct Follower {
    bool learner = false;
    std::uint64_t next = 1;   // the first entry that is not known to be there
    std::uint64_t match = 0;  // the log is durable there up to this entry
    Time heard{0};
    Time send_at{0};         // the next message, unless entries come before
    bool in_flight = false;  // entries were sent and not answered: nothing more goes before send_at
    Time state_again{0};     // a state was sent, and is not sent again before
  };

  // The rows become those of the members; learners that have become members are counted from now on. New rows begin after `last`.
  void set_members(Time now, const PeerId& self, const GroupMembers& members, std::uint64_t last);
  void add_learner(Time now, const PeerId& peer, std::uint64_t last);
  void remove_learner(const PeerId& peer);
  void clear() { rows_.clear(); }

  Follower* find(const PeerId& peer);
  const Follower* find(const PeerId& peer) const;
  std::map<PeerId, Follower>& all() { return rows_; }
  // When the first of them is to be sent something; kNever: there are none.
  Time next_send() const;

 private:
  std::map<PeerId, Follower> rows_;
};

}  // namespace gw::job
