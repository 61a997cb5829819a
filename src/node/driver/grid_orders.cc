#include "node/driver/grid_orders.h"

#include <sys/random.h>

#include "node/discovery/name_resolver.h"
#include "os/clock.h"

namespace gw::node {
namespace {

using Issued = GridView::Issued;

Result<peer::GridCredentials::Secret> new_secret() {
  peer::GridCredentials::Secret secret;
  if (::getrandom(secret.data(), secret.size(), 0) != static_cast<ssize_t>(secret.size()))
    return fail(Kind::internal, "the system gives no random numbers for a key");
  return secret;
}

Issued::State state_of(const peer::GridCredentials& credentials, std::uint64_t serial, std::uint64_t until) {
  const auto now = static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(os::wall_now()).count());
  if (credentials.revocations.names(serial)) return Issued::State::revoked;
  return now > until ? Issued::State::expired : Issued::State::good;
}

using GridRequestKind = decltype(peer::GridRequest::what);

Result<GridRequestKind> request_of(const CreateGrid& order, const OrderContext&) {
  GW_TRY(const peer::GridCredentials::Secret secret, new_secret());
  return GridRequestKind(peer::CreateGrid{order.name, secret});
}

Result<GridRequestKind> request_of(const JoinGrid& order, const OrderContext& context) {
  if (!wire::looks_like_invitation(order.what)) {
    if (!order.as.empty()) return fail(Kind::invalid, "an open grid is called the same everywhere: leave --as out");
    return GridRequestKind(peer::JoinOpenGrid{order.what});
  }
  GW_TRY(wire::Invitation invitation, wire::parse_invitation(order.what));
  std::string name = order.as.empty() ? invitation.name : order.as;
  return GridRequestKind(peer::Joining::JoinRequest{std::move(invitation), std::move(name), context.machine, context.number});
}

Result<GridRequestKind> request_of(const LeaveGrid& order, const OrderContext&) { return GridRequestKind(peer::LeaveGrid{order.grid}); }

Result<GridRequestKind> request_of(const InviteToGrid& order, const OrderContext& context) {
  peer::InvitationTerms terms{.lasts = order.lasts, .addresses = order.addresses.empty() ? context.own_addresses : order.addresses};
  if (order.uses > 0xffff) return fail(Kind::invalid, "an invitation is for 65535 at most, not {}", order.uses);
  terms.uses = static_cast<std::uint16_t>(order.uses);
  if (order.makes == InviteToGrid::Makes::holder) terms.role = wire::Invitation::Role::holder;
  if (terms.addresses.size() > wire::kMaxInvitationAddresses) terms.addresses.resize(wire::kMaxInvitationAddresses);
  for (const std::string& address : terms.addresses) {
    GW_TRY_VOID(parse_host_port(address));
    if (address.size() > wire::kMaxInvitationAddressBytes)
      return fail(Kind::invalid, "'{}' is too long for an invitation: an address has at most {} characters", address,
                  wire::kMaxInvitationAddressBytes);
  }
  return GridRequestKind(peer::Invite{order.grid, std::move(terms)});
}

Result<GridRequestKind> request_of(const RevokeInGrid& order, const OrderContext&) {
  if (order.serials.size() + order.peers.size() == 0) return fail(Kind::invalid, "name an invitation or a member to revoke");
  return GridRequestKind(peer::Revoke{order.grid, order.serials, order.peers});
}

}  // namespace

GridView view_of(const peer::Grid& grid) {
  const peer::GridCredentials& credentials = grid.credentials;
  GridView view{
      .id = credentials.id, .name = credentials.name, .serial = credentials.membership.serial, .until = credentials.membership.until};
  if (credentials.is_private()) view.access = GridView::Access::members;
  if (credentials.secret) view.role = GridView::Role::holder;
  if (credentials.revoked()) view.role = GridView::Role::revoked;
  for (const overlay::Overlay::Known& known : grid.overlay.all())
    if (known.state == overlay::Overlay::Known::State::alive) ++view.peers;
  view.revoked = credentials.revocations.serials.size();
  for (const auto& [serial, made] : credentials.invitations)
    view.invitations.push_back(
        {.serial = serial, .until = made.until, .uses = made.uses, .state = state_of(credentials, serial, made.until)});
  for (const auto& [serial, member] : credentials.members)
    view.members.push_back({.serial = serial,
                            .until = member.until,
                            .peer = member.peer,
                            .name = member.name,
                            .state = state_of(credentials, serial, member.until)});
  return view;
}

Result<peer::GridRequest> to_request(const GridOrder& order, const OrderContext& context) {
  GW_TRY(GridRequestKind what, std::visit([&](const auto& one) { return request_of(one, context); }, order));
  return peer::GridRequest{context.number, std::move(what)};
}

peer::GridRequest to_request(const wire::Invitation& invitation, const std::string& machine) {
  return {0, peer::Joining::JoinRequest{invitation, invitation.name, machine, std::nullopt}};
}

}  // namespace gw::node
