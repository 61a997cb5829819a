#pragma once
// A group of members with disks and a network that do at once, or when a test says so, what they are told.

#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "job/group/group_member.h"

namespace gw::job::test {

class FakeGroup {
 public:
  static PeerId peer(std::uint8_t number) {
    PeerId id;
    id.hash.bytes[0] = number;
    return id;
  }

  explicit FakeGroup(std::uint8_t members, GroupMember::Config config = {}) : config_(config) {
    GroupMembers all;
    for (std::uint8_t number = 1; number <= members; ++number) all.insert(peer(number));
    for (std::uint8_t number = 1; number <= members; ++number) add(number, all);
  }
  // A peer that has nothing yet.
  void add(std::uint8_t number, GroupMembers members = {}) {
    members_.emplace(number,
                     GroupMember(config_, peer(number), {.log = GroupLog({.at = {}, .members = std::move(members)})}, now_, Rng(number)));
  }

  GroupMember& at(std::uint8_t number) { return members_.at(number); }
  const std::string& state(std::uint8_t number) { return states_[number]; }
  Time now() const { return now_; }

  // The peer is cut off: nothing reaches it, nothing comes from it.
  void cut(std::uint8_t number) { cut_.insert(number); }
  void heal() { cut_.clear(); }
  // Its disk does nothing until it works again.
  void hold_disk(std::uint8_t number) { held_.insert(number); }
  void release_disk(std::uint8_t number) {
    held_.erase(number);
    GroupOutput out;
    at(number).on_durable(now_, writes_[number], out);
    take(number, std::move(out));
  }

  void take(std::uint8_t number, GroupOutput out) {
    for (const GroupWrite& write : out.writes) {
      writes_[number] = write.number;
      if (write.state) states_[number] = write.state->content;
    }
    for (GroupSend& send : out.sends) {
      if (auto* state = std::get_if<InstallState>(&send.message.kind)) state->content = states_[number];
      (send.after_write > 0 ? waiting_[number] : sent_).push_back({number, std::move(send)});
    }
    if (!held_.contains(number) && !out.writes.empty()) {
      GroupOutput next;
      at(number).on_durable(now_, writes_[number], next);
      take(number, std::move(next));
    }
    if (!held_.contains(number)) {
      for (Sent& sent : waiting_[number]) sent_.push_back(std::move(sent));
      waiting_[number].clear();
    }
    apply(number);
  }

  // Delivers everything that is under way, and what comes of it.
  void deliver() {
    while (!sent_.empty()) {
      const auto [from, send] = std::move(sent_.front());
      sent_.pop_front();
      const std::uint8_t to = send.to.hash.bytes[0];
      if (cut_.contains(from) || cut_.contains(to) || !members_.contains(to)) continue;
      GroupOutput out;
      at(to).on_message(now_, peer(from), send.message, out);
      take(to, std::move(out));
    }
  }

  // Lets time pass, in steps.
  void run(Time duration) {
    const Time until = now_ + duration;
    while (now_ < until) {
      now_ += std::chrono::milliseconds(50);
      for (auto& [number, member] : members_) {
        if (member.next_deadline() > now_) continue;
        GroupOutput out;
        member.on_tick(now_, out);
        take(number, std::move(out));
      }
      deliver();
    }
  }

  Result<LogPosition> propose(std::uint8_t number, std::string content) {
    GroupOutput out;
    auto at = this->at(number).propose(now_, std::move(content), out);
    take(number, std::move(out));
    deliver();
    return at;
  }
  Status change(std::uint8_t number, std::initializer_list<std::uint8_t> numbers) {
    GroupMembers members;
    for (const std::uint8_t member : numbers) members.insert(peer(member));
    GroupOutput out;
    const Status changed = at(number).change_members(now_, std::move(members), out);
    take(number, std::move(out));
    deliver();
    return changed;
  }
  void send(std::uint8_t from, std::uint8_t to, const GroupMessage& message) {
    GroupOutput out;
    at(to).on_message(now_, peer(from), message, out);
    take(to, std::move(out));
    deliver();
  }

  // The leader of the highest term that is not cut off; 0: none.
  std::uint8_t leader() {
    std::uint8_t best = 0;
    for (auto& [number, member] : members_)
      if (member.leads() && !cut_.contains(number) && (best == 0 || member.term() > at(best).term())) best = number;
    return best;
  }

 private:
  struct Sent {
    std::uint8_t from;
    GroupSend send;
  };

  void apply(std::uint8_t number) {
    GroupMember& member = at(number);
    for (std::uint64_t index = member.applied() + 1; index <= member.committed(); ++index) {
      states_[number] += member.log().at(index).content;
      member.on_applied(index);
    }
  }

  const GroupMember::Config config_;
  Time now_{0};
  std::map<std::uint8_t, GroupMember> members_;
  std::map<std::uint8_t, std::string> states_;
  std::map<std::uint8_t, std::uint64_t> writes_;
  std::map<std::uint8_t, std::deque<Sent>> waiting_;  // for the disk
  std::deque<Sent> sent_;
  std::set<std::uint8_t> cut_;
  std::set<std::uint8_t> held_;
};

}  // namespace gw::job::test
