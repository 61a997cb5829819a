#pragma once
// Joining private grids with invitations.

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "job/actions.h"
#include "peer/grid_credentials.h"

namespace gw::peer {

using job::Actions;
using job::Time;

// Shows invitations to the holders they name, repeatedly, until a holder admits or refuses this peer, or the request times out.
//
// The answer "I hold no key" is not a refusal: another address may be right. Limits: Config::at_once; further requests are refused. A
// machine without I/O or threads.
class Joining {
 public:
  struct Config {
    std::size_t at_once = 16;
    Time retry_after = std::chrono::seconds(2);  // doubles each time
    Time retry_after_most = std::chrono::minutes(1);
    Time patience = std::chrono::seconds(20);  // of a user's request
  };
  struct JoinRequest {
    wire::Invitation invitation;
    std::string name;                      // of the grid on this machine
    std::string machine;                   // the name of this machine in the grid
    std::optional<std::uint64_t> request;  // of the user who waits; none: try until it is granted
  };
  // The result: credentials, or the reason for the refusal.
  struct JoinResult {
    JoinRequest join_request;
    Result<GridCredentials> credentials;
  };

  Joining(Config config, const PublicKey& self) : config_(config), self_(self) {}

  // Kind::overloaded.
  Status ask(Time now, JoinRequest join_request, Actions& out);
  // A peer answered at an address that this peer dialled.
  void on_connected(const PeerId& peer, const std::string& address, Actions& out);
  // None: the answer belongs to no request, or does not end it.
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
    std::string last_word;  // of a peer that holds no key
  };

  void dial(Time now, Open& open, Actions& out) const;
  Error too_late(const Open& open) const;

  const Config config_;
  const PublicKey self_;
  std::vector<Open> open_;
};

}  // namespace gw::peer
