#pragma once
// Keeps what other peers' threads need to go on after their hosts: images and determinants.

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "job/actions.h"
#include "job/authority.h"
#include "job/blob_references.h"
#include "job/effect_gate.h"
#include "job/live_peers.h"
#include "wire/records.pb.h"

namespace gw::job {

// What a keeper has found on disk.
struct KeeperRecords {
  wire::pb::KeptRecord kept;
  std::map<std::uint64_t, wire::pb::DeterminantsRecord> determinants;  // by the index of the first
};

// The keeper of any number of threads of any jobs; docs/design/003-peers.md has the protocol. What it acknowledges is on its disk.
//
// Invariants: per thread, whoever writes has the highest (epoch, keeper_generation) seen, older ones are refused; an epoch is raised only
// by a grant of the leader, but for children of which home has not heard, for whom their host's other grants vouch; determinants have no
// gap after the image. Limits: Config. A machine without I/O or threads: its peer owns and drives it.
class Keeper {
 public:
  struct Config {
    std::size_t threads = 65536;
    std::size_t determinants = wire::kMaxDeterminants;  // of one thread, after its image
    Time ask_every = std::chrono::seconds(10);
    Time orphan_after = std::chrono::minutes(10);  // nothing heard of its home
  };
  struct Environment {  // outlives it
    const LivePeers& live_peers;
    BlobReferences& blobs;
    Authorities& authorities;
  };
  using Name = std::pair<JobId, ThreadId>;
  // Who writes or reads, as its grant says.
  struct Bearer {
    PeerId host;
    std::uint64_t epoch;
    std::uint64_t keeper_generation;
    bool vouched = false;  // the grant is of another thread
  };

  Keeper(const Config& config, const Environment& environment) : config_(config), environment_(environment) {}

  // Before anything else. `parts` has the bytes of the image's blob on disk. Kind::corrupt if they are damaged or gone: then nothing is
  // kept of this thread, and its records are dropped.
  Status recover(Time now, const Name& name, const KeeperRecords& records, const std::optional<std::string>& parts, Actions& out);
  // The thread's records are damaged. Always Kind::corrupt, with the sentence to tell.
  Status drop_records(const Name& name, const KeeperRecords& records, Actions& out) const;

  // Who writes for the thread now, if anybody does. Nobody else needs to be believed without a grant.
  std::optional<Bearer> bearer(const Name& name) const;

  // REQUIRES of the next three: the bearer's grant was checked, and the job's authority is there.
  void on_keep_image(Time now, const JobId& job, const Bearer& bearer, const JobMessage::KeepImage& message, Actions& out);
  void on_keep_determinants(Time now, const JobId& job, const Bearer& bearer, const JobMessage::KeepDeterminants& message, Actions& out);
  void on_want_image(Time now, const JobId& job, const Bearer& bearer, const JobMessage::WantImage& message, Actions& out);
  // From the leader.
  void on_forget(const JobId& job, const JobMessage::Forget& message, Actions& out);
  void on_blob_here(Time now, Actions& out);
  void on_loaded(Time now, const Hash256& hash, const std::optional<std::string>& bytes, Actions& out);
  void on_tick(Time now, Actions& out);
  Time next_deadline() const { return threads_.empty() ? kNever : ask_at_; }
  std::size_t size() const { return threads_.size(); }

 private:
  struct Fetch {  // of an image that was offered
    Hash256 parts;
    std::uint64_t determinants;
    PeerId from;
    bool listed = false;        // the pages are known
    std::vector<Hash256> held;  // parts and pages
  };
  struct Thread {
    PeerId host;
    bool vouched = false;
    std::uint64_t epoch = 0;
    std::uint64_t keeper_generation = 0;
    std::optional<Hash256> parts;
    std::uint64_t base = 0;  // determinants in the image
    std::deque<Determinant> log;
    std::map<std::uint64_t, std::uint64_t> batches;  // records: first index, count
    std::vector<Hash256> held;
    std::optional<Fetch> fetch;
    Time last_seen{0};
    std::uint64_t next() const { return base + log.size(); }
  };

  Thread* find_or_add(const Name& name);
  bool outranks(const Bearer& bearer, const Thread& thread) const;
  static void take_over(Thread& thread, const Bearer& bearer);
  Thread* admit(Time now, const Name& name, const Bearer& bearer, Actions& out);
  void advance(Time now, const Name& name, Thread& thread, Actions& out);
  bool want_pages(Time now, const JobId& job, Fetch& fetch, const std::vector<Hash256>& pages, Actions& out);
  void commit(const Name& name, Thread& thread, Actions& out);
  void write(const Name& name, const Thread& thread, Actions& out) const;
  void drop_batches(const Name& name, Thread& thread, Actions& out);
  void clear(const Name& name, Thread& thread, Actions& out);
  void end_fetch(Thread& thread, Actions& out);
  void acknowledge(const PeerId& to, const Name& name, const Thread& thread, Actions& out) const;
  void forget(std::map<Name, Thread>::iterator thread, Actions& out);

  const Config config_;
  const Environment environment_;
  std::map<Name, Thread> threads_;
  Time ask_at_{0};
};

}  // namespace gw::job
