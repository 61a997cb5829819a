#pragma once
// The work that this peer has given to others and used from others.

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "job/actions.h"
#include "job/lending/lending_rules.h"
#include "job/names.h"
#include "job/records.h"

namespace gw::job {

// The ledger of a lender and consumer, first hand only: what this peer itself has measured, by peer and user. *Given* is the slot time that
// jobs of that user had here, of which that peer is the home; *used*, without a user, the slot time that jobs of this peer had there. Kept
// on disk.
//
// Limits: Config::entries; beyond that the entry with the least given and used is forgotten, of equal ones that which changed first. Costs:
// O(log entries) per change, O(entries) for an entry more than the limit. A value without I/O, clock or threads.
class Balance {
 public:
  struct Config {
    std::size_t entries = 1024;
    Time record_every = std::chrono::seconds(10);
  };
  struct Name {
    PeerId peer;
    ConsumerName user = {};  // zero: what this peer has used there

    auto operator<=>(const Name&) const = default;
  };
  struct Entry {
    Time given{0};  // slot time
    Time used{0};
    std::uint64_t given_bytes = 0;  // of blobs sent and received for it
    std::uint64_t used_bytes = 0;
    Time changed_at{0};  // since 1970

    auto operator<=>(const Entry&) const = default;
  };

  explicit Balance(const Config& config) : config_(config) {}

  void recover(const Name& name, const Entry& entry) { entries_[name] = entry; }
  void give(const Name& name, Time slot_time, Time wall) { change(name, wall).given += slot_time; }
  void use(const PeerId& peer, Time slot_time, Time wall) { change({peer}, wall).used += slot_time; }
  void give_bytes(const Name& name, std::uint64_t bytes, Time wall) { change(name, wall).given_bytes += bytes; }
  void use_bytes(const PeerId& peer, std::uint64_t bytes, Time wall) { change({peer}, wall).used_bytes += bytes; }

  const std::map<Name, Entry>& entries() const { return entries_; }
  // Writes what has changed, at most every Config::record_every.
  void record(Time now, Actions& out);
  Time next_deadline() const { return changed_.empty() ? kNever : record_at_; }

  static std::string encode(const Name& name, const Entry& entry);
  // `key`: of the record. Kind::corrupt.
  static Result<std::pair<Name, Entry>> decode(const RecordKey& key, const std::string& bytes);

 private:
  Entry& change(const Name& name, Time wall);

  const Config config_;
  std::map<Name, Entry> entries_;
  std::set<Name> changed_;  // since they were recorded; also those that were forgotten
  Time record_at_{0};
};

}  // namespace gw::job
