#include "private_grid.h"

#include <fmt/format.h>

#include <algorithm>

#include "wire/grid_name.h"
#include "wire/invitation.h"

namespace gw::sim {
namespace {

using std::chrono::seconds;

enum Question : std::uint64_t { kCreate = 1, kInvite = 2, kJoin = 3 };
constexpr const char* kName = "lab";

}  // namespace

PrivateGrid::PrivateGrid(std::size_t members, std::uint64_t seed, Nodes& nodes, Timeline& timeline)
    : members_(members), nodes_(nodes), timeline_(timeline) {
  ByteWriter writer;
  writer.string("key of a grid");
  writer.u64(seed);
  std::ranges::copy(sha256(writer.take()).bytes, secret_.begin());
}

peer::GridId PrivateGrid::id() const { return wire::private_grid(SigningKey(secret_).public_key()); }

bool PrivateGrid::has_member(const job::PeerId& peer) const {
  return std::ranges::any_of(nodes_, [&](const auto& node) { return node->index() < members_ && node->id() == peer; });
}

void PrivateGrid::found(Time at) {
  timeline_.schedule(at, [this] { join_all(); });
}

void PrivateGrid::ask(SimulatedNode& node, std::uint64_t number, const decltype(peer::GridRequest::what)& what) {
  node.call([number, what](peer::Peer& peer, Time now, std::vector<job::Action>& out) {
    peer.on_local(now, peer::GridRequest{number, what}, out);
  });
}

void PrivateGrid::join_all() {
  for (std::size_t i = 0; i < members_; ++i) {
    SimulatedNode& node = *nodes_[i];
    if (!node.up()) continue;
    const bool is_in = node.peer().grids().find(id()) != nullptr;
    if (i == 0 && !is_in) {
      ask(node, kCreate, peer::CreateGrid{kName, secret_});
    } else if (i == 0 && invitation_.empty()) {
      ask(node, kInvite, peer::Invite{id(), {.uses = 1000, .lasts = std::chrono::days(1), .addresses = {address_of(0)}}});
    } else if (!is_in && !invitation_.empty()) {
      ask(node, kJoin, peer::Joining::JoinRequest{wire::parse_invitation(invitation_).value(), kName, fmt::format("node{}", i), kJoin});
    }
  }
  timeline_.schedule_in(seconds(1), [this] { join_all(); });
}

void PrivateGrid::on_answer(const SimulatedNode& node, const job::GridAnswered& answer) {
  if (node.index() == 0 && answer.request == kInvite && !answer.error) invitation_ = answer.text;
}

}  // namespace gw::sim
