#pragma once
// Counts of lost hosts, lost threads and recoveries of a job, in all and per peer.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "job/names.h"
#include "wire/records.pb.h"

namespace gw::job {

// Counters for display only: no decision depends on them. Limit: per peer, those of the kMostPeers peers that changed last. A value without
// threads.
class RecoveryCounters {
 public:
  struct Peer {
    std::uint64_t finished = 0;
    std::uint64_t lost = 0;
    std::uint64_t taken = 0;
    std::string failure = {};   // what it said last of a worker that died or did not start, or why it lends nothing to the job
    std::uint64_t changed = 0;  // rises with each change of a peer; 0: it has only refused
  };
  enum class From : std::uint8_t { image, beginning };
  static constexpr std::size_t kMostPeers = 4096;
  static constexpr std::size_t kMostRefusing = 256;

  RecoveryCounters() = default;
  explicit RecoveryCounters(const wire::pb::RecoveryCountersRecord& record);
  wire::pb::RecoveryCountersRecord record() const;

  void on_finished(const PeerId& host) { ++change(host).finished; }
  // `failure`: what the host said; empty: nothing.
  void on_lost(const PeerId& host, std::string_view failure);
  // This is not recorded by itself: the host is asked again, and says it again. A search is answered by any number of peers, so that only
  // so many are remembered for a refusal alone, and they make room for those that work.
  void on_refused(const PeerId& host, std::string_view why);
  void on_peer_lost() {
    ++peers_lost_;
    changed_ = true;
  }
  void on_taken(const PeerId& host, From from);
  // After a restart: so many threads and tasks have finished at the peers with these tags (job/effects/stored_effect.h).
  void recover_finished(const std::map<std::uint64_t, std::uint64_t>& by_tag);
  // Clears the finished counts: after a restart they are counted again, from the records of threads and the ends in the output.
  void forget_finished();

  // Whether a loss or a recovery was counted, or a peer became known, since the last call. What has finished is counted again after a
  // restart.
  bool take_changed() { return std::exchange(changed_, false); }

  const std::map<PeerId, Peer>& peers() const { return peers_; }

 private:
  Peer& change(const PeerId& host);

  std::map<PeerId, Peer> peers_;
  std::uint64_t changes_ = 0;
  bool changed_ = false;
  std::uint64_t peers_lost_ = 0;
  std::uint64_t lost_ = 0;
  std::uint64_t resumed_ = 0;
  std::uint64_t restarted_ = 0;
};

}  // namespace gw::job
