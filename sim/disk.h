#pragma once
// The disk of a simulated peer: slow, in order, and torn by a crash.

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <variant>

#include "base/rng.h"
#include "peer/peer.h"
#include "scenario.h"

namespace gw::sim {

// Operations take effect one after the other, each some time after the one before. A crash loses those that are under way, but for some
// first ones, and the next may be done in part: a batch of records is atomic, a blob is not.
class Disk {
 public:
  using Operation = std::variant<job::Persist, job::DropRecords, job::StoreBlob, job::LoadBlob, job::DropBlob, job::RetainBlobs>;

  // Takes an operation; returns when it will be done.
  Time submit(Time now, Operation operation, Time latency);
  // The first one under way is done. What the peer is told, if anything.
  std::optional<peer::DiskDone> complete();
  void crash(Rng& rng);

  peer::Stored stored() const;
  std::optional<std::string> blob(const Hash256& hash) const;  // none if missing or damaged
  const std::map<std::string, std::string>& records() const { return records_; }
  std::size_t blobs() const { return blobs_.size(); }

 private:
  std::optional<peer::DiskDone> apply(const Operation& operation);

  std::map<std::string, std::string> records_;
  std::map<Hash256, std::string> blobs_;
  std::deque<Operation> under_way_;
  Time busy_until_{0};
};

}  // namespace gw::sim
