#pragma once
// Converts users' orders about grids into requests to the peer, and grids into views.

#include <cstdint>
#include <string>
#include <vector>

#include "node/grid_control.h"
#include "peer/peer.h"

namespace gw::node {

// `own_addresses`: where others reach this peer; used for an invitation that names no addresses. Kind::invalid with the reason.
Result<peer::GridRequest> to_request(const GridOrder& order, std::uint64_t number, const std::vector<std::string>& own_addresses);
// The request to join at a start, repeated until a holder signs a membership; its answer has number 0.
peer::GridRequest to_request(const wire::Invitation& invitation);

GridView view_of(const peer::Grid& grid);

}  // namespace gw::node
