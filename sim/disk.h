#pragma once
// The disk of a simulated peer: slow, in order, torn by a crash, with a cache that power loss empties, and sometimes full.

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "base/rng.h"
#include "peer/peer.h"
#include "scenario.h"

namespace gw::sim {

// kill: the process ends and the operating system goes on. power: the machine ends, with everything that was not flushed.
enum class CrashKind : std::uint8_t { kill, power };

// Operations take effect one after the other, each some time after the one before. Three states of an operation:
//   under way  lost by any crash, but for some first ones, and the next may be done in part: a batch of records is atomic, a blob is not;
//   cached     readable, lost by power loss: each blob independently, wholly or in part, and records from some batch on;
//   flushed    on the medium. The answer to Persist comes when the batch, and all blobs before it, are.
class Disk {
 public:
  using Operation =
      std::variant<job::Persist, job::DropRecords, job::DropOutput, job::StoreBlob, job::LoadBlob, job::DropBlob, job::RetainBlobs>;

  // Takes an operation; returns when it will be done.
  Time submit(Time now, Operation operation, Time latency);
  // Completes the first operation under way. Returns the answer to the peer, if there is one.
  std::optional<peer::DiskDone> complete();
  void crash(CrashKind kind, Rng& rng);
  // Damages or removes some blob at rest. False: there is none.
  bool rot(Rng& rng);
  // Damages a record, or the output of a job, at rest: found by its checksum at the next start. False: there is none.
  bool rot_record(Rng& rng);
  // Until then operations wait that are not under way yet.
  void fill(Time until) { full_until_ = std::max(full_until_, until); }
  Time full_until() const { return full_until_; }

  peer::Stored stored() const;
  std::optional<std::string> blob(const Hash256& hash) const;  // none if missing or damaged
  const std::map<std::string, std::string>& records() const { return records_; }
  // Grows whenever records change.
  std::uint64_t changes() const { return changes_; }
  // The output of a job.
  std::vector<job::EffectEntry> output(const job::JobId& job) const;
  std::size_t blobs() const { return blobs_.size(); }
  std::size_t waiting() const { return under_way_.size(); }
  bool idle() const { return under_way_.empty(); }

 private:
  // How to undo a batch of records when power is lost.
  struct RecordsWritten {
    std::vector<job::Record> before;
    std::vector<job::JobId> appended_to;
  };
  struct BlobWritten {
    Hash256 hash;
  };
  using Cached = std::variant<RecordsWritten, BlobWritten>;

  std::optional<peer::DiskDone> apply(const Operation& operation);
  void write(RecordsWritten& undo, const std::string& key, const std::optional<std::string>& value);
  void flush();
  void lose_cache(Rng& rng);
  void tear(const Hash256& hash, const std::string& bytes, Rng& rng);

  std::map<std::string, std::string> records_;
  std::set<std::string> damaged_records_;  // keys; a record that is written again is whole
  std::map<job::JobId, std::vector<job::EffectEntry>> outputs_;
  std::set<job::JobId> damaged_outputs_;
  std::map<Hash256, std::string> blobs_;
  std::deque<Operation> under_way_;
  std::vector<Cached> cached_;  // in the order of writing
  Time busy_until_{0};
  Time full_until_{0};
  std::uint64_t changes_ = 0;
};

}  // namespace gw::sim
