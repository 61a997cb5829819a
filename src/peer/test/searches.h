#pragma once
// Searches of other homes, as they would send them.

#include <string>
#include <utility>

#include "job/placing/search_query.h"
#include "overlay/membership/descriptor.h"
#include "wire/grid_name.h"

namespace gw::peer::test {

struct Searcher {
  const wire::Signer& signer;  // of the home
  PublicKey key;               // of the home
  wire::GridId grid = wire::open_grid("one");
  overlay::Coordinate coordinate = {};

  wire::pb::Descriptor descriptor() const {
    overlay::Descriptor home{.key = key, .incarnation = {1, 1}, .coordinate = coordinate};
    overlay::sign(grid, signer, home);
    wire::pb::Descriptor message;
    overlay::write(home, message);
    return message;
  }

  // The descriptor is of the first boot.
  static constexpr std::uint64_t kFirstRound = std::uint64_t{1} << 32;
  // A search for `slots` slots in the whole grid; `query` has what is particular to it.
  job::JobMessage search(const job::Charter& charter, std::uint64_t round, std::uint32_t slots, wire::pb::JobMessage::Query query = {},
                         std::uint32_t hops = 0) const {
    query.set_job(charter.id().bytes());
    query.set_round(round);
    query.set_slots(slots);
    if (query.radius_ns() == 0) query.set_radius_ns(wire::kWholeGridRadius);
    return job::search_message(charter, query, descriptor(), hops, signer);
  }
};

}  // namespace gw::peer::test
