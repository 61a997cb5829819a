#pragma once
// Peers on this machine that run jobs, as `godwit devstack` starts them.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cpu_quota.h"
#include "os/files/file.h"
#include "os/process/child_process.h"

namespace gw::bench {

// Daemons on loopback that have joined each other. Jobs are given to the first one by `godwit run`, so everything that is measured goes
// through the command, the home, the hosts and the workers that users have. All of them end with the object.
class PeerStack {
 public:
  // One peer with one slot for each: a quota, or none for a whole processor.
  static Result<PeerStack> start(std::vector<std::optional<CpuQuota>> machines);

  struct Run {
    double seconds = 0;  // from the start of the command to its end
    std::string out;
  };
  // `godwit WORDS` with the first peer as its daemon. Fails unless it exits with 0.
  Result<Run> godwit(std::vector<std::string> words) const;
  // The lines that `godwit WORDS` prints, each with the moment at which it was read: microseconds since 1970.
  struct Line {
    std::string text;
    std::int64_t read_at = 0;
  };
  Result<std::vector<Line>> godwit_lines(std::vector<std::string> words) const;
  // A program without the grid: in the command itself, on that machine alone.
  Result<Run> alone(std::size_t machine, std::vector<std::string> words) const;
  Result<Run> alone_native(std::size_t machine, std::vector<std::string> words) const;
  std::vector<std::string> environment() const;
  std::vector<std::string> enter(std::size_t machine) const;

  std::size_t size() const { return peers_.size(); }
  const std::filesystem::path& folder() const { return folder_.path(); }
  // The most memory that the daemon of the home had at any time.
  Result<double> peak_home_mib() const;

 private:
  PeerStack(os::TempDir folder, std::vector<std::optional<CpuQuota>> machines)
      : folder_(std::move(folder)), machines_(std::move(machines)) {}
  std::filesystem::path socket(std::size_t peer) const { return folder_.path() / std::to_string(peer) / "socket"; }
  Status start_peer();
  Status wait_for_all() const;
  std::vector<std::string> command(std::vector<std::string> words) const;
  Result<Run> run(std::vector<std::string> words) const;

  os::TempDir folder_;
  std::vector<std::optional<CpuQuota>> machines_;
  std::vector<os::ChildProcess> peers_;  // gone before their groups are removed
  std::string first_address_;
};

}  // namespace gw::bench
