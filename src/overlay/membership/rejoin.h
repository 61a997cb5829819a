#pragma once
// Addresses of former peers: how a peer joins its grid, and how a partitioned grid heals.

#include <string>
#include <vector>

#include "base/rng.h"
#include "overlay/output.h"

namespace gw::overlay {

// Three lists: configured, remembered from earlier boots, and lost (of peers that were found dead). All are dialled when no peer answers
// any more. Besides, one is dialled every minute, lost ones first: in a partition the other half of the grid looks dead, and no other
// machine would try it again.
//
// Limits: Config; a lost address is given up after some tries. No paper: ARRG knows only the configured ones.
class Rejoin {
 public:
  struct Config {
    std::size_t remembered = 32;
    std::size_t lost = 32;
    std::uint8_t tries = 60;  // per lost address
    std::size_t at_once = 3;  // per list
    Time every = std::chrono::seconds(60);
    std::uint64_t configured_every = 10;  // dial a configured address every so many times when none is lost, to spread the load
    Time patience = std::chrono::seconds(60);
  };

  // `own`: this peer's address. `configured` outlives this object.
  Rejoin(const Config& config, const std::string& own, const std::vector<std::string>& configured, Rng& rng)
      : config_(config), own_(own), configured_(configured), rng_(rng) {}

  void start(Time now, const std::vector<std::string>& remembered, Output& out);
  // No known peer has answered.
  void on_need(Time now, Output& out);
  void on_tick(Time now, Output& out);
  Time next_deadline() const { return next_; }

  // Dials an address that a tracker or beacon has named, unless it is being dialled.
  void try_address(Time now, const std::string& address, Output& out);
  void on_lost(const std::string& address);
  void on_found(const std::string& address);
  // Whether a connection to that address is one this object has asked for. True once per dial.
  bool on_connected(Time now, const std::string& address);

 private:
  struct Lost {
    std::string address;
    std::uint8_t tries;
  };
  struct Dialled {
    std::string address;
    Time until;
  };

  void dial(Time now, const std::string& address, Output& out);
  void dial_some(Time now, const std::vector<std::string>& list, Output& out);
  void dial_lost(Time now, Output& out);

  const Config config_;
  const std::string& own_;
  const std::vector<std::string>& configured_;
  Rng& rng_;
  std::vector<std::string> remembered_;
  std::vector<Lost> lost_;
  std::vector<Dialled> dialled_;
  Time next_ = kNever;
};

}  // namespace gw::overlay
