#include "base/reason.h"

#include <array>

#include "base/check.h"

namespace gw {
namespace {

using enum Reason;

constexpr std::array<ReasonEntry, 40> kReasons{{
    {ok, "ok", "no problem", ""},
    {no_peers, "no_peers", "no live peer lends slots",
     "lend slots here with 'godwit share --cores N', or start another machine with 'godwit up --join HOST:PORT'"},
    {no_free_slots, "no_free_slots", "all slots of the grid are in use", "wait, add machines, or lend more with 'godwit share'"},
    {slots_asked, "slots_asked", "peers with free slots have been asked; they answer within seconds", ""},
    {job_limit, "job_limit", "the job uses all the slots it asked for", "submit it with a higher --workers"},
    {keeper_away, "keeper_away", "the host was lost, and neither peer that keeps the last image can be reached",
     "start one of them again; after a minute a task begins anew"},
    {starting, "starting", "the host fetches code and data and has not started the thread yet", ""},
    {keeper_refuses, "keeper_refuses",
     "a peer that is to keep the image does not answer or refuses, and no other has taken its part yet; output waits until one has it",
     "add machines, or free space on those of the grid; 'godwit status' shows what a machine keeps for others"},
    {host_blames, "host_blames", "a host said that the thread cannot run, and another host has to try it", "add machines, or wait"},
    {suspended, "suspended", "the job is suspended, or about to be", "continue it with 'godwit job resume'"},
    {lenders_refuse, "lenders_refuse", "the machines of the grid do not lend to this job now",
     "see the reason of each with 'godwit job explain'; on a machine of yours allow it with 'godwit share --for' or '--when'"},
    {needs_not_met, "needs_not_met", "no machine that could lend slots has what each worker needs",
     "submit the job with a lower --need or --memory, or add a machine that has enough"},
    {lender_disk_full, "lender_disk_full", "the disk of the machine is full, so it runs no jobs of others",
     "free some space there, for example with 'godwit job prune'"},
    {next_at_host, "next_at_host", "a host has the task and runs it after those before it", ""},
    {runs_again, "runs_again", "the task has failed and waits to run again, on another host if there is one", ""},
    {predecessor, "predecessor", "the job begins when the jobs that it follows (--after) have ended well", ""},
    {tasks_before, "tasks_before", "the task begins when the tasks before it have ended well", ""},
    {not_replaced, "not_replaced", "the job has lost machines, and --on-failure ignore replaces none", ""},
    {gang_waits, "gang_waits", "the job begins when it has --min-workers slots at once",
     "wait, add machines, or lend more with 'godwit share'"},
    {gang_too_large, "gang_too_large", "the grid has fewer slots than the job needs at once to begin",
     "add machines, lend more with 'godwit share', or submit it with a lower --min-workers"},
    {no_daemon, "no_daemon", "no daemon is running", "start one with 'godwit up'"},
    {not_listening, "not_listening", "the daemon listens at no address", "restart it with --listen 0.0.0.0:7400"},
    {loopback_only, "loopback_only", "the daemon listens on loopback only", "restart it without --listen, or with --listen 0.0.0.0:7400"},
    {other_port, "other_port", "another program uses the default port, so the next free port is used",
     "open that port in the firewall, or stop the other program"},
    {reach_unknown, "reach_unknown", "it is not known yet whether other peers can dial this machine",
     "join a grid with two other peers and try again in a minute"},
    {outbound_only, "outbound_only", "other peers cannot dial this machine; it dials them",
     "nothing must be done; for more speed forward the port in the router or open it in the firewall"},
    {relay_only, "relay_only", "this machine reaches other peers through relays only",
     "nothing must be done; for more speed allow outgoing TCP connections"},
    {alone, "alone", "no other peer is known", "run 'godwit up --join HOST:PORT' on another machine, with the address of this one"},
    {clock_off, "clock_off", "the clock of this machine differs from the clocks of other peers",
     "set it, for example with 'timedatectl set-ntp true'"},
    {disk_low, "disk_low", "the disk of the state folder is almost full",
     "free some space, for example with 'godwit job prune', or restart the daemon with --state on another disk"},
    {disk_slow, "disk_slow", "the disk of the state folder flushes slowly", "restart the daemon with --state on a faster disk"},
    {no_seccomp, "no_seccomp", "the kernel has no seccomp filters, so workers cannot be sandboxed and do not start",
     "use a kernel with CONFIG_SECCOMP_FILTER"},
    {no_landlock, "no_landlock", "the kernel has no Landlock, so the sandbox has one layer less",
     "use Linux 5.13 or later with lsm=landlock"},
    {no_control_group, "no_control_group", "no control group can be created, so limits are checked periodically instead of enforced",
     "start the daemon with 'godwit up --install', which gets control groups from systemd"},
    {no_write_tracking, "no_write_tracking", "the kernel does not report written pages, so checkpoints cost more",
     "use Linux 6.7 or later, or set sysctl vm.unprivileged_userfaultfd=1"},
    {no_user_namespaces, "no_user_namespaces",
     "this user cannot create namespaces, so 'godwit devstack' with --latency, --loss or --nat needs root",
     "set sysctl kernel.unprivileged_userns_clone=1, or use root"},
    {versions_differ, "versions_differ", "peers run different versions of Godwit", "install the same version on all machines"},
    {lends_nothing, "lends_nothing", "this machine lends nothing now", "change what it lends, and when, with 'godwit share'"},
    {lends_to_owner, "lends_to_owner", "this machine lends only to its owner's jobs and private grids",
     "nothing must be done; to lend to others use 'godwit share --for anyone' or 'godwit share --for \"grid NAME\"'"},
    {workers_fail, "workers_fail", "no worker can start on this machine, so it lends nothing and runs no jobs",
     "do what the message says, for example install the missing library; the daemon tries again every minute"},
}};

}  // namespace

std::span<const ReasonEntry> reasons() { return kReasons; }

const ReasonEntry& entry_of(Reason reason) {
  const ReasonEntry& entry = kReasons[static_cast<std::size_t>(reason)];
  GW_ASSERT(entry.reason == reason);
  return entry;
}

std::optional<Reason> find_reason(std::string_view name) {
  for (const ReasonEntry& entry : kReasons)
    if (entry.name == name) return entry.reason;
  return std::nullopt;
}

}  // namespace gw
