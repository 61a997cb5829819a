#pragma once
// The checks of `godwit doctor`: each decides from facts, so that tests need no machine in trouble.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/reach.h"
#include "base/reason.h"

namespace gw::cli {

enum class Verdict : std::uint8_t { ok, warn, bad };  // bad: something does not work
std::string_view name(Verdict verdict);

struct Finding {
  std::string check;  // "ports"
  Verdict verdict = Verdict::ok;
  Reason reason = Reason::ok;
  std::string sentence;  // what was found
  std::string fix;       // empty: nothing to do
};

Finding check_ports(const std::vector<std::string>& addresses);
// `reached` of the peers that were asked could dial this one, `missed` could not.
Finding check_reach(Reach reach, std::size_t reached, std::size_t missed);
// `published` is where others reach this peer, `own` are the addresses of this machine.
Finding check_nat(Reach reach, const std::string& published, const std::vector<std::string>& own);
Finding check_peers(std::size_t others);
// `ahead`: the clocks of other peers minus ours.
Finding check_clock(std::vector<std::chrono::milliseconds> ahead);
Finding check_versions(const std::string& ours, const std::vector<std::string>& others);
struct DiskFacts {
  std::uint64_t free_bytes = 0;
  bool full = false;                   // or the daemon says so: it takes no new work
  std::chrono::milliseconds flush{0};  // how long it took to make 4 KiB durable
};
// `not_lending`: why jobs of other peers get nothing now; empty: some may.
// `workers_fail`: why no worker can start; empty: they can. `speed`: thousandths of that of the reference machine; 0: not known yet.
Finding check_workers(const std::string& workers_fail, std::uint32_t speed);
Finding check_lending(std::uint32_t slots, const std::string& not_lending, const std::string& audience);
Finding check_disk(const DiskFacts& disk);
struct KernelFacts {
  bool seccomp = false;
  int landlock = 0;
  std::string control_group;
  std::string no_control_group;
  bool write_tracking = false;
  bool user_namespaces = false;
};
std::vector<Finding> check_kernel(const KernelFacts& kernel);

// The worst verdict.
Verdict overall(const std::vector<Finding>& findings);

}  // namespace gw::cli
