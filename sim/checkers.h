#pragma once
// What must be true of a simulated grid, looked at from outside. Each in a file of its own.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "fake_guest.h"
#include "peer/peer.h"

namespace gw::sim {

// Everything below returns what is wrong, or nothing.
using Complaint = std::string;

// check_results.cc: what home has stored is each effect of the undisturbed run, once, in order, and one history of clock readings.
Complaint check_results(const std::vector<job::EffectEntry>& output, const std::map<ThreadId, std::vector<std::string>>& expected);

// check_lives.cc: no (thread, epoch) runs at two peers.
class LifeChecker {
 public:
  Complaint on_started(std::size_t peer, const job::JobId& job, ThreadId thread, std::uint64_t epoch);

 private:
  std::map<std::tuple<job::JobId, ThreadId, std::uint64_t>, std::size_t> lives_;
};

// check_slots.cc: a peer lends no more slots than it has, runs no more threads than slots, and holds no table beyond its limit.
Complaint check_slots(const peer::Peer& peer, const peer::Peer::Config& limits);

// check_leaks.cc: after the end of all jobs nothing of them is left at a peer.
Complaint check_leaks(const peer::Peer& peer, std::uint32_t slots, std::size_t blobs_on_disk);

// check_notices.cc: no stored effect is told twice.
class NoticeChecker {
 public:
  Complaint on_effect(const job::JobId& job, const Effect& effect);

 private:
  std::set<std::tuple<job::JobId, std::uint64_t, std::uint64_t>> seen_;
};

}  // namespace gw::sim
