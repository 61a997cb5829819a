#pragma once
// What a daemon is told when it is started.

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace gw::daemon {

struct Options {
  std::filesystem::path state;                     // --state DIR
  std::filesystem::path socket;                    // --socket PATH; by default in the state folder
  std::vector<std::string> listen{"127.0.0.1:0"};  // --listen ADDR:PORT, may be repeated
  std::vector<std::string> join;                   // --join HOST:PORT, may be repeated
  std::vector<std::string> grids;                  // --grid NAME, may be repeated; by default the open one
  std::uint32_t slots = 1;                         // --slots N; by default one for each processor
  std::filesystem::path worker;                    // --worker PATH; by default beside this program
  enum class Life : std::uint8_t { own, starter };
  Life life = Life::own;  // --ephemeral: ends when standard input does and no job runs any more
};

// Kind::invalid with what is wrong and how it is written.
Result<Options> parse_options(std::span<const std::string> arguments);

std::string usage();

}  // namespace gw::daemon
