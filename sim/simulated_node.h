#pragma once
// A peer of a simulated grid with its clock, processor, disk and workers.

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "disk.h"
#include "peer/peer.h"
#include "run_log.h"
#include "timeline.h"
#include "worker_pool.h"
#include "world_signer.h"

namespace gw::sim {

class SimulatedNode;

// The interface from a node to the rest of the simulation.
class NodeEnvironment {
 public:
  virtual ~NodeEnvironment() = default;
  virtual void on_send(SimulatedNode& node, job::Send send) = 0;
  virtual void on_connect(SimulatedNode& node, const std::string& address) = 0;
  virtual void on_dial_back(SimulatedNode& node, const job::DialBack& what) = 0;
  virtual void on_disconnect(SimulatedNode& node, const job::PeerId& peer) = 0;
  virtual void on_event(SimulatedNode& node, const job::Event& event) = 0;
  virtual void on_worker_misled(SimulatedNode& node, const job::JobId& job, const std::string& why) = 0;
  // Output of a worker passes here and may be changed. An error: the node refuses the output and ends the worker.
  virtual Result<WorkerOutput> on_worker_output(SimulatedNode& node, WorkerOutput output) = 0;
  virtual void on_thread_started(SimulatedNode& node, const job::JobId& job, ThreadId thread, std::uint64_t epoch) = 0;
  // A call into the peer is complete; checkers run here.
  virtual void on_turn(SimulatedNode& node) = 0;
  // The node has carried out the action after which it was to crash.
  virtual void on_crash_point(SimulatedNode& node) = 0;
};

// The speed of a machine and the error of its clock.
struct Machine {
  Time cpu_per_input{0};
  Time cpu_per_kibibyte{0};
  Time disk{std::chrono::microseconds(200)};  // longest time of one operation
  std::int64_t drift_ppm = 0;
};

// Inputs wait while the node is paused or busy, and are lost when it crashes. The peer inside knows only its own clock. A value of the
// simulation; timeline, log and environment outlive it.
class SimulatedNode {
 public:
  using Call = std::function<void(peer::Peer&, Time local, std::vector<job::Action>&)>;
  struct Setup {
    std::size_t index = 0;
    PublicKey key{};
    peer::Peer::Config config;
    Machine machine;
    std::string module;
    job::EffectGate::Config gate = {};
    FakeWorker::IsFlaky is_flaky = [](std::uint32_t) { return false; };
    Time step{0};  // of a guest
    std::uint64_t seed = 0;
  };

  SimulatedNode(Setup setup, Timeline& timeline, RunLog& log, NodeEnvironment& environment);

  std::size_t index() const { return setup_.index; }
  const job::PeerId& id() const { return id_; }
  std::uint64_t boot_number() const { return boot_; }
  bool up() const { return peer_ != nullptr; }
  // REQUIRES: up().
  peer::Peer& peer() { return *peer_; }
  const peer::Peer& peer() const { return *peer_; }
  Disk& disk() { return disk_; }
  const Disk& disk() const { return disk_; }
  std::uint32_t slots() const { return setup_.config.slots.slots; }
  const peer::Peer::Config& config() const { return setup_.config; }
  WorkerPool& workers() { return workers_; }
  const WorkerPool& workers() const { return workers_; }
  Time local_time() const;
  std::uint64_t inputs_waiting() const { return waiting_.size(); }

  void boot();
  void crash(CrashKind kind, Rng& rng);
  // Ends as a daemon that was stopped: everything that it gave to its disk is there.
  void shut_down();
  // An input of `bytes` bytes to the present boot of the peer. It waits while the node is busy, and is lost if that boot ends.
  void call(Call what, std::size_t bytes = 0) { call(boot_, std::move(what), bytes); }
  void call(std::uint64_t boot, Call what, std::size_t bytes = 0);

  void pause_until(Time until) { paused_until_ = until; }
  // Advances the node's clock at once, as on a machine that slept.
  void jump_clock(Time by);
  void kill_worker();
  void fill_disk(Time lasts);
  void set_slots(std::uint32_t slots);
  void set_machine(const Machine& machine);
  // Calls on_crash_point() after so many actions that concern jobs or the disk.
  void crash_after(std::uint64_t actions) { crash_after_ = actions; }
  std::uint64_t actions() const { return actions_; }

 private:
  struct Input {
    Call call;
    std::size_t bytes;
  };

  Time free_at() const { return std::max(paused_until_, busy_until_); }
  void call_now(const Input& input);
  void catch_up(std::uint64_t boot);
  void arm_tick();
  Time world_time(Time local) const;
  void carry_out(std::vector<job::Action> actions);
  void carry_out(job::Action& action);
  bool reaches_crash_point(const job::Action& action);
  void to_disk(Disk::Operation operation);
  void tell_disk_room();
  std::optional<std::string> read_blob(const Hash256& hash);
  void on_output(job::WorkerId worker, WorkerOutput output);

  Setup setup_;
  const job::PeerId id_;
  Timeline& timeline_;
  RunLog& log_;
  NodeEnvironment& environment_;
  WorldSigner signer_;
  Rng rng_;
  Disk disk_;
  WorkerPool workers_;
  std::uint64_t boot_ = 0;
  std::unique_ptr<peer::Peer> peer_;  // null: down
  std::deque<Input> waiting_;         // not empty: catch_up() is scheduled
  Time paused_until_{0};
  Time busy_until_{0};
  Time clock_offset_{0};
  Time drift_since_{0};
  Time tick_at_ = job::kNever;
  std::uint64_t actions_ = 0;
  std::optional<std::uint64_t> crash_after_;
};

}  // namespace gw::sim
