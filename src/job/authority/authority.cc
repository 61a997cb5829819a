#include "job/authority/authority.h"

#include <algorithm>

#include "base/reached.h"
#include "job/authority/signed_text.h"
#include "wire/messages/peer_messages.h"

namespace gw::job {
namespace {

Status require_genuine(bool condition, const char* rule) {
  if (!condition) return fail(Kind::invalid, "it is not signed by the leader of the job, or not right: {}", rule);
  return ok();
}

bool is_name(const std::string& bytes) { return bytes.size() == sizeof(Hash256); }

}  // namespace

Status Authority::take_roster(const wire::pb::SignedRoster& envelope, const wire::Signer& signer, std::size_t most) {
  wire::pb::JobRoster roster;
  GW_TRY_VOID(require_genuine(roster.ParseFromString(envelope.roster()), "a roster that cannot be read"));
  if (roster.version() <= version_) return ok();
  GW_TRY_VOID(require_genuine(roster.job() == charter_.id().bytes(), "a roster of another job"));
  GW_TRY_VOID(require_genuine(roster.term() == term(), "a roster of another term"));
  GW_TRY_VOID(require_genuine(static_cast<std::size_t>(roster.members_size()) <= wire::kMaxRosterMembers, "a roster of too many members"));
  if (static_cast<std::size_t>(roster.members_size()) > most)
    return fail(Kind::overloaded, "the rosters of its leader, or of all, have more members than this peer can hold");
  PublicKey key;
  GW_TRY_VOID(require_genuine(roster.leader_key().size() == key.size(), "a roster with a key of another size"));
  std::ranges::copy(as_bytes(roster.leader_key()), key.begin());
  GW_TRY_VOID(require_genuine(signer.id_of(key) == leader(), "a roster of a peer that does not lead the job"));
  GW_TRY_VOID(
      require_genuine(is_signed_text(signer, key, kRosterTitle, envelope.roster(), envelope.signature()), "the signature of a roster"));
  std::map<PeerId, Roles> members;
  for (const wire::pb::JobRoster::Member& member : roster.members()) {
    GW_TRY_VOID(require_genuine(is_name(member.peer()), "a member with a name of another size"));
    members[PeerId::from(member.peer())] = {member.host(), member.keeper()};
  }
  leader_key_ = key;
  version_ = roster.version();
  members_ = std::move(members);
  signed_ = envelope;
  return ok();
}

Result<ThreadGrant> Authority::check_grant(const wire::pb::SignedGrant& envelope, const wire::Signer& signer) const {
  GW_ASSERT(version_ > 0);
  wire::pb::ThreadGrant content;
  GW_TRY_VOID(require_genuine(content.ParseFromString(envelope.grant()), "a grant that cannot be read"));
  GW_TRY_VOID(require_genuine(content.job() == charter_.id().bytes() && content.term() == term(), "a grant of another job or term"));
  GW_TRY_VOID(require_genuine(is_signed_text(signer, leader_key_, kGrantTitle, envelope.grant(), envelope.signature()),
                              "the signature of a grant"));
  GW_TRY_VOID(
      require_genuine(is_name(content.host()) && std::ranges::all_of(content.keepers(), is_name), "a grant with a name of another size"));
  ThreadGrant grant{.thread = ThreadId{content.thread()},
                    .epoch = content.epoch(),
                    .keeper_generation = content.keeper_generation(),
                    .host = PeerId::from(content.host()),
                    .keepers = {}};
  for (const std::string& keeper : content.keepers()) grant.keepers.insert(PeerId::from(keeper));
  return grant;
}

std::vector<PeerId> Authority::members() const {
  std::vector<PeerId> all{leader()};
  for (const bool keepers : {true, false})
    for (const auto& [peer, roles] : members_)
      if (roles.keeper == keepers && peer != leader()) all.push_back(peer);
  return all;
}

bool Authority::may_host(const PeerId& peer) const {
  const auto found = members_.find(peer);
  return found != members_.end() && found->second.host;
}

bool Authority::may_keep(const PeerId& peer) const {
  const auto found = members_.find(peer);
  return found != members_.end() && found->second.keeper;
}

// --- LeaderRoster

bool LeaderRoster::add(const PeerId& peer, bool Roles::* role) {
  if (!takes(peer)) return false;
  bool& has = members_[peer].*role;
  changed_ = changed_ || !has;
  has = true;
  return true;
}

void LeaderRoster::prune(Time now, Time patience, const std::function<bool(const PeerId&)>& in_use) {
  for (auto member = members_.begin(); member != members_.end();) {
    const auto next = std::next(member);
    Time& since = member->second.unused_since;
    since = in_use(member->first) ? kNever : std::min(since, now);
    if (since != kNever && now - since >= patience) {
      GW_REACHED("home: a peer that is gone for good left the roster");
      members_.erase(member);
      changed_ = true;
    }
    member = next;
  }
}

std::optional<wire::pb::SignedRoster> LeaderRoster::take_change() {
  if (!std::exchange(changed_, false)) return std::nullopt;
  wire::pb::JobRoster roster;
  roster.set_job(job_.bytes());
  roster.set_term(Authority::kFirstTerm);
  roster.set_version(++version_);
  roster.set_leader_key(std::string(as_text(key_)));
  for (const auto& [peer, roles] : members_) {
    wire::pb::JobRoster::Member& member = *roster.add_members();
    member.set_peer(peer.bytes());
    member.set_host(roles.host);
    member.set_keeper(roles.keeper);
  }
  wire::pb::SignedRoster envelope;
  envelope.set_roster(roster.SerializeAsString());
  envelope.set_signature(sign_text(signer_, kRosterTitle, envelope.roster()));
  return envelope;
}

wire::pb::SignedGrant LeaderRoster::grant(const ThreadGrant& grant) const {
  wire::pb::ThreadGrant content;
  content.set_job(job_.bytes());
  content.set_term(Authority::kFirstTerm);
  content.set_thread(grant.thread.value());
  content.set_epoch(grant.epoch);
  content.set_keeper_generation(grant.keeper_generation);
  content.set_host(grant.host.bytes());
  for (const PeerId& keeper : grant.keepers) content.add_keepers(keeper.bytes());
  wire::pb::SignedGrant envelope;
  envelope.set_grant(content.SerializeAsString());
  envelope.set_signature(sign_text(signer_, kGrantTitle, envelope.grant()));
  return envelope;
}

// --- Authorities

Authority* Authorities::find(const JobId& job) {
  const auto found = entries_.find(job);
  if (found == entries_.end()) return nullptr;
  if (found->second.holders == 0) recent_.splice(recent_.begin(), recent_, found->second.place);
  return &found->second.authority;
}

Authority& Authorities::add(Charter charter) {
  const JobId job = charter.id();
  recent_.push_front(job);
  const auto [added, fresh] = entries_.emplace(job, Entry{.authority = Authority(std::move(charter)), .place = recent_.begin()});
  GW_ASSERT(fresh);
  trim();
  return added->second.authority;
}

void Authorities::hold(const JobId& job) {
  Entry& entry = entries_.at(job);
  if (entry.holders++ == 0) recent_.erase(entry.place);
}

void Authorities::release(const JobId& job) {
  Entry& entry = entries_.at(job);
  GW_ASSERT(entry.holders > 0);
  if (--entry.holders > 0) return;
  entry.place = recent_.insert(recent_.begin(), job);
  trim();
}

void Authorities::trim() {
  while (recent_.size() > std::max<std::size_t>(config_.recent, 1)) forget_oldest();
}

void Authorities::forget_oldest() {
  const auto oldest = entries_.find(recent_.back());
  count(oldest->second.authority.leader(), oldest->second.authority.roster_members(), 0);
  entries_.erase(oldest);
  recent_.pop_back();
}

void Authorities::count(const PeerId& leader, std::size_t before, std::size_t after) {
  members_ += after - before;
  std::size_t& of_leader = members_of_[leader];
  of_leader += after - before;
  if (of_leader == 0) members_of_.erase(leader);
}

Status Authorities::take_roster(const JobId& job, const wire::pb::SignedRoster& roster, const wire::Signer& signer) {
  Authority& authority = *find(job);
  const PeerId leader = authority.leader();
  const std::size_t before = authority.roster_members();
  std::size_t most = wire::kMaxRosterMembers;
  if (leader != self_) {
    const auto room = [](std::size_t limit, std::size_t used) { return limit - std::min(used, limit); };
    while (room(config_.members, members_ - before) < most && !recent_.empty() && recent_.back() != job) forget_oldest();
    const auto of_leader = members_of_.find(leader);
    const std::size_t others = of_leader == members_of_.end() ? 0 : of_leader->second - before;
    most = std::min({most, room(config_.members, members_ - before), room(config_.members_per_leader, others)});
  }
  GW_TRY_VOID(authority.take_roster(roster, signer, most));
  count(leader, before, authority.roster_members());
  return ok();
}

}  // namespace gw::job
