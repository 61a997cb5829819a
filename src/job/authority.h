#pragma once
// Who may say what about a job: the charter, and what the leader has signed.

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <set>

#include "job/charter.h"
#include "wire/signer.h"

namespace gw::job {

// The right of a host to write at the keepers of a thread; checked.
struct ThreadGrant {
  ThreadId thread;
  std::uint64_t epoch = 0;
  std::uint64_t keeper_generation = 0;
  PeerId host;
  std::set<PeerId> keepers;
};

// What this peer can prove about one job; docs/design/007-job-authority.md. A charter names the leader of term 1; a roster, signed by the
// leader, names everybody else; a grant, signed by the leader, says who writes for a thread.
//
// Invariant: everything in it was verified; the roster's (term, version) only grows. Limit: wire::kMaxRosterMembers. A value.
class Authority {
 public:
  static constexpr std::uint64_t kFirstTerm = 1;

  explicit Authority(Charter charter) : charter_(std::move(charter)) {}

  const Charter& charter() const { return charter_; }
  std::uint64_t term() const { return kFirstTerm; }
  std::uint64_t roster_version() const { return version_; }  // 0: there is none yet
  const wire::pb::SignedRoster& roster() const { return signed_; }

  // A newer one replaces the one before, an older one changes nothing. Kind::invalid: what is wrong with it.
  Status take_roster(const wire::pb::SignedRoster& roster, const wire::Signer& signer);
  // Kind::invalid: what is wrong with it. REQUIRES: roster_version() > 0, since the roster has the leader's key.
  Result<ThreadGrant> check_grant(const wire::pb::SignedGrant& grant, const wire::Signer& signer) const;

  const PeerId& leader() const { return charter_.first_home(); }
  bool is_leader(const PeerId& peer) const { return peer == leader(); }
  bool may_host(const PeerId& peer) const;
  bool may_keep(const PeerId& peer) const;
  bool is_member(const PeerId& peer) const { return is_leader(peer) || members_.contains(peer); }

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

// The leader's side: who takes part, signed when somebody needs it.
//
// Invariant: versions of different boots of the leader are different, the later one higher. Limit: wire::kMaxRosterMembers.
class LeaderRoster {
 public:
  // The signer is the leader's, and outlives it.
  LeaderRoster(const JobId& job, const PublicKey& key, const wire::Signer& signer, std::uint64_t boot)
      : job_(job), key_(key), signer_(signer), version_(boot << 32) {}

  // False: the roster is full, and the peer is not in it.
  bool add_host(const PeerId& peer) { return add(peer, &Roles::host); }
  bool add_keeper(const PeerId& peer) { return add(peer, &Roles::keeper); }
  bool is_keeper(const PeerId& peer) const;
  bool takes(const PeerId& peer) const { return members_.contains(peer) || members_.size() < wire::kMaxRosterMembers; }

  // The newest version, if it was not returned before.
  std::optional<wire::pb::SignedRoster> take_change();
  wire::pb::SignedGrant grant(const ThreadGrant& grant) const;

 private:
  struct Roles {
    bool host = false;
    bool keeper = false;
  };

  bool add(const PeerId& peer, bool Roles::* role);

  const JobId job_;
  const PublicKey key_;
  const wire::Signer& signer_;
  std::uint64_t version_;
  std::map<PeerId, Roles> members_;
  bool changed_ = true;
};

// The authorities of the jobs in which this peer takes part, and of some of which it has only heard.
//
// Whoever needs one holds it. Limit: those that nobody holds are forgotten when there are more than Config::recent of them, the ones not
// used for longest first; holders have limits of their own. A value without threads.
class Authorities {
 public:
  struct Config {
    std::size_t recent = 1024;
  };
  explicit Authorities(Config config) : config_(config) {}

  // nullptr: never heard of it, or forgotten.
  Authority* find(const JobId& job);
  // Checked by the caller: by Charter::check. REQUIRES: find() gave nullptr.
  Authority& add(Charter charter);
  // REQUIRES of hold(): it is there.
  void hold(const JobId& job);
  void release(const JobId& job);
  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    Authority authority;
    std::size_t holders = 0;
    std::list<JobId>::iterator place;  // in recent_, unless it is held
  };

  void trim();

  const Config config_;
  std::map<JobId, Entry> entries_;
  std::list<JobId> recent_;  // the last one used first
};

}  // namespace gw::job
