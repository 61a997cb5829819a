#include "job/group/follower_table.h"

#include <algorithm>

namespace gw::job {

void FollowerTable::set_members(Time now, const PeerId& self, const GroupMembers& members, std::uint64_t last) {
  std::erase_if(rows_, [&](const auto& row) { return !members.contains(row.first) && !row.second.learner; });
  for (const PeerId& peer : members)
    if (peer != self) rows_.try_emplace(peer, Follower{.next = last + 1, .heard = now, .send_at = now}).first->second.learner = false;
}

void FollowerTable::add_learner(Time now, const PeerId& peer, std::uint64_t last) {
  rows_.try_emplace(peer, Follower{.learner = true, .next = last + 1, .heard = now, .send_at = now});
}

void FollowerTable::remove_learner(const PeerId& peer) {
  if (const auto found = rows_.find(peer); found != rows_.end() && found->second.learner) rows_.erase(found);
}

FollowerTable::Follower* FollowerTable::find(const PeerId& peer) {
  const auto found = rows_.find(peer);
  return found == rows_.end() ? nullptr : &found->second;
}

const FollowerTable::Follower* FollowerTable::find(const PeerId& peer) const {
  const auto found = rows_.find(peer);
  return found == rows_.end() ? nullptr : &found->second;
}

Time FollowerTable::next_send() const {
  Time next = kNever;
  for (const auto& [peer, follower] : rows_) next = std::min(next, follower.send_at);
  return next;
}

}  // namespace gw::job
