#include "job/group/group_member.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/planted_bug.h"
#include "base/reached.h"

namespace gw::job {
namespace {

// No group comes so far; a number beyond it comes from a member that lies, and adding to it could begin at zero again.
constexpr std::uint64_t kMostNumber = std::uint64_t{1} << 62;

bool is_plausible(const LogPosition& at) { return at.term <= kMostNumber && at.index <= kMostNumber; }

bool is_plausible(const GroupMessage& message) {
  if (message.term > kMostNumber) return false;
  if (const auto* ask = std::get_if<AskVote>(&message.kind)) return is_plausible(ask->last);
  if (const auto* entries = std::get_if<Replicate>(&message.kind)) return is_plausible(entries->before);
  if (const auto* state = std::get_if<InstallState>(&message.kind)) return is_plausible(state->at.at);
  return true;
}

}  // namespace

GroupMember::GroupMember(const Config& config, const PeerId& self, Stored stored, Time now, Rng rng)
    : config_(config),
      self_(self),
      rng_(rng),
      ballot_(std::move(stored.ballot)),
      log_(std::move(stored.log)),
      committed_(log_.base().at.index),
      applied_(committed_),
      leader_heard_(kNever),
      durable_(log_.last().index) {
  wait_for_leader(now);
}

Time GroupMember::next_deadline() const {
  if (leads()) return followers_.next_send();
  return may_stand() ? election_at_ : kNever;
}

void GroupMember::on_tick(Time now, GroupOutput& out) {
  if (leads()) {
    if (!hears_majority(now)) {
      GW_REACHED("group: a leader without a majority stepped down");
      return follow(now, ballot_.term, std::nullopt, out);
    }
    for (auto& [peer, follower] : followers_.all())
      if (follower.send_at <= now) send_log(now, peer, follower, out);
    return;
  }
  if (may_stand() && election_at_ <= now) begin_election(now, Poll::trial, out);
}

void GroupMember::on_message(Time now, const PeerId& from, const GroupMessage& message, GroupOutput& out) {
  if (!is_plausible(message)) return;
  if (const auto* ask = std::get_if<AskVote>(&message.kind)) return on_ask_vote(now, from, message.term, *ask, out);
  if (const auto* vote = std::get_if<Vote>(&message.kind)) return on_vote(now, from, message.term, *vote, out);
  const auto* replicated = std::get_if<Replicated>(&message.kind);
  if (message.term < ballot_.term) {  // a leader that was deposed learns so
    if (replicated == nullptr) send(from, {ballot_.term, Replicated{false, log_.last().index}}, out);
    return;
  }
  if (replicated != nullptr) {
    if (message.term > ballot_.term) return follow(now, message.term, std::nullopt, out);
    if (leads()) on_replicated(now, from, *replicated, out);
    return;
  }
  if (leads() && message.term == ballot_.term) return;  // a term has one leader: the sender lies
  follow(now, message.term, from, out);
  const auto* entries = std::get_if<Replicate>(&message.kind);
  const auto answer = entries != nullptr ? take_entries(*entries, out) : take_state(std::get<InstallState>(message.kind), out);
  if (answer) send_after_write(from, {ballot_.term, *answer}, out);
}

void GroupMember::put(GroupWrite write, GroupOutput& out) {
  write.number = ++writes_;
  if (write.ballot) ballot_write_ = writes_;
  under_way_.push_back({writes_, log_.last().index});
  out.writes.push_back(std::move(write));
}

void GroupMember::send_after_write(const PeerId& to, GroupMessage message, GroupOutput& out) {
  out.sends.push_back({to, std::move(message), under_way_.empty() || GW_BUG(281) ? 0 : writes_});
}

void GroupMember::on_durable(Time now, std::uint64_t write, GroupOutput& out) {
  for (; !under_way_.empty() && under_way_.front().write <= write; under_way_.pop_front()) durable_ = under_way_.front().last;
  if (role_ == Role::candidate && poll_ == Poll::election && write >= ballot_write_) {
    votes_.insert(self_);
    count_votes(now, out);
  }
  if (leads()) advance_commit(now, out);
}

void GroupMember::on_applied(std::uint64_t index) { applied_ = std::max(applied_, std::min(index, committed_)); }

void GroupMember::discard(std::uint64_t through) {
  through = std::min(through, applied_);
  if (through > log_.base().at.index) log_.discard(through);
}

// --- elections

bool GroupMember::is_majority(const std::set<PeerId>& peers) const {
  const auto counted = std::ranges::count_if(members(), [&](const PeerId& member) { return peers.contains(member); });
  return 2 * static_cast<std::size_t>(counted) > members().size();
}

void GroupMember::wait_for_leader(Time now) {
  const auto spread = static_cast<std::uint64_t>(std::max<std::int64_t>(1, config_.election.count()));
  election_at_ = now + config_.election + Time(static_cast<std::int64_t>(rng_.below(spread)));
}

bool GroupMember::hears_leader(Time now) const {
  return leads() || (leader_ && leader_heard_ != kNever && now - leader_heard_ < config_.election);
}

void GroupMember::follow(Time now, std::uint64_t term, const std::optional<PeerId>& leader, GroupOutput& out) {
  const bool led = leads();
  if (term > ballot_.term) {
    ballot_ = {term, std::nullopt};
    put({.ballot = ballot_}, out);
  }
  role_ = Role::follower;
  leader_ = leader;
  votes_.clear();
  followers_.clear();
  if (leader) leader_heard_ = now;
  if (leader || led) wait_for_leader(now);
}

void GroupMember::begin_election(Time now, Poll poll, GroupOutput& out) {
  if (ballot_.term >= kMostNumber) return wait_for_leader(now);
  role_ = Role::candidate;
  poll_ = poll;
  leader_ = std::nullopt;
  votes_.clear();
  wait_for_leader(now);
  if (poll == Poll::trial) {
    votes_.insert(self_);
  } else {
    ballot_ = {ballot_.term + 1, self_};
    put({.ballot = ballot_}, out);
  }
  const std::uint64_t term = ballot_.term + (poll == Poll::trial ? 1 : 0);
  for (const PeerId& peer : members())
    if (peer != self_) send_after_write(peer, {term, AskVote{poll, log_.last()}}, out);
  count_votes(now, out);
}

void GroupMember::on_ask_vote(Time now, const PeerId& from, std::uint64_t term, const AskVote& message, GroupOutput& out) {
  // A member that was cut off, or has left the group, must not depose a leader that the others hear. The leader itself asks after a
  // restart.
  if (hears_leader(now) && leader_ != from) return;
  const bool newer = message.last >= log_.last() || GW_BUG(282);
  if (message.poll == Poll::trial) {
    const bool granted = term > ballot_.term && newer;
    return send(from, {granted ? term : ballot_.term, Vote{Poll::trial, granted}}, out);
  }
  if (term > ballot_.term) follow(now, term, std::nullopt, out);
  const bool granted = term == ballot_.term && newer && role_ == Role::follower && (!ballot_.vote || ballot_.vote == from || GW_BUG(283));
  if (granted && ballot_.vote != from) {
    ballot_.vote = from;
    put({.ballot = ballot_}, out);
    wait_for_leader(now);
  }
  send_after_write(from, {ballot_.term, Vote{Poll::election, granted}}, out);
}

void GroupMember::on_vote(Time now, const PeerId& from, std::uint64_t term, const Vote& message, GroupOutput& out) {
  if (!message.granted && term > ballot_.term) return follow(now, term, std::nullopt, out);
  const std::uint64_t asked = ballot_.term + (poll_ == Poll::trial ? 1 : 0);
  if (role_ != Role::candidate || !message.granted || message.poll != poll_ || term != asked) return;
  votes_.insert(from);
  count_votes(now, out);
}

void GroupMember::count_votes(Time now, GroupOutput& out) {
  if (!is_majority(votes_)) return;
  poll_ == Poll::trial ? begin_election(now, Poll::election, out) : become_leader(now, out);
}

void GroupMember::become_leader(Time now, GroupOutput& out) {
  GW_REACHED("group: a leader was elected");
  role_ = Role::leader;
  leader_ = self_;
  votes_.clear();
  followers_.clear();
  followers_.set_members(now, self_, members(), log_.last().index);
  opening_ = append(now, {.term = ballot_.term}, out).index;
}

// --- the log, at the leader

Result<LogPosition> GroupMember::propose(Time now, std::string content, GroupOutput& out) {
  if (!leads()) return fail(Kind::not_found, "this peer does not lead the group");
  if (log_.bytes() + content.size() > config_.log_bytes && log_.last().index > committed_)
    return fail(Kind::overloaded, "the other members of the group are behind");
  return append(now, {.term = ballot_.term, .content = std::move(content)}, out);
}

Status GroupMember::change_members(Time now, GroupMembers members, GroupOutput& out) {
  if (!leads()) return fail(Kind::not_found, "this peer does not lead the group");
  std::vector<PeerId> changed;
  std::ranges::set_symmetric_difference(members, this->members(), std::back_inserter(changed));
  if (changed.size() != 1 || members.empty() || members.size() > config_.members)
    return fail(Kind::invalid, "the members of a group change one at a time, and are {} at most", config_.members);
  if ((!is_established() || log_.members_index() > committed_) && !GW_BUG(284))
    return fail(Kind::overloaded, "the change before is not committed yet");
  append(now, {.term = ballot_.term, .members = std::move(members)}, out);
  return ok();
}

void GroupMember::add_learner(Time now, const PeerId& peer) {
  if (leads() && peer != self_) followers_.add_learner(now, peer, log_.last().index);
}

bool GroupMember::has_caught_up(const PeerId& peer) const {
  const FollowerTable::Follower* follower = leads() ? followers_.find(peer) : nullptr;
  return follower != nullptr && follower->match >= committed_;
}

std::optional<Time> GroupMember::last_heard(const PeerId& peer) const {
  const FollowerTable::Follower* follower = leads() ? followers_.find(peer) : nullptr;
  return follower == nullptr ? std::nullopt : std::optional(follower->heard);
}

LogPosition GroupMember::append(Time now, LogEntry entry, GroupOutput& out) {
  log_.append(entry);
  if (entry.members) followers_.set_members(now, self_, members(), log_.last().index - 1);
  put({.entries = {std::move(entry)}}, out);
  for (auto& [peer, follower] : followers_.all())
    if (!follower.in_flight) send_log(now, peer, follower, out);
  return log_.last();
}

void GroupMember::send_log(Time now, const PeerId& to, FollowerTable::Follower& follower, GroupOutput& out) {
  follower.send_at = now + config_.heartbeat;
  const auto term_before = log_.term_at(follower.next - 1);
  if (!term_before && now >= follower.state_again) {
    GW_REACHED("group: a member that lags got the whole state");
    follower.state_again = now + config_.state_retry;
    follower.in_flight = true;
    const GroupLog::Base at{{log_.term_at(applied_).value(), applied_}, log_.members_at(applied_)};
    return send(to, {ballot_.term, InstallState{at, {}}}, out);
  }
  // While a state is under way, messages without entries tell the member that its leader lives.
  Replicate message{
      .before = term_before ? LogPosition{*term_before, follower.next - 1} : log_.base().at, .committed = committed_, .entries = {}};
  std::size_t bytes = 0;
  for (std::uint64_t index = follower.next; term_before && index <= log_.last().index && bytes < config_.message_bytes; ++index) {
    message.entries.push_back(log_.at(index));
    bytes += message.entries.back().content.size();
  }
  follower.in_flight = !term_before || !message.entries.empty();
  send(to, {ballot_.term, std::move(message)}, out);
}

void GroupMember::on_replicated(Time now, const PeerId& from, const Replicated& message, GroupOutput& out) {
  FollowerTable::Follower* follower = followers_.find(from);
  if (follower == nullptr) return;
  follower->heard = now;
  if (message.matches) {
    if (message.last > log_.last().index) return;  // it lies
    follower->match = std::max(follower->match, message.last);
    follower->next = std::max(follower->next, follower->match + 1);
    follower->in_flight = false;
    advance_commit(now, out);
    follower = followers_.find(from);  // a change of members may have removed it
    if (follower != nullptr && follower->next <= log_.last().index) send_log(now, from, *follower, out);
    return;
  }
  if (now < follower->state_again && !log_.term_at(follower->next - 1)) return;  // the state is under way
  GW_REACHED("group: the log of a member differed");
  const std::uint64_t next = std::min(follower->next - 1, message.last + 1);
  const bool goes_back = next > follower->match && next < follower->next;
  follower->next = std::max(next, follower->match + 1);
  follower->in_flight = false;
  if (goes_back) send_log(now, from, *follower, out);  // otherwise the answer is an old one
}

bool GroupMember::hears_majority(Time now) const {
  std::set<PeerId> heard{self_};
  for (const PeerId& peer : members())
    if (const auto* follower = followers_.find(peer); follower != nullptr && now - follower->heard < config_.election) heard.insert(peer);
  return is_majority(heard);
}

void GroupMember::advance_commit(Time now, GroupOutput& out) {
  std::vector<std::uint64_t> matches;
  for (const PeerId& peer : members()) {
    const auto* follower = followers_.find(peer);
    matches.push_back(peer == self_ ? durable_ : follower == nullptr ? 0 : follower->match);
  }
  std::ranges::sort(matches, std::greater());
  const std::uint64_t agreed = matches.at(matches.size() / 2);
  // An entry of an earlier term may be at a majority and still be replaced by a leader that never had it.
  if (agreed <= committed_ || (log_.term_at(agreed) != ballot_.term && !GW_BUG(285))) return;
  committed_ = agreed;
  if (!is_member() && committed_ >= log_.members_index()) {
    GW_REACHED("group: a leader left the group");
    follow(now, ballot_.term, std::nullopt, out);
  }
}

// --- the log, at the others

void GroupMember::forget_writes_after(std::uint64_t index) {
  durable_ = std::min(durable_, index);
  for (UnderWay& write : under_way_) write.last = std::min(write.last, index);
}

std::optional<Replicated> GroupMember::take_entries(const Replicate& message, GroupOutput& out) {
  const std::uint64_t before = message.before.index;
  if (before > log_.last().index) return Replicated{false, log_.last().index};
  const std::uint64_t end = before + message.entries.size();
  if (before >= log_.base().at.index && log_.term_at(before) != message.before.term && !GW_BUG(286)) {
    if (before <= committed_) return std::nullopt;
    return Replicated{false, before - 1};
  }
  GroupWrite write;
  for (std::uint64_t index = std::max(before, log_.base().at.index) + 1; index <= end; ++index) {
    const LogEntry& entry = message.entries[index - before - 1];
    const auto present = log_.term_at(index);
    if (present == entry.term) continue;
    if (index <= committed_ || entry.term < log_.term_at(index - 1) || entry.term > ballot_.term) return std::nullopt;
    if (present) {
      GW_REACHED("group: entries that were never committed were replaced");
      log_.truncate(index);
      forget_writes_after(index - 1);
      write.truncate = index;
    }
    log_.append(entry);
    write.entries.push_back(entry);
  }
  if (!write.entries.empty()) put(std::move(write), out);
  committed_ = std::max(committed_, std::min(message.committed, end));
  return Replicated{true, end};
}

std::optional<Replicated> GroupMember::take_state(const InstallState& message, GroupOutput& out) {
  const LogPosition at = message.at.at;
  if (at.index > committed_ && log_.term_at(at.index) != at.term) {
    log_.reset(message.at);
    forget_writes_after(0);
    put({.state = message}, out);
    applied_ = at.index;
  }
  committed_ = std::max(committed_, at.index);
  return Replicated{true, at.index};
}

}  // namespace gw::job
