#pragma once
// The disk of a simulated peer: slow, in order, torn by a crash, and with a cache that power loss empties.

#include <deque>
#include <map>
#include <optional>
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
//   cached     read by everybody, lost by power loss: each blob by itself, wholly or in part, and records from some batch on;
//   flushed    on the medium. The answer to Persist comes when the batch, and all blobs before it, are.
class Disk {
 public:
  using Operation =
      std::variant<job::Persist, job::DropRecords, job::DropOutput, job::StoreBlob, job::LoadBlob, job::DropBlob, job::RetainBlobs>;

  // Takes an operation; returns when it will be done.
  Time submit(Time now, Operation operation, Time latency);
  // The first one under way is done. What the peer is told, if anything.
  std::optional<peer::DiskDone> complete();
  void crash(CrashKind kind, Rng& rng);
  // Damages some blob at rest. False: there is none.
  bool rot(Rng& rng);

  peer::Stored stored() const;
  std::optional<std::string> blob(const Hash256& hash) const;  // none if missing or damaged
  const std::map<std::string, std::string>& records() const { return records_; }
  // What the job has written.
  std::vector<job::EffectEntry> output(const job::JobId& job) const;
  std::size_t blobs() const { return blobs_.size(); }

 private:
  // What power loss takes back.
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
  std::map<job::JobId, std::vector<job::EffectEntry>> outputs_;
  std::map<Hash256, std::string> blobs_;
  std::deque<Operation> under_way_;
  std::vector<Cached> cached_;  // in the order of writing
  Time busy_until_{0};
};

}  // namespace gw::sim
