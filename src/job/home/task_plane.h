#pragma once
// Which host gets which tasks of an array; docs/design/013-task-plane.md.

#include <cstdint>
#include <vector>

#include "job/actions.h"
#include "job/authority/manifest.h"
#include "job/home/claim_table.h"
#include "job/home/task_table.h"

namespace gw::job {

// The tasks of one job at its home: leases them to the claims, takes them back from claims that are lost, and leases them a second time
// when nothing else is left to do. Results are Home's: this class says whether a result counts.
//
// Invariants: a leased task is held by at least one claim, and by at most two; every task in no claim waits, is a thread or is over.
// Costs: O(tasks named) per message; O(claims) per tick, and when tasks come back. Limits: TaskLease::Config. A machine without I/O or
// threads: its Home owns and drives it.
class TaskPlane {
 public:
  struct Config {
    TaskLease::Config lease;
    std::uint32_t second_leases = 2;  // per slot of an idle claim, at each tick
  };

  struct Environment {  // outlives it
    JobId job;
    std::uint64_t session;  // the boot of the home: a host that has tasks of an earlier one forgets them
    const Manifest& manifest;
    ClaimTable& claims;
  };
  TaskPlane(const Config& config, const Environment& environment)
      : config_(config),
        environment_(environment),
        claims_(environment.claims),
        table_(environment.manifest.on_task_plane() ? TaskTable(environment.manifest.tasks(), environment.manifest.selected())
                                                    : TaskTable(0)) {}

  TaskTable& table() { return table_; }
  const TaskTable& table() const { return table_; }

  // Whether the content of a report counts. REQUIRES: the host has the claim that the report names.
  bool on_report(const PeerId& host, const JobMessage::TaskReport& report);
  // Acknowledges the reports of the host that have counted. The caller sends it when their content is durable. REQUIRES: a claim.
  Send acknowledgement(const PeerId& host) const;
  // Gives a host its next tasks, if it should have more.
  void feed(Time now, const PeerId& host, Actions& out, TaskTable::SameHost same_host = TaskTable::SameHost::no);
  // The same for all hosts: tasks have come back.
  void feed_all(Time now, Actions& out);
  // Repeats what hosts have not acknowledged, and leases tasks a second time if no other task waits.
  void on_tick(Time now, Actions& out);

  // Takes the task from the host, which has something to say about it, and from another host that has it too. False: it is not leased to
  // this host. True: the task is leased to no claim, and the caller says at once what becomes of it.
  bool take(const PeerId& host, std::uint32_t task);
  // The host does not run the task: it waits again, unless another host has it too. False: it is not leased to this host.
  bool give_back(const PeerId& host, std::uint32_t task);
  // The claim of the host is lost, or its tasks are not to be waited for: all of them are given back.
  void lose(const PeerId& host);
  // Stops all tasks everywhere: they wait again.
  void recall_all(Time now, Actions& out);

 private:
  bool held_elsewhere(const PeerId& host, std::uint32_t task) const;
  void lease_again(Time now, Actions& out);
  Send to_host(const PeerId& host, JobMessage message) const;
  static std::uint32_t free_slots(const Claim& claim);

  const Config config_;
  const Environment environment_;
  ClaimTable& claims_;
  TaskTable table_;
  TaskSet twice_;  // tasks that two claims hold
};

}  // namespace gw::job
