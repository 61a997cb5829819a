#pragma once
// A private grid in a simulated world: the first node creates it and invites others, which join.

#include <cstdint>
#include <string>

#include "simulated_transport.h"

namespace gw::sim {

// The users of the first nodes. The first user owns the grid; all repeat their requests until their peers are members, also after a restart
// that has lost the membership. A value of the simulation; nodes and timeline outlive it.
class PrivateGrid {
 public:
  PrivateGrid(std::size_t members, std::uint64_t seed, Nodes& nodes, Timeline& timeline);

  peer::GridId id() const;
  bool has_member(const job::PeerId& peer) const;
  void found(Time at);
  void on_answer(const SimulatedNode& node, const job::GridAnswered& answer);

 private:
  void join_all();
  void ask(SimulatedNode& node, std::uint64_t number, const decltype(peer::GridRequest::what)& what);

  const std::size_t members_;
  peer::GridCredentials::Secret secret_{};
  Nodes& nodes_;
  Timeline& timeline_;
  std::string invitation_;  // empty: there is none yet
};

}  // namespace gw::sim
