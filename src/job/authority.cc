#include "job/authority.h"

#include <algorithm>
#include <string_view>

#include "wire/peer_messages.h"

namespace gw::job {
namespace {

Status require_genuine(bool condition, const char* rule) {
  if (!condition) return fail(Kind::invalid, "it is not signed by the leader of the job, or not right: {}", rule);
  return ok();
}

// Apart from other things that the same key signs.
Bytes titled_text(std::string_view title, const std::string& content) {
  Bytes text(title.begin(), title.end());
  text.insert(text.end(), content.begin(), content.end());
  return text;
}

constexpr std::string_view kRosterTitle = "godwit roster 1";
constexpr std::string_view kGrantTitle = "godwit grant 1";

bool is_signed(const wire::Signer& signer, const PublicKey& key, std::string_view title, const std::string& content,
               const std::string& bytes) {
  Signature signature;
  if (bytes.size() != signature.size()) return false;
  std::ranges::copy(as_bytes(bytes), signature.begin());
  return signer.is_signed(key, titled_text(title, content), signature);
}

bool is_name(const std::string& bytes) { return bytes.size() == sizeof(Hash256); }

}  // namespace

Status Authority::take_roster(const wire::pb::SignedRoster& envelope, const wire::Signer& signer) {
  wire::pb::JobRoster roster;
  GW_TRY_VOID(require_genuine(roster.ParseFromString(envelope.roster()), "a roster that cannot be read"));
  if (roster.version() <= version_) return ok();
  GW_TRY_VOID(require_genuine(roster.job() == charter_.id().bytes(), "a roster of another job"));
  GW_TRY_VOID(require_genuine(roster.term() == term(), "a roster of another term"));
  GW_TRY_VOID(require_genuine(static_cast<std::size_t>(roster.members_size()) <= wire::kMaxRosterMembers, "a roster of too many members"));
  PublicKey key;
  GW_TRY_VOID(require_genuine(roster.leader_key().size() == key.size(), "a roster with a key of another size"));
  std::ranges::copy(as_bytes(roster.leader_key()), key.begin());
  GW_TRY_VOID(require_genuine(signer.id_of(key) == leader(), "a roster of a peer that does not lead the job"));
  GW_TRY_VOID(require_genuine(is_signed(signer, key, kRosterTitle, envelope.roster(), envelope.signature()), "the signature of a roster"));
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
  GW_TRY_VOID(
      require_genuine(is_signed(signer, leader_key_, kGrantTitle, envelope.grant(), envelope.signature()), "the signature of a grant"));
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

bool LeaderRoster::is_keeper(const PeerId& peer) const {
  const auto found = members_.find(peer);
  return found != members_.end() && found->second.keeper;
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
  envelope.set_signature(std::string(as_text(signer_.sign(titled_text(kRosterTitle, envelope.roster())))));
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
  envelope.set_signature(std::string(as_text(signer_.sign(titled_text(kGrantTitle, envelope.grant())))));
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
  while (recent_.size() > std::max<std::size_t>(config_.recent, 1)) {
    entries_.erase(recent_.back());
    recent_.pop_back();
  }
}

}  // namespace gw::job
