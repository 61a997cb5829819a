#pragma once
// The requests that users of this machine may make about grids, and the views of grids.

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "job/names.h"
#include "wire/names.h"

namespace gw::node {

struct GridView {
  // An invitation made here (uses), or a membership signed here (peer).
  struct Issued {
    std::uint64_t serial = 0;
    std::uint64_t until = 0;  // seconds since 1970
    std::uint32_t uses = 0;
    std::optional<job::PeerId> peer;
    std::string name;  // of the machine
    enum class State : std::uint8_t { good, expired, revoked };
    State state = State::good;
  };
  enum class Access : std::uint8_t { open, members };
  enum class Role : std::uint8_t { member, holder, revoked };  // holder: has the grid's key, so it can sign memberships

  wire::GridId id;
  std::string name;
  Access access = Access::open;
  Role role = Role::member;
  std::uint64_t serial = 0;  // of this peer's membership
  std::uint64_t until = 0;
  std::uint64_t peers = 0;    // other live peers
  std::uint64_t revoked = 0;  // serials
  std::vector<Issued> invitations;
  std::vector<Issued> members;
};

struct CreateGrid {
  std::string name;
};
struct JoinGrid {
  std::string what;  // an invitation, or the name of an open grid
  std::string as;    // the local name of a private grid; empty: the name in the invitation
};
struct LeaveGrid {
  wire::GridId grid;
};
struct InviteToGrid {
  wire::GridId grid;
  std::uint32_t uses = 1;
  std::chrono::seconds lasts = std::chrono::days(7);
  enum class Makes : std::uint8_t { member, holder };
  Makes makes = Makes::member;
  std::vector<std::string> addresses;  // that an invited machine asks; none: the addresses of this peer
};
struct RevokeInGrid {
  wire::GridId grid;
  std::vector<std::uint64_t> serials;
  std::vector<job::PeerId> peers;
};
using GridOrder = std::variant<CreateGrid, JoinGrid, LeaveGrid, InviteToGrid, RevokeInGrid>;

}  // namespace gw::node
