#pragma once
// The work that this peer has given to others and used from others.

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "job/actions.h"
#include "job/lending/lending_rules.h"
#include "job/names.h"

namespace gw::job {

// The ledger of a lender and consumer, first hand only: what this peer itself has measured, by peer. *Given* is the slot time that jobs of
// that peer (of which it is the home) had here, *used* the slot time that jobs of this peer had there. Kept on disk.
//
// Limits: Config::peers; beyond that the peer with the least given and used is forgotten, of equal ones that which changed first. Costs:
// O(log peers) per entry, O(peers) for a peer more than the limit. A value without I/O, clock or threads.
class Balance {
 public:
  struct Config {
    std::size_t peers = 1024;
    Time record_every = std::chrono::seconds(10);
  };
  struct Entry {
    Time given{0};  // slot time
    Time used{0};
    std::uint64_t given_bytes = 0;  // of blobs sent and received for it
    std::uint64_t used_bytes = 0;
    ConsumerName user = {};  // whose job ran here last; zero: none did
    Time changed_at{0};      // since 1970

    auto operator<=>(const Entry&) const = default;
  };

  explicit Balance(const Config& config) : config_(config) {}

  void recover(const PeerId& peer, const Entry& entry) { entries_[peer] = entry; }
  void give(const PeerId& peer, const ConsumerName& user, Time slot_time, Time wall);
  void use(const PeerId& peer, Time slot_time, Time wall);
  void give_bytes(const PeerId& peer, std::uint64_t bytes, Time wall) { change(peer, wall).given_bytes += bytes; }
  void use_bytes(const PeerId& peer, std::uint64_t bytes, Time wall) { change(peer, wall).used_bytes += bytes; }

  const std::map<PeerId, Entry>& entries() const { return entries_; }
  // Writes what has changed, at most every Config::record_every.
  void record(Time now, Actions& out);
  Time next_deadline() const { return changed_.empty() ? kNever : record_at_; }

  static std::string encode(const Entry& entry);
  // Kind::corrupt.
  static Result<Entry> decode(const std::string& bytes);

 private:
  Entry& change(const PeerId& peer, Time wall);

  const Config config_;
  std::map<PeerId, Entry> entries_;
  std::set<PeerId> changed_;  // since they were recorded; also those that were forgotten
  Time record_at_{0};
};

}  // namespace gw::job
