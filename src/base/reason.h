#pragma once
// Reasons why a thing waits, is refused or is wrong: one list, with a name for programs and a sentence for users. The names never
// change; docs/reasons.md is checked against the list.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace gw {

enum class Reason : std::uint8_t {
  ok,
  // why a thread of a job does not run
  no_peers,
  no_free_slots,
  slots_asked,
  job_limit,
  keeper_away,
  starting,
  keeper_refuses,
  host_blames,
  suspended,
  lenders_refuse,
  needs_not_met,
  lender_disk_full,
  next_at_host,
  runs_again,
  predecessor,
  tasks_before,
  not_replaced,
  gang_waits,
  gang_too_large,
  // findings of `godwit doctor`
  no_daemon,
  not_listening,
  loopback_only,
  other_port,
  reach_unknown,
  outbound_only,
  relay_only,
  alone,
  clock_off,
  disk_low,
  disk_slow,
  no_seccomp,
  no_landlock,
  no_control_group,
  no_write_tracking,
  no_user_namespaces,
  versions_differ,
  lends_nothing,
  lends_to_owner,
  workers_fail,
};

struct ReasonEntry {
  Reason reason;
  std::string_view name;
  std::string_view sentence;  // what it means
  std::string_view fix;       // what to do about it; empty: nothing
};

// A reason with what is particular to one case: "needs 2.0 GiB of memory, the largest offer has 400 MiB".
struct Explanation {
  Explanation() = default;
  Explanation(Reason what, std::string more = {}) : reason(what), detail(std::move(more)) {}  // NOLINT: a reason alone is one too

  Reason reason = Reason::ok;
  std::string detail;  // a sentence with numbers and names, without a full stop; empty: the sentence of the reason says all

  auto operator<=>(const Explanation&) const = default;
};

std::span<const ReasonEntry> reasons();  // in the order of Reason
const ReasonEntry& entry_of(Reason reason);
std::optional<Reason> find_reason(std::string_view name);

}  // namespace gw
