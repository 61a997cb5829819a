#pragma once
// The command line of the daemon.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "wire/invitation.h"

namespace gw::daemon {

inline constexpr std::uint16_t kDefaultPort = 7400;
inline constexpr std::uint16_t kPortsTried = 100;  // from kDefaultPort on, until one is free

struct Options {
  std::filesystem::path state;                // --state DIR
  std::filesystem::path socket;               // --socket PATH; by default in the state folder
  std::vector<std::string> listen;            // --listen ADDR:PORT, may be repeated; empty: all addresses, from kDefaultPort on
  std::vector<std::string> join;              // --join HOST:PORT, may be repeated
  std::vector<wire::Invitation> invitations;  // --join godwit:...
  std::vector<std::string> trackers;          // --join http://HOST:PORT, as HOST:PORT
  std::string tracker;                        // --tracker ADDR:PORT: also run a tracker
  std::optional<std::string> web;             // --web ADDR:PORT: also serve the dashboard there; 'auto': loopback, a free port
  enum class Discovery : std::uint8_t { on, off };
  Discovery discovery = Discovery::on;  // --no-discovery; never on loopback
  std::vector<std::string> grids;       // --grid NAME, may be repeated; by default the grids of the last run, else the open one
  std::optional<Hash256> owner;         // --owner KEY: the public key that signs the jobs of this user
  std::string audience;                 // --for WHO: as `godwit share --for`; kept for later starts
  enum class FirstGrid : std::uint8_t { open, none };
  FirstGrid first_grid = FirstGrid::open;                       // --no-first-grid: a peer that was in no grid before joins none by itself
  std::string name;                                             // --name NAME: of this machine, for people; by default the host name
  std::optional<std::uint32_t> slots;                           // --slots N; by default the stored share, else one per processor
  std::chrono::seconds keep_for = std::chrono::hours(24 * 30);  // --keep-jobs SECONDS: jobs that have ended
  std::uint64_t keep_bytes = 10ull << 30;                       // --keep-output BYTES: of their output
  bool fetch_private = false;                                   // --fetch-private: URLs of private addresses may be fetched
  std::filesystem::path worker;                                 // --worker PATH; by default beside this program
  std::filesystem::path log;                                    // --log FILE; by default stderr
  int ready_fd = -1;                                            // --ready-fd N: gets a line when the daemon is ready
  enum class Life : std::uint8_t { own, starter };
  Life life = Life::own;  // --ephemeral: exits when standard input is closed and no job runs
};

// Kind::invalid: what is wrong and the correct form.
Result<Options> parse_options(std::span<const std::string> arguments);

std::string usage();

}  // namespace gw::daemon
