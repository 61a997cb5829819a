#pragma once
// One peer of a simulated group: a GroupMember with a disk, a clock, and a state to which it applies what is committed.

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "group/group_checks.h"
#include "job/group/group_member.h"
#include "run_log.h"
#include "timeline.h"

namespace gw::sim::group_simulation {

// The disk takes one write after the other. A crash loses those under way, but for some first ones. The state is a hash over everything
// that was applied.
class SimulatedMember {
 public:
  struct Environment {  // outlives it
    Timeline& timeline;
    RunLog& log;
    GroupChecks& checks;
    std::function<void(std::size_t from, const job::GroupSend&)> send;
    std::function<std::size_t(const job::GroupMember&, std::uint64_t index)> copies;  // members with the entry on disk
  };
  struct Machine {
    std::size_t index = 0;
    double drift = 0;  // of its clock, as a part of the time
    Time slowest_write{0};
  };

  static job::PeerId id_of(std::size_t index);
  static std::size_t index_of(const job::PeerId& id) { return id.hash.bytes[0]; }

  SimulatedMember(const Environment& environment, const Machine& machine, const job::GroupMembers& members, Rng rng);

  void start();
  // Starts again after some time; kNever: never.
  void crash(Time down_for);
  void pause_until(Time until) { paused_until_ = std::max(paused_until_, until); }
  void jump_clock(Time ahead) { offset_ += ahead; }

  void on_message(const job::PeerId& from, const job::GroupMessage& message);
  // Of a leader: proposes an entry. False: it does not lead, or takes no more.
  bool propose(std::string content);
  // Of a leader: replaces members that are lost, and with `restless` some that are not.
  void tend_group(std::size_t wanted, std::size_t peers, bool restless, Rng& rng);

  bool up() const { return member_ != nullptr; }
  bool is_dead() const { return dead_; }
  // REQUIRES: up().
  const job::GroupMember& member() const { return *member_; }
  bool has_on_disk(const job::LogPosition& at) const;
  std::string describe() const;  // for people

 private:
  struct Applied {
    std::uint64_t index = 0;
    std::string state;
  };
  using Operation = std::variant<job::GroupWrite, Applied>;
  struct Medium {
    job::Ballot ballot;
    job::GroupLog log;  // its base is the position of the state
    std::string state;
  };

  Time now() const {
    return offset_ + Time(static_cast<std::int64_t>(static_cast<double>(environment_.timeline.now().count()) * (1 + machine_.drift)));
  }
  // Runs the step now, or when the machine runs again, unless it has crashed by then.
  void run(std::function<void()> step);
  void take(job::GroupOutput out);
  void submit(Operation operation);
  void complete();
  void apply_committed();
  void set_timer();

  const Environment environment_;
  const Machine machine_;
  Rng rng_;
  Medium medium_;
  std::unique_ptr<job::GroupMember> member_;
  std::uint64_t boot_ = 0;
  bool dead_ = false;
  Time offset_{0};
  Time paused_until_{0};
  Time timer_at_{-1};
  // Of this boot.
  std::deque<Operation> under_way_;
  Time disk_busy_until_{0};
  std::uint64_t durable_write_ = 0;
  std::deque<job::GroupSend> waiting_;  // for writes
  std::uint64_t committed_ = 0;         // as far as checked
  Applied applying_;                    // the last one given to the disk
  std::uint64_t led_ = 0;               // term
};

}  // namespace gw::sim::group_simulation
