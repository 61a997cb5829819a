#pragma once
// One member of the group of a job: agrees with the others on a leader and on the leader's log.
//
// The problem. The state of a job has to survive the loss of its home, and at no time may two peers that both believe to be home change
// it. Design 022 says what the log contains and what a leader may do with it.
//
// The method is Raft as published (Ongaro, 2014): a leader per term, elected by a majority of votes; entries go from the leader to all and
// are committed when a majority has them on disk; a member votes only for a candidate whose log is at least as new as its own, so every
// leader has all committed entries. With the extensions of the thesis: a trial of an election before it, so that a member that was cut off
// does not disturb the others (9.6); no vote while a leader is heard (4.2.3); changes of one member at a time, which the leader begins only
// after it has committed an entry of its own term (4.1 and the correction of 2015); learners that catch up before they count (4.2.1); a
// leader that hears no majority steps down (6.2); members that lag too far get the whole state (7).
//
// Differences. Entries of one turn are one entry. The state is not part of this class: its owner applies what is committed, reports it by
// on_applied(), and fills InstallState with the state at that position. The leader counts itself only when its own disk has the entry.

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "base/rng.h"
#include "job/group/follower_table.h"
#include "job/group/group_log.h"
#include "job/group/group_message.h"

namespace gw::job {

// Invariants: the term never falls; at most one vote per term; what was answered as durable is never truncated unless its leader has lost
// it; a committed entry is never replaced. Inputs may come in any order, twice, or late; a member that lies can stop the group and cannot
// end the process of another one.
// Limits: Config. A machine without I/O, clock or threads: its owner drives it and passes on messages of peers that may be members only.
class GroupMember {
 public:
  struct Config {
    Time election = std::chrono::seconds(3);  // a member waits so long for its leader, and up to twice as long
    Time heartbeat = std::chrono::milliseconds(500);
    Time state_retry = std::chrono::seconds(10);  // a state that was not answered is sent again
    std::size_t message_bytes = 1u << 20;         // of the entries in a message; one entry may be larger
    std::size_t log_bytes = 32u << 20;            // that are not applied yet: the leader takes no more
    std::size_t members = 3;
  };
  struct Stored {
    Ballot ballot;
    GroupLog log;  // its base is the position of the stored state
  };
  enum class Role : std::uint8_t { follower, candidate, leader };

  // A member that has stored nothing yet is a learner: its log names no members until the leader has sent them.
  GroupMember(const Config& config, const PeerId& self, Stored stored, Time now, Rng rng);

  // All messages and writes leave in the order in which they are put out.
  void on_tick(Time now, GroupOutput& out);
  void on_message(Time now, const PeerId& from, const GroupMessage& message, GroupOutput& out);
  // The write of this number, and all before it, are durable.
  void on_durable(Time now, std::uint64_t write, GroupOutput& out);
  // The committed entries up to this one are part of the stored state.
  void on_applied(std::uint64_t index);
  // Forgets entries, as far as they are applied. A member that lags behind them gets the whole state.
  void discard(std::uint64_t through);
  Time next_deadline() const;

  // Appends an entry. Kind::not_found: this member does not lead. Kind::overloaded: too much is not committed yet.
  Result<LogPosition> propose(Time now, std::string content, GroupOutput& out);
  // Changes the members by one. Kind::not_found: this member does not lead. Kind::invalid: the change is not one of one member.
  // Kind::overloaded: the change before it, or the first entry of the term, is not committed yet.
  Status change_members(Time now, GroupMembers members, GroupOutput& out);
  // Of the leader: the peer gets the log and does not count. A learner is forgotten when its leader is no leader any more.
  void add_learner(Time now, const PeerId& peer);
  void remove_learner(const PeerId& peer) { followers_.remove_learner(peer); }
  // Whether the peer has everything that is committed.
  bool has_caught_up(const PeerId& peer) const;
  // When the peer answered last, if this member leads and the peer follows it.
  std::optional<Time> last_heard(const PeerId& peer) const;

  Role role() const { return role_; }
  bool leads() const { return role_ == Role::leader; }
  // The leader has committed an entry of its term: all entries of earlier terms that were ever committed are known to be.
  bool is_established() const { return leads() && committed_ >= opening_; }
  const std::optional<PeerId>& leader() const { return leader_; }
  std::uint64_t term() const { return ballot_.term; }
  std::uint64_t committed() const { return committed_; }
  std::uint64_t applied() const { return applied_; }
  const GroupLog& log() const { return log_; }
  const GroupMembers& members() const { return log_.members(); }
  bool is_member() const { return members().contains(self_); }
  // Also a member that is to leave: until that is committed, the others may lack the entry and need it as leader.
  bool may_stand() const { return is_member() || log_.members_at(committed_).contains(self_); }

 private:
  // Elections.
  void begin_election(Time now, Poll poll, GroupOutput& out);
  void on_ask_vote(Time now, const PeerId& from, std::uint64_t term, const AskVote& message, GroupOutput& out);
  void on_vote(Time now, const PeerId& from, std::uint64_t term, const Vote& message, GroupOutput& out);
  void count_votes(Time now, GroupOutput& out);
  void become_leader(Time now, GroupOutput& out);
  void follow(Time now, std::uint64_t term, const std::optional<PeerId>& leader, GroupOutput& out);
  void wait_for_leader(Time now);
  bool hears_leader(Time now) const;
  // Whether these are more than half of the members.
  bool is_majority(const std::set<PeerId>& peers) const;

  // Replication, at the leader.
  void send_log(Time now, const PeerId& to, FollowerTable::Follower& follower, GroupOutput& out);
  void send_log_to_idle(Time now, GroupOutput& out);
  void on_replicated(Time now, const PeerId& from, const Replicated& message, GroupOutput& out);
  void advance_commit(Time now, GroupOutput& out);
  bool hears_majority(Time now) const;
  LogPosition append(Time now, LogEntry entry, GroupOutput& out);
  // And at the others.
  void on_replicate(Time now, const PeerId& from, const Replicate& message, GroupOutput& out);
  // None: the message contradicts what is committed, so its sender lies.
  std::optional<Replicated> take_entries(const Replicate& message, GroupOutput& out);
  std::optional<Replicated> take_state(const InstallState& message, GroupOutput& out);
  void forget_writes_after(std::uint64_t index);

  void put(GroupWrite write, GroupOutput& out);
  void send(const PeerId& to, GroupMessage message, GroupOutput& out) { out.sends.push_back({to, std::move(message)}); }
  void send_after_write(const PeerId& to, GroupMessage message, GroupOutput& out);

  const Config config_;
  const PeerId self_;
  Rng rng_;
  Ballot ballot_;
  GroupLog log_;
  std::uint64_t committed_;
  std::uint64_t applied_;

  Role role_ = Role::follower;
  std::optional<PeerId> leader_;
  Time leader_heard_;  // kNever: not since the start
  Time election_at_{0};

  // Of a candidate.
  Poll poll_ = Poll::trial;
  std::set<PeerId> votes_;

  // Of the leader.
  FollowerTable followers_;
  std::uint64_t opening_ = 0;  // index of its first entry
  Time leads_since_{0};

  // Writes that are under way, and the last entry of the log after each of them.
  struct UnderWay {
    std::uint64_t write;
    std::uint64_t last;
  };
  std::deque<UnderWay> under_way_;
  std::uint64_t writes_ = 0;
  std::uint64_t ballot_write_ = 0;  // the one with the newest ballot
  std::uint64_t durable_;           // the last entry of the present log that is on the disk
};

}  // namespace gw::job
