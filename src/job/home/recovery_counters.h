#pragma once
// Counts of lost hosts, lost threads and recoveries of a job, in all and per peer.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "job/names.h"
#include "wire/records.pb.h"

namespace gw::job {

// Counters for display only: no decision depends on them. Limit: the number of peers that a job has had. A value without threads.
class RecoveryCounters {
 public:
  struct Peer {
    std::uint64_t finished = 0;
    std::uint64_t lost = 0;
    std::uint64_t taken = 0;
    std::string failure = {};  // what it said last of a worker that died or did not start
  };
  enum class From : std::uint8_t { image, beginning };

  RecoveryCounters() = default;
  explicit RecoveryCounters(const wire::pb::RecoveryCountersRecord& record);
  wire::pb::RecoveryCountersRecord record() const;

  void on_finished(const PeerId& host) { ++peers_[host].finished; }
  // `failure`: what the host said; empty: nothing.
  void on_lost(const PeerId& host, std::string_view failure);
  void on_peer_lost() { ++peers_lost_; }
  void on_taken(const PeerId& host, From from);
  // Clears the finished counts: after a restart they are counted again from the thread records.
  void forget_finished();

  const std::map<PeerId, Peer>& peers() const { return peers_; }

 private:
  std::map<PeerId, Peer> peers_;
  std::uint64_t peers_lost_ = 0;
  std::uint64_t lost_ = 0;
  std::uint64_t resumed_ = 0;
  std::uint64_t restarted_ = 0;
};

}  // namespace gw::job
