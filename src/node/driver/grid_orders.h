#pragma once
// Converts users' orders about grids into requests to the peer, and grids into views.

#include <cstdint>
#include <string>
#include <vector>

#include "node/grid_control.h"
#include "peer/peer.h"

namespace gw::node {

struct OrderContext {
  std::uint64_t number = 0;                // of the request
  std::string machine;                     // the name of this machine in a private grid
  std::vector<std::string> own_addresses;  // where others reach this peer; used for an invitation that names no addresses
};
// Kind::invalid with the reason.
Result<peer::GridRequest> to_request(const GridOrder& order, const OrderContext& context);
// The request to join at a start, repeated until a holder signs a membership; its answer has number 0.
peer::GridRequest to_request(const wire::Invitation& invitation, const std::string& machine);

GridView view_of(const peer::Grid& grid);

}  // namespace gw::node
