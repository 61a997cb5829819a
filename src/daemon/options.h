#pragma once
// What a daemon is told when it is started.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "wire/invitation.h"

namespace gw::daemon {

inline constexpr std::uint16_t kDefaultPort = 7400;
inline constexpr std::uint16_t kPortsTried = 100;  // from there on, until one is free

struct Options {
  std::filesystem::path state;                // --state DIR
  std::filesystem::path socket;               // --socket PATH; by default in the state folder
  std::vector<std::string> listen;            // --listen ADDR:PORT, may be repeated; none: everywhere, from kDefaultPort on
  std::vector<std::string> join;              // --join HOST:PORT, may be repeated
  std::vector<wire::Invitation> invitations;  // --join godwit:...
  std::vector<std::string> trackers;          // --join http://HOST:PORT, as HOST:PORT
  std::string tracker;                        // --tracker ADDR:PORT: be one; empty: not
  enum class Discovery : std::uint8_t { on, off };
  Discovery discovery = Discovery::on;  // --no-discovery; only if it listens beyond its loopback
  std::vector<std::string> grids;       // --grid NAME, may be repeated; by default those it was in, else the open one
  std::optional<std::uint32_t> slots;   // --slots N; else what was shared last, else one for each processor
  std::filesystem::path worker;         // --worker PATH; by default beside this program
  std::filesystem::path log;            // --log FILE; by default stderr
  int ready_fd = -1;                    // --ready-fd N: a line is written there when the daemon answers
  enum class Life : std::uint8_t { own, starter };
  Life life = Life::own;  // --ephemeral: ends when standard input does and no job runs any more
};

// Kind::invalid with what is wrong and how it is written.
Result<Options> parse_options(std::span<const std::string> arguments);

std::string usage();

}  // namespace gw::daemon
