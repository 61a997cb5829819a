#pragma once
// A grid in virtual time: peers, their disks and workers, a network between them, jobs, and faults.

#include <cstdint>
#include <optional>

#include "checks/checkers.h"
#include "faults/byzantine_node.h"
#include "faults/fault_injector.h"
#include "faults/saboteur.h"
#include "faults/stranger.h"
#include "job_workload.h"
#include "private_grid.h"
#include "scenario.h"
#include "simulated_node.h"
#include "simulated_transport.h"

namespace gw::sim {

// A run of a scenario with one seed. The same seed gives the same run, to the last event. Faults are injected until Scenario::fault_time;
// then everything is healed and the jobs must end.
class World final : public NodeEnvironment {
 public:
  World(const Scenario& scenario, std::uint64_t seed, Trace trace) : World(scenario, seed, nullptr, trace) {}
  // Takes the faults from the script instead of drawing them from the seed; `scenario` is the one that the script names.
  World(const Scenario& scenario, const FaultScript& script, Trace trace) : World(adapted(scenario, script), script.seed, &script, trace) {}

  Outcome run();
  // The faults of the run so far, as a script; the caller fills in its scenario.
  FaultScript script() const;
  // How many actions each node has carried out: the possible crash points.
  std::vector<std::uint64_t> actions() const;

 private:
  World(const Scenario& scenario, std::uint64_t seed, const FaultScript* script, Trace trace);
  static Scenario adapted(Scenario scenario, const FaultScript& script);
  SimulatedNode::Setup setup_of(std::size_t node);
  void start_faults();
  bool running() const { return log_.good(); }
  void check_end();
  Complaint check_work() const;
  BudgetChecker::Run budget() const;
  void let_strangers_speak();
  void let_owner_act(SimulatedNode& node);
  void tell(std::size_t stranger, const std::vector<Stranger::Told>& messages);
  void replay_as_byzantine(std::size_t to, const Bytes& overheard);
  bool is_honest(const SimulatedNode& node) const { return !byzantine_.contains(node.index()); }
  // Whether the thread must have the right result.
  bool is_trusted(const job::JobId& job, ThreadId thread) const;
  std::vector<Bytes> distort(std::size_t from, const wire::pb::PeerMessage& message, Bytes encoded);
  void watch_wounded(std::size_t from, std::size_t to, const job::JobMessage& message);
  void watch(std::size_t from, std::size_t to, const job::Send& send, const Bytes& encoded);

  void on_send(SimulatedNode& node, job::Send send) override { transport_.send(node, send); }
  void on_connect(SimulatedNode& node, const std::string& address) override { transport_.connect(node, address); }
  void on_dial_back(SimulatedNode& node, const job::DialBack& what) override { transport_.dial_back(node, what); }
  void on_disconnect(SimulatedNode&, const job::PeerId&) override {}  // only a revocation disconnects, and no scenario revokes
  void on_event(SimulatedNode& node, const job::Event& event) override;
  void on_failed(const job::ThreadFailed& failed);
  void on_worker_misled(SimulatedNode& node, const job::JobId& job, const std::string& why) override;
  Result<WorkerOutput> on_worker_output(SimulatedNode& node, WorkerOutput output) override;
  void on_thread_started(SimulatedNode& node, const job::JobId& job, ThreadId thread, std::uint64_t epoch) override;
  void on_turn(SimulatedNode& node) override;
  void on_crash_point(SimulatedNode& node) override;

  const Scenario scenario_;
  const std::uint64_t seed_;
  std::optional<FaultScript> script_;
  Rng rng_;
  FaultMix mix_;
  Timeline timeline_;
  RunLog log_;
  Nodes nodes_;
  SimulatedTransport transport_;
  FaultInjector faults_;
  PrivateGrid private_grid_;
  JobWorkload workload_;
  Rng byzantine_rng_;
  std::size_t owner_returns_ = 0;
  std::map<std::size_t, ByzantineNode> byzantine_;
  std::map<std::size_t, Saboteur> saboteurs_;
  std::map<std::size_t, Stranger> strangers_;  // empty when all jobs are over
  TaintedThreads tainted_;
  TaintedThreads lost_;  // threads that failed for a reason that their scenario permits
  SecrecyChecker secrecy_;
  LifeChecker lives_;
  NoticeChecker notices_;
  BudgetChecker budget_;
  LendingChecker lending_;
  GangChecker gangs_;
  CopiesChecker copies_;
  SearchChecker searches_;
};

}  // namespace gw::sim
