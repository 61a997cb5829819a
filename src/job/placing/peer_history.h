#pragma once
// Experience of the jobs of this home with other peers.

#include <cstdint>
#include <map>

#include "job/names.h"

namespace gw::job {

// The speed of peers at the tasks of jobs, and how much of their work ended well. Other jobs choose among offers by it.
//
// A speed is in units of the speeds that peers say they have: of the peers that work for one job at the same time, the measured speeds have
// the same sum as the offered ones. So a peer that says too much, or is slow at what this home runs, is found out as soon as a second
// peer works beside it.
//
// Limit: Config::peers; the peer of which nothing was noted for longest is forgotten. A value without I/O, clock or threads.
class PeerHistory {
 public:
  struct Config {
    std::size_t peers = 1024;
    double newest = 0.2;  // weight of the newest measurement of a speed
  };
  struct Entry {
    double speed = 0;  // 0: not measured
    std::uint64_t finished = 0;
    std::uint64_t lost = 0;
    std::uint64_t noted = 0;  // rises with each change
  };

  explicit PeerHistory(const Config& config) : config_(config) {}

  void note_speed(const PeerId& peer, double speed);
  // Counts the tasks and threads of a job that have ended at the peer, and those lost there.
  void note_work(const PeerId& peer, std::uint64_t finished, std::uint64_t lost);

  // 0: not measured.
  double speed_of(const PeerId& peer) const;
  // Share of the work that ended; 1 of a peer that has done none.
  double success_of(const PeerId& peer) const;
  std::size_t size() const { return entries_.size(); }

 private:
  Entry& change(const PeerId& peer);

  const Config config_;
  std::map<PeerId, Entry> entries_;
  std::uint64_t notes_ = 0;
};

}  // namespace gw::job
