#pragma once
// The output and the events of a job, piece by piece.

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "gateway/http.h"
#include "gateway/route.h"
#include "gateway/wake_signal.h"
#include "node/control.h"

namespace gw::gateway {

struct JobPiece {
  std::string bytes;       // empty: nothing for now
  std::uint64_t next = 0;  // the position after them
  bool end = false;        // nothing comes after these bytes
};

// Reads the next piece of each stream of a job that the API has (routes.cc). The match says what is wanted; `from` is the position after
// the piece before, none: that of the match. A wrong parameter is Kind::invalid.
//
// Belongs to a session or to the desk of tickets; node thread. REQUIRES: the control outlives it.
class JobPieces {
 public:
  struct Config {
    std::chrono::milliseconds answer = std::chrono::seconds(60);  // for the daemon to read one
    std::size_t bytes = 64u << 10;                                // of output
    std::size_t events = 256;
  };
  using From = std::optional<std::uint64_t>;

  JobPieces(node::Control& control, std::shared_ptr<WakeSignal> wake, const Config& config)
      : control_(control), wake_(std::move(wake)), config_(config) {}

  asio::awaitable<Result<JobPiece>> output(const Match& match, From from);
  asio::awaitable<Result<JobPiece>> frames(const Match& match, From from);
  asio::awaitable<Result<JobPiece>> events(const Match& match, From from);

 private:
  node::Control& control_;
  const std::shared_ptr<WakeSignal> wake_;  // shared with callbacks that may come after the session has ended
  const Config config_;
};

}  // namespace gw::gateway
