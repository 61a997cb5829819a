// What people ask about grids.

#include <sys/random.h>
#include <unistd.h>

#include <array>

#include "base/log.h"
#include "node/driver/driver.h"
#include "os/clock.h"

namespace gw::node {
namespace {

using Issued = GridView::Issued;

constexpr std::size_t kMaxNameBytes = 64;

std::string machine_name() {
  std::array<char, kMaxNameBytes + 1> name{};
  if (::gethostname(name.data(), kMaxNameBytes) != 0) return "unnamed";
  return name.data();
}

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

GridView view_of_grid(const peer::Grid& grid) {
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

using GridRequestKind = decltype(peer::GridRequest::what);

Result<GridRequestKind> request_of(const CreateGrid& order, std::uint64_t, const std::vector<std::string>&) {
  GW_TRY(const peer::GridCredentials::Secret secret, new_secret());
  return GridRequestKind(peer::CreateGrid{order.name, secret});
}

Result<GridRequestKind> request_of(const JoinGrid& order, std::uint64_t number, const std::vector<std::string>&) {
  if (!wire::looks_like_invitation(order.what)) {
    if (!order.as.empty()) return fail(Kind::invalid, "an open grid is called the same everywhere: leave --as out");
    return GridRequestKind(peer::JoinOpenGrid{order.what});
  }
  GW_TRY(wire::Invitation invitation, wire::parse_invitation(order.what));
  std::string name = order.as.empty() ? invitation.name : order.as;
  return GridRequestKind(peer::Joining::JoinRequest{std::move(invitation), std::move(name), machine_name(), number});
}

Result<GridRequestKind> request_of(const LeaveGrid& order, std::uint64_t, const std::vector<std::string>&) {
  return GridRequestKind(peer::LeaveGrid{order.grid});
}

Result<GridRequestKind> request_of(const InviteToGrid& order, std::uint64_t, const std::vector<std::string>& own_addresses) {
  peer::InvitationTerms terms{.lasts = order.lasts, .addresses = order.addresses.empty() ? own_addresses : order.addresses};
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

Result<GridRequestKind> request_of(const RevokeInGrid& order, std::uint64_t, const std::vector<std::string>&) {
  if (order.serials.size() + order.peers.size() == 0) return fail(Kind::invalid, "nothing is named that could be revoked");
  return GridRequestKind(peer::Revoke{order.grid, order.serials, order.peers});
}

}  // namespace

std::vector<GridView> Driver::grids() const {
  std::vector<GridView> views;
  for (const peer::Grid* grid : peer_->grids().in_order()) views.push_back(view_of_grid(*grid));
  return views;
}

// Where others reach this peer, as they have found out if they have.
std::vector<std::string> Driver::own_addresses() const {
  std::vector<std::string> addresses = addresses_;
  for (const peer::Grid* grid : peer_->grids().in_order()) {
    const std::string& published = grid->overlay.self().address;
    if (!published.empty() && std::ranges::find(addresses, published) == addresses.end()) addresses.insert(addresses.begin(), published);
  }
  return addresses;
}

void Driver::change_grids(GridOrder order, std::function<void(Result<std::string>)> done) {
  const auto refuse = [&](Error why) { post([done, why = std::move(why)] { done(why); }); };
  if (stopping_) return refuse(fail(Kind::disconnected, "the daemon stops"));
  if (grid_requests_.size() >= kMaxPending) return refuse(fail(Kind::overloaded, "too many requests are under way: try again later"));
  const std::uint64_t number = ++next_grid_request_;
  auto request = std::visit([&](const auto& one) { return request_of(one, number, own_addresses()); }, order);
  if (!request) return refuse(request.error());
  grid_requests_.emplace(number, std::move(done));
  turn([&](job::Time now, Actions& out) { peer_->on_local(now, peer::GridRequest{number, *std::move(request)}, out); });
}

// Until somebody lets this peer in: who starts it does not wait for that.
void Driver::accept_invitations() {
  for (const wire::Invitation& invitation : config_.invitations) {
    const peer::Grid* there = peer_->grids().find(wire::private_grid(invitation.grid_key));
    if (there != nullptr && !there->credentials.revoked()) continue;
    log::info(kArea, "asking to be let into a grid", kv("grid", invitation.name), kv("at", invitation.addresses.front()));
    turn([&](job::Time now, Actions& out) {
      peer_->on_local(now, peer::GridRequest{0, peer::Joining::JoinRequest{invitation, invitation.name, machine_name(), std::nullopt}},
                      out);
    });
  }
}

void Driver::on_grid_answer(const job::GridAnswered& answered) {
  if (answered.request == 0) {
    if (answered.error) return log::warn(kArea, "not let into a grid", kv("why", answered.error->detail));
    return log::info(kArea, "let into a grid", kv("grid", answered.text));
  }
  const auto found = grid_requests_.find(answered.request);
  if (found == grid_requests_.end()) return;
  const auto result = answered.error ? Result<std::string>(*answered.error) : Result<std::string>(answered.text);
  post([done = std::move(found->second), result] { done(result); });
  grid_requests_.erase(found);
}

}  // namespace gw::node
