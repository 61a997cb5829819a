#pragma once
// Requests of users and of other peers about the grids of this peer.

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/rate_limit.h"
#include "overlay/per_peer_rate_limit.h"
#include "peer/admissions.h"
#include "peer/grids.h"
#include "peer/joining.h"

namespace gw::peer {

// --- requests of users; each is answered by job::GridAnswered

struct CreateGrid {
  std::string name;
  GridCredentials::Secret secret;  // a new random key
};
struct JoinOpenGrid {
  std::string name;
};
struct LeaveGrid {
  GridId grid;
};
struct Invite {
  GridId grid;
  InvitationTerms terms;
};
struct Revoke {
  GridId grid;
  std::vector<std::uint64_t> serials;
  std::vector<PeerId> peers;  // members whose memberships this peer has seen
};
struct GridRequest {
  std::uint64_t number;
  std::variant<CreateGrid, JoinOpenGrid, Joining::JoinRequest, LeaveGrid, Invite, Revoke> what;
};

// Creates, joins and leaves grids, admits others to grids whose key it holds, and spreads lists of revocations: a new list goes to all
// known members, and members tell each other their version when they meet, so that a member that was away learns of it too.
//
// Users get answers when the change is durable. Limits: invitations and lists are checked at a limited rate (Config::admits,
// lists), a list goes to Config::told members at once. A machine without I/O or threads.
class GridAdministration {
 public:
  struct Config {
    Joining::Config joining{};
    Time admit_every = std::chrono::milliseconds(100);  // on average
    int admits = 32;                                    // at once
    Time remind_every = std::chrono::seconds(30);
    std::size_t told = 128;
    // Lists of revocations that are checked: each costs a signature.
    overlay::PerPeerRateLimit::Config lists{.period = std::chrono::seconds(1), .per_peer = 4, .peers = 1024};
  };
  // References outlive this object.
  struct Environment {
    PeerId self;
    PublicKey key;
    Time wall_offset;
    Grids& grids;
    Rng& rng;
  };

  GridAdministration(const Config& config, const Environment& environment);

  // `in_use`: grids in which jobs of this peer run.
  void on_request(Time now, GridRequest request, const std::set<GridId>& in_use, Actions& out);
  void on_connected(Time now, const PeerId& peer, const std::string& address, Actions& out);
  void on_admit(Time now, const PeerId& from, const job::PeerMessage::Admit& request, Actions& out);
  void on_admitted(Time now, const PeerId& from, const job::PeerMessage::Admitted& answer, Actions& out);
  void on_revocations(Time now, const PeerId& from, const job::PeerMessage::Revocations& message, Actions& out);
  // A peer of a grid was seen for the first time.
  void on_seen(Time now, const PeerId& peer, Actions& out);
  void on_tick(Time now, Actions& out);
  Time next_deadline() const { return std::min(remind_at_, joining_.next_deadline()); }

 private:
  using Answer = Result<std::string>;

  Answer carry_out(Time now, const CreateGrid& request, Actions& out);
  Answer carry_out(Time now, const JoinOpenGrid& request, Actions& out);
  Answer carry_out(Time now, const Invite& request, Actions& out);
  Answer carry_out(Time now, const Revoke& request, Actions& out);
  Answer leave(Time now, const LeaveGrid& request, const std::set<GridId>& in_use, Actions& out);
  Status check_join_request(const Joining::JoinRequest& join_request) const;
  Result<Grid*> private_grid(const GridId& id);
  Result<std::uint64_t> serial_of(const Grid& grid, const PeerId& peer) const;
  Result<overlay::Membership> let_in(Time now, const PeerId& from, const job::PeerMessage::Admit& request, GridCredentials*& credentials,
                                     Actions& out);
  void finish(Time now, Joining::JoinResult join_result, Actions& out);
  void adopt(Time now, Grid& grid, overlay::Revocations list, Actions& out);
  static void answer(std::uint64_t number, const Answer& result, Actions& out);
  WallSeconds wall(Time now) const { return std::chrono::duration_cast<WallSeconds>(now + environment_.wall_offset); }

  const Config config_;
  const Environment environment_;
  Joining joining_;
  RateLimit admits_;
  overlay::PerPeerRateLimit lists_;
  Time remind_at_ = job::kNever;
};

}  // namespace gw::peer
