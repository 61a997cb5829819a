#pragma once
// Which peer may send which messages about a job, as proved by the job's charter and the leader's signatures.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "job/authority/charter.h"
#include "wire/signer.h"

namespace gw::job {

// Prefixes of signed texts: a signature over one kind of text is not valid for another kind.
inline constexpr std::string_view kRosterTitle = "godwit roster 1";
inline constexpr std::string_view kGrantTitle = "godwit grant 1";

// A host's right to write at the keepers of a thread. Its signature has been checked.
struct ThreadGrant {
  ThreadId thread;
  std::uint64_t epoch = 0;
  std::uint64_t keeper_generation = 0;
  PeerId host;
  std::set<PeerId> keepers;
};

// The verified statements that this peer has about one job; docs/design/007-job-authority.md. The charter names the leader of term 1; a
// roster, signed by the leader, names all other members; a grant, signed by the leader, names the host that writes for a thread.
//
// Invariant: every statement here was verified; the roster's (term, version) only grows. Limit: wire::kMaxRosterMembers. A value.
class Authority {
 public:
  static constexpr std::uint64_t kFirstTerm = 1;

  explicit Authority(Charter charter) : charter_(std::move(charter)) {}

  const Charter& charter() const { return charter_; }
  std::uint64_t term() const { return kFirstTerm; }
  std::uint64_t roster_version() const { return version_; }  // 0: there is none yet
  const wire::pb::SignedRoster& roster() const { return signed_; }

  // A newer roster replaces the present one, an older one changes nothing. Kind::invalid with the reason if it is wrong. Kind::overloaded
  // if it has more than `most` members.
  Status take_roster(const wire::pb::SignedRoster& roster, const wire::Signer& signer, std::size_t most = wire::kMaxRosterMembers);
  // Kind::invalid with the reason if the grant is wrong. REQUIRES: roster_version() > 0, since the roster has the leader's key.
  Result<ThreadGrant> check_grant(const wire::pb::SignedGrant& grant, const wire::Signer& signer) const;

  const PeerId& leader() const { return charter_.first_home(); }
  bool is_leader(const PeerId& peer) const { return peer == leader(); }
  bool may_host(const PeerId& peer) const;
  bool may_keep(const PeerId& peer) const;
  // The leader, then keepers, then hosts.
  std::vector<PeerId> members() const;
  bool is_member(const PeerId& peer) const { return is_leader(peer) || members_.contains(peer); }
  std::size_t roster_members() const { return members_.size(); }

 private:
  struct Roles {
    bool host = false;
    bool keeper = false;
  };

  Charter charter_;
  PublicKey leader_key_{};
  std::uint64_t version_ = 0;
  std::map<PeerId, Roles> members_;
  wire::pb::SignedRoster signed_;
};

// The leader's side: the members of a job, signed when a message needs the roster.
//
// Invariant: versions of different boots of the leader are different, the later one higher. Limit: wire::kMaxRosterMembers.
class LeaderRoster {
 public:
  // The signer has the leader's key and outlives this object.
  LeaderRoster(const JobId& job, const PublicKey& key, const wire::Signer& signer, std::uint64_t boot)
      : job_(job), key_(key), signer_(signer), version_(boot << 32) {}

  // False: the roster is full, and the peer is not in it.
  bool add_host(const PeerId& peer) { return add(peer, &Roles::host); }
  bool add_keeper(const PeerId& peer) { return add(peer, &Roles::keeper); }
  bool takes(const PeerId& peer) const { return members_.contains(peer) || members_.size() < wire::kMaxRosterMembers; }

  // Removes members that `in_use` has rejected for `patience`: otherwise the roster of a job that runs for weeks would name every peer that
  // ever took part.
  void prune(Time now, Time patience, const std::function<bool(const PeerId&)>& in_use);
  std::size_t size() const { return members_.size(); }

  // The newest version, if it was not returned before.
  std::optional<wire::pb::SignedRoster> take_change();
  wire::pb::SignedGrant grant(const ThreadGrant& grant) const;

 private:
  struct Roles {
    bool host = false;
    bool keeper = false;
    Time unused_since = kNever;  // kNever: it is in use
  };

  bool add(const PeerId& peer, bool Roles::* role);

  const JobId job_;
  const PublicKey key_;
  const wire::Signer& signer_;
  std::uint64_t version_;
  std::map<PeerId, Roles> members_;
  bool changed_ = true;
};

// The authorities of the jobs in which this peer takes part, and of jobs of which it has only got a charter.
//
// A machine that needs an authority calls hold(). Limits: authorities without a holder are forgotten, least recently used first, when
// there are more than Config::recent of them or when other rosters need the room; holders have limits of their own. Members of rosters
// are counted, in all and per leader, because a leader can name any peer and each member costs memory. A value without threads.
class Authorities {
 public:
  struct Config {
    std::size_t recent = 1024;
    std::size_t members = 1u << 19;             // of all rosters: some 60 MB
    std::size_t members_per_leader = 1u << 15;  // of the rosters of one leader
  };
  // `self` is this peer, whose own rosters have no limit.
  explicit Authorities(Config config, const PeerId& self = {}) : config_(config), self_(self) {}

  // nullptr: the job is unknown, or was forgotten.
  Authority* find(const JobId& job);
  // The caller has checked the charter by Charter::check. REQUIRES: find() gave nullptr.
  Authority& add(Charter charter);
  // As Authority::take_roster; also Kind::overloaded if there is no room for its members. REQUIRES: the job is known.
  Status take_roster(const JobId& job, const wire::pb::SignedRoster& roster, const wire::Signer& signer);
  // REQUIRES of hold(): the job is known.
  void hold(const JobId& job);
  void release(const JobId& job);
  std::size_t size() const { return entries_.size(); }
  std::size_t members() const { return members_; }

 private:
  struct Entry {
    Authority authority;
    std::size_t holders = 0;
    std::list<JobId>::iterator place;  // in recent_, unless it is held
  };

  void trim();
  void forget_oldest();
  void count(const PeerId& leader, std::size_t before, std::size_t after);

  const Config config_;
  const PeerId self_;
  std::map<JobId, Entry> entries_;
  std::size_t members_ = 0;
  std::map<PeerId, std::size_t> members_of_;  // leaders
  std::list<JobId> recent_;                   // the last one used first
};

}  // namespace gw::job
