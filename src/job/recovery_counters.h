#pragma once
// How often the plan of a job did not hold, and who was concerned.

#include <cstdint>
#include <map>

#include "job/names.h"
#include "wire/records.pb.h"

namespace gw::job {

// Counts for people; nothing is decided by them. Limit: the peers that a job has had. A value without threads.
class RecoveryCounters {
 public:
  struct Peer {
    std::uint64_t finished = 0;
    std::uint64_t lost = 0;
    std::uint64_t taken = 0;
  };
  enum class From : std::uint8_t { image, beginning };

  RecoveryCounters() = default;
  explicit RecoveryCounters(const wire::pb::RecoveryCountersRecord& record);
  wire::pb::RecoveryCountersRecord record() const;

  void on_finished(const PeerId& host) { ++peers_[host].finished; }
  void on_lost(const PeerId& host);
  void on_peer_lost() { ++peers_lost_; }
  void on_taken(const PeerId& host, From from);
  // What threads tell themselves after a restart.
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
