#pragma once
// A grid in virtual time: peers, their disks and workers, a network between them, and faults.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <vector>

#include "checkers.h"
#include "disk.h"
#include "fake_worker.h"
#include "network.h"
#include "outcome.h"
#include "peer/peer.h"
#include "scenario.h"
#include "world_signer.h"

namespace gw::sim {

// Of a peer, or of a submitter.
SigningKey key_of(std::uint64_t number);

// One run of a scenario with one seed. The same seed gives the same run, to the last event.
class World {
 public:
  World(const Scenario& scenario, std::uint64_t seed, Trace trace);

  Outcome run();

 private:
  struct Node;
  using Call = std::function<void(Node&, Time, std::vector<job::Action>&)>;
  struct Node {
    std::size_t index = 0;
    PublicKey key{};
    job::PeerId id;
    std::unique_ptr<WorldSigner> signer;
    std::uint64_t boot = 0;
    std::unique_ptr<peer::Peer> peer;  // null: down
    Disk disk;
    std::map<job::WorkerId, FakeWorker> workers;
    Time paused_until{0};
    std::deque<Call> deferred;  // what came while it was paused
    Time clock_offset{0};
    Time tick_at = job::kNever;
    bool permanently_dead = false;  // it does not come back
    bool refuses = false;           // while it is down its host is there, and says so
  };
  struct Job {
    std::size_t home = 0;
    Bytes manifest;
    job::JobId id;
    std::map<ThreadId, std::vector<std::string>> expected;
  };
  struct Event {
    Time at;
    std::uint64_t order;
    std::function<void()> happen;
    bool operator>(const Event& other) const { return std::pair(at, order) > std::pair(other.at, other.order); }
  };

  // world.cc
  void schedule(Time at, std::function<void()> happen);
  void advance_to(Time until, const std::function<bool()>& done);
  void complain(Verdict verdict, const std::string& complaint);
  void trace(std::size_t peer, std::string_view what, std::string_view detail);

  // world_jobs.cc
  Job make_job(std::size_t home, std::uint64_t seed);
  void submit(const Job& job);
  void cancel(const Job& job);
  bool over(const Job& job) const;
  bool all_over() const;
  void check_end();

  // world_node.cc
  // Calls into a peer that may be paused; not at all if that life of it is over.
  void call(std::size_t node, std::uint64_t boot, Call call);
  void call_now(Node& node, const Call& call);
  void catch_up(std::size_t node, std::uint64_t boot);
  void boot(Node& node);
  void crash(Node& node);
  void carry_out(Node& node, std::vector<job::Action> actions);
  void carry_out(Node& node, job::Action& action);
  void send(Node& node, const job::Send& send);
  void deliver(std::size_t from, std::size_t to, const Bytes& bytes);
  void tell_unreachable(Node& sender, std::size_t to);
  void connect(Node& node, const std::string& address);
  void dial_back(Node& node, const job::DialBack& what);
  void notice(Node& node, const job::Event& event);
  void to_disk(Node& node, Disk::Operation operation);
  void to_worker(Node& node, const job::FrameToWorker& action);
  void from_worker(Node& node, job::WorkerId worker, std::vector<WorkerOutput> outputs);
  void step_later(Node& node, job::WorkerId worker, ThreadId thread);
  Result<Bytes> assemble(const Node& node, const job::Attachment& attachment) const;
  void arm(Node& node);

  // world_faults.cc
  void make_faults();
  void heal();
  bool chance(double per_second);
  void cut_some();
  void kill_permanently(Node& node);
  void lie(std::size_t to, const Bytes& overheard);

  const Scenario scenario_;
  const Trace trace_;
  Rng world_rng_;
  Rng fault_rng_;
  FaultMix faults_;
  Network network_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t next_order_ = 0;
  Time now_{0};
  bool healed_ = false;
  bool over_ = false;  // nobody submits any more

  std::string module_;
  std::vector<Job> jobs_;
  LifeChecker lives_;
  NoticeChecker notices_;
  Outcome outcome_;
};

}  // namespace gw::sim
