#pragma once
// The properties that must hold in a simulated grid, checked from outside the peers. Each checker has its own file.

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "fake_guest.h"
#include "outcome.h"
#include "peer/peer.h"

namespace gw::sim {

class SimulatedNode;

// Every checker below returns a complaint, or nothing.
using Complaint = std::string;

// Taint: the threads of honest jobs that a Byzantine peer hosts or keeps, or did. A Byzantine peer can spoil these threads and no others.
class TaintedThreads {
 public:
  // Called for each message from an honest peer to a Byzantine one.
  void on_sent(const wire::pb::PeerMessage& message);
  void add(const job::JobId& job, ThreadId thread) { threads_.emplace(job, thread); }
  // A child of a tainted thread is tainted from its fork on.
  void on_stored(const job::JobId& job, const Effect& effect);
  bool contains(const job::JobId& job, ThreadId thread) const { return threads_.contains({job, thread}); }
  std::size_t size() const { return threads_.size(); }

 private:
  std::set<std::pair<job::JobId, ThreadId>> threads_;
};

// Results: home has stored each effect of the undisturbed run once, in order, with one history of clock readings. Of an excused thread and
// its children it checks only that effects have no gap.
Complaint check_results(const std::vector<job::EffectEntry>& output, const ExpectedEffects& expected,
                        const std::function<bool(ThreadId)>& excused);

// Failures: a task that fails runs again as often as it may and no more, and a job with too many failures stops.
struct FailureRules {
  std::uint32_t retries;
  std::uint32_t stop_after;  // 0: never
};
Complaint check_failures(const std::vector<job::EffectEntry>& output, const FailureRules& rules);

// Graphs: nothing of a task is stored before the ends of those before it, and a task is skipped exactly if one of them has failed or is
// skipped. REQUIRES: the job has a graph, and is over.
Complaint check_graph(const std::vector<job::EffectEntry>& output, const job::Manifest& manifest);
// The tasks that were skipped, as the last entry of the output of a job that is over says.
job::TaskSet skipped_tasks(const std::vector<job::EffectEntry>& output);

// The threads that have failed by other means than their exit code, and why, as the last entry of the output of a job that is over says. A
// home that is killed between the record of a failure and its event never sends the event, so the events of a run name fewer.
std::map<ThreadId, std::string> failed_threads(const std::vector<job::EffectEntry>& output);

// Secrecy: images and code of a job are sent to its members only.
class SecrecyChecker {
 public:
  // Called for each message that an honest peer sends about an honest job. `home`: of the job.
  Complaint on_sent(const job::PeerId& home, const job::PeerId& from, const job::Send& send);

 private:
  std::map<std::string, std::set<std::string>> members_;  // of all rosters so far, by job
};

// Single run: no (thread, epoch) runs at two peers.
class LifeChecker {
 public:
  Complaint on_started(std::size_t peer, const job::JobId& job, ThreadId thread, std::uint64_t epoch);

 private:
  std::map<std::tuple<job::JobId, ThreadId, std::uint64_t>, std::size_t> lives_;
};

// Slots: a peer lends no more slots than it has, runs no more threads than slots, and holds no table beyond its limit.
Complaint check_slots(const peer::Peer& peer, const peer::Peer::Config& limits);

// Lending: a machine runs no job of another peer while its owner's rules forbid it, and no more at once than it lends. Users that compete
// for one slot get steps by their weights.
class LendingChecker {
 public:
  Complaint on_turn(Time now, const SimulatedNode& node);

 private:
  // The time in which the same jobs compete for the slot of a node.
  struct Window {
    Time since{0};
    std::map<job::JobId, std::uint32_t> weights;  // of the jobs that compete
    std::map<job::JobId, std::uint64_t> steps;    // that they had taken before
  };
  Complaint check_parts(Time now, const SimulatedNode& node, const Window& window) const;

  std::map<std::size_t, Window> windows_;
};

// Gangs: a job begins only when hosts have confirmed as many slots as it needs, and from then on no host takes slots away from it for
// another job. A host that has died since, or misbehaves, counts as if it had them.
class GangChecker {
 public:
  using NodeOf = std::function<const SimulatedNode*(const job::PeerId&)>;  // nullptr: it misbehaves

  Complaint on_turn(const SimulatedNode& node, const NodeOf& node_of);
  // An honest host has said to the home of an honest job that it took slots away.
  static Complaint on_wounded(const SimulatedNode& home, const SimulatedNode& host, const job::JobMessage& message);

 private:
  std::map<std::size_t, std::set<std::pair<std::uint64_t, job::JobId>>> waiting_;  // gangs that have not begun, by boot, at their homes
};

// Storage: a peer stores for others no more than the limits of its owner allow, for all of them together and for each, as it counts itself
// and as its disk shows.
Complaint check_storage(const SimulatedNode& node);

// Budget: the cost of a job. A storm of messages, or a thread that restarts repeatedly, is a bug even if the results are right.
class BudgetChecker {
 public:
  void on_sent(const wire::pb::PeerMessage& message, std::size_t bytes);
  void on_started(const job::JobId& job, ThreadId thread, std::uint64_t epoch);
  // Each thread of the job may restart once more.
  void on_resumed(const job::JobId& job) { ++resumed_[job]; }
  struct Run {
    std::size_t faults = 0;
    std::size_t owner_returns = 0;  // threads leave the machine of the owner
    std::size_t tasks = 0;
    std::size_t steps = 0;  // of each task, at most
  };
  Complaint check(const Run& run) const;

 private:
  std::uint64_t messages_ = 0;  // about jobs
  std::uint64_t bytes_ = 0;     // of them
  std::map<std::pair<job::JobId, ThreadId>, std::set<std::uint64_t>> epochs_;
  std::map<job::JobId, std::size_t> resumed_;  // how often
};

// Copies: without faults a home sends the inputs of a job about once; the hosts send them on.
class CopiesChecker {
 public:
  // Called for each message of the home of a job to a host. `inputs`: their content.
  void on_sent(const wire::pb::JobMessage& message, const std::vector<std::string>& inputs);
  // `chunks`: of all jobs.
  Complaint check(std::size_t chunks) const;

 private:
  std::size_t chunks_ = 0;  // that were sent
};

// Searches: no peer handles the same round of a search twice, passes it on to more peers than it has neighbours, or to its home or a peer
// that home asks itself.
class SearchChecker {
 public:
  // Called for each message that a peer sends.
  Complaint on_sent(const job::PeerId& from, const job::Send& send);

 private:
  // A peer in one of its boots, and a round of a search.
  using Handling = std::tuple<job::PeerId, std::uint64_t, std::string, std::uint64_t>;

  std::map<Handling, std::set<job::PeerId>> passed_on_;
  std::set<Handling> answered_;
};

// Leaks: some time after the end of all jobs no node has a claim, worker, image, blob or pending operation of them,
// but for the code and inputs in its cache.
Complaint check_leaks(const SimulatedNode& node);

// Notices: no stored effect is notified twice.
class NoticeChecker {
 public:
  Complaint on_effect(const job::JobId& job, const Effect& effect);
  // The thread begins again, and so do its effects.
  void on_repeated(const job::JobId& job, ThreadId thread);

 private:
  std::set<std::tuple<job::JobId, std::uint64_t, job::Stream, std::uint64_t>> seen_;
};

}  // namespace gw::sim
