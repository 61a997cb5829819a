#include "base/reason.h"

#include <array>

#include "base/check.h"

namespace gw {
namespace {

using enum Reason;

constexpr std::array<ReasonEntry, 24> kReasons{{
    {ok, "ok", "all is well", ""},
    {no_peers, "no_peers", "no peer that lends slots is alive",
     "lend slots here ('godwit share --cores N'), or start a peer elsewhere: 'godwit up --join HOST:PORT'"},
    {no_free_slots, "no_free_slots", "every slot of the grid is taken",
     "wait for other threads to end, let more machines join, or 'godwit share' more"},
    {slots_asked, "slots_asked", "peers with free slots have been asked and answer within seconds", ""},
    {job_limit, "job_limit", "the job runs on as many slots as it asked for", "start it with a higher --workers"},
    {keeper_away, "keeper_away", "the host is lost and the peer that keeps its last image is away",
     "start that peer again; after a minute a task begins anew"},
    {starting, "starting", "its host fetches what it needs and has not said that it runs", ""},
    {no_daemon, "no_daemon", "no daemon answers", "start one: godwit up"},
    {not_listening, "not_listening", "the daemon listens at no address", "start it with --listen 0.0.0.0:7400"},
    {loopback_only, "loopback_only", "the daemon listens on this machine only", "start it without --listen, or with --listen 0.0.0.0:7400"},
    {other_port, "other_port", "the usual port is another program's, so the next free one is used",
     "open that port in the firewall, or end the program that has the usual one"},
    {reach_unknown, "reach_unknown", "whether others can dial this peer is not known yet",
     "it needs two connected peers: join a grid and try again in a minute"},
    {outbound_only, "outbound_only", "others cannot dial this peer, only it dials them",
     "it works; faster: forward the port in the router, or open it in the firewall"},
    {relay_only, "relay_only", "this peer reaches others only through relays", "it works; faster: allow outgoing TCP connections"},
    {alone, "alone", "no other peer is known", "on another machine: godwit up --join HOST:PORT of this one"},
    {clock_off, "clock_off", "the clock differs from those of other peers", "set it: timedatectl set-ntp true"},
    {disk_low, "disk_low", "there is little room left where the daemon keeps its state",
     "make room, or start it with --state on another disk"},
    {disk_slow, "disk_slow", "the disk takes long to make a write durable", "start it with --state on a faster disk"},
    {no_seccomp, "no_seccomp", "the kernel has no seccomp filters, so no worker can be caged", "use a kernel with CONFIG_SECCOMP_FILTER"},
    {no_landlock, "no_landlock", "the kernel has no Landlock: one wall of the cage less", "Linux 5.13 or later with lsm=landlock"},
    {no_control_group, "no_control_group", "no control group can be made: limits are watched, not held",
     "'godwit up --install' gets groups from systemd"},
    {no_write_tracking, "no_write_tracking", "the kernel does not tell which pages were written: saves cost more",
     "Linux 6.7 or later, or sysctl vm.unprivileged_userfaultfd=1"},
    {no_user_namespaces, "no_user_namespaces", "this user can make no namespaces: 'devstack' with a network needs root",
     "sysctl kernel.unprivileged_userns_clone=1, or use root"},
    {versions_differ, "versions_differ", "peers run different versions of Godwit", "bring all machines to the same version"},
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
