#pragma once
// Getting into private grids with invitations.

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "job/actions.h"
#include "peer/grid_credentials.h"

namespace gw::peer {

using job::Actions;
using job::Time;

// Shows invitations to the holders they name, again and again, until one lets this peer in, or refuses, or nobody cares any more.
//
// A peer that says it holds no key is no refusal: another address may be right. Limits: Config::at_once; what is beyond is refused. A
// machine without I/O or threads.
class Joining {
 public:
  struct Config {
    std::size_t at_once = 16;
    Time retry_after = std::chrono::seconds(2);  // twice as seldom each time
    Time retry_after_most = std::chrono::minutes(1);
    Time patience = std::chrono::seconds(20);  // of a person who waits
  };
  struct JoinRequest {
    wire::Invitation invitation;
    std::string name;                      // what the grid will be called here
    std::string machine;                   // what this machine is called there
    std::optional<std::uint64_t> request;  // of people, who wait for it; none: until it is granted
  };
  // How it ended: credentials, or why not.
  struct JoinResult {
    JoinRequest join_request;
    Result<GridCredentials> credentials;
  };

  Joining(Config config, const PublicKey& self) : config_(config), self_(self) {}

  // Kind::overloaded.
  Status ask(Time now, JoinRequest join_request, Actions& out);
  // Somebody is at an address that was dialled from here.
  void on_connected(const PeerId& peer, const std::string& address, Actions& out);
  // Nothing: the answer is to no question, or does not end it.
  std::optional<JoinResult> on_admitted(const PeerId& from, const job::PeerMessage::Admitted& answer);
  std::vector<JoinResult> on_tick(Time now, Actions& out);
  Time next_deadline() const;

 private:
  struct Open {
    JoinRequest join_request;
    Time until = job::kNever;
    Time next{0};
    Time wait{0};
    std::set<PeerId> asked;
    std::string last_word;  // of somebody who holds no key
  };

  void dial(Time now, Open& open, Actions& out) const;
  Error too_late(const Open& open) const;

  const Config config_;
  const PublicKey self_;
  std::vector<Open> open_;
};

}  // namespace gw::peer
