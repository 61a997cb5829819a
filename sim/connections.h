#pragma once
// The connections of a simulated grid in which some nodes cannot be dialled.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace gw::sim {

// A node behind a wall accepts no dial; it can only dial others. To reach such a node, a peer asks one of the node's anchors: then the node
// dials back, or, if both are behind walls, the anchor relays all messages. A value of the simulation.
class Connections {
 public:
  enum class Way : std::uint8_t { dialled, reversed, relayed };
  struct Connection {
    Way way = Way::dialled;
    std::size_t relay = 0;  // of Way::relayed
  };
  struct Pair {
    std::size_t a;
    std::size_t b;
    Way way;
  };
  // Whether two nodes are up and hear each other now.
  using Hears = std::function<bool(std::size_t, std::size_t)>;

  // The first so many nodes are behind walls.
  explicit Connections(std::size_t walled) : walled_(walled) {}

  bool has_walls() const { return walled_ > 0; }
  bool can_be_dialled(std::size_t node) const { return node >= walled_; }
  // REQUIRES of the next two: a world with walls.
  bool open(std::size_t a, std::size_t b) const { return connections_.contains(ordered(a, b)); }
  void add(std::size_t a, std::size_t b, Connection connection) { connections_.insert_or_assign(ordered(a, b), connection); }
  // How `from` can reach `to`: directly, or through one of its anchors if `to` cannot be dialled. None: there is no way now.
  std::optional<Connection> find_way(std::size_t from, std::size_t to, const std::vector<std::size_t>& anchors, const Hears& hears) const;
  // Removes all connections of a node that is down, and all that it relays.
  std::vector<Pair> remove_all(std::size_t node);

 private:
  static std::pair<std::size_t, std::size_t> ordered(std::size_t a, std::size_t b) { return std::minmax(a, b); }

  std::size_t walled_;
  std::map<std::pair<std::size_t, std::size_t>, Connection> connections_;
};

}  // namespace gw::sim
