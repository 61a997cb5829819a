#include "connections.h"

#include "base/reached.h"

namespace gw::sim {

std::optional<Connections::Connection> Connections::find_way(std::size_t from, std::size_t to, const std::vector<std::size_t>& anchors,
                                                             const Hears& hears) const {
  if (can_be_dialled(to)) return hears(from, to) ? std::optional(Connection{.way = Way::dialled}) : std::nullopt;
  for (const std::size_t anchor : anchors) {
    if (anchor == from || anchor == to || !open(anchor, to) || !hears(anchor, to) || !hears(from, anchor)) continue;
    if (can_be_dialled(from) && hears(from, to)) {
      GW_REACHED("sim: a node behind a wall dialled back");
      return Connection{.way = Way::reversed};
    }
    GW_REACHED("sim: a connection was relayed");
    return Connection{.way = Way::relayed, .relay = anchor};
  }
  return std::nullopt;
}

std::vector<Connections::Pair> Connections::remove_all(std::size_t node) {
  std::vector<Pair> gone;
  for (auto at = connections_.begin(); at != connections_.end();) {
    const auto& [ends, connection] = *at;
    const bool passed_on = connection.way == Way::relayed && connection.relay == node;
    if (ends.first == node || ends.second == node || passed_on) {
      gone.push_back({ends.first, ends.second, connection.way});
      at = connections_.erase(at);
    } else {
      ++at;
    }
  }
  return gone;
}

}  // namespace gw::sim
