#include "peer/grid_administration.h"

#include <algorithm>

#include "base/reached.h"
#include "wire/grid_name.h"

namespace gw::peer {
namespace {

using job::PeerMessage;
using overlay::Revocations;

PeerMessage revocations_message(const Grid& grid) {
  PeerMessage message;
  PeerMessage::Revocations& list = *message.mutable_revocations();
  list.set_grid(grid.credentials.id.bytes());
  list.set_version(grid.credentials.revocations.version);
  list.mutable_serials()->Assign(grid.credentials.revocations.serials.begin(), grid.credentials.revocations.serials.end());
  list.set_signature(grid.credentials.revocations.signature.data(), grid.credentials.revocations.signature.size());
  return message;
}

// Sends only the version of the list: a member with another version answers, or sends the list.
PeerMessage version_message(const Grid& grid) {
  PeerMessage message;
  message.mutable_revocations()->set_grid(grid.credentials.id.bytes());
  message.mutable_revocations()->set_version(grid.credentials.revocations.version);
  return message;
}

Revocations read_list(const PeerMessage::Revocations& message) {
  Revocations list{.version = message.version()};
  list.serials.assign(message.serials().begin(), message.serials().end());
  std::ranges::copy(as_bytes(message.signature()), list.signature.begin());
  return list;
}

}  // namespace

GridAdministration::GridAdministration(const Config& config, const Environment& environment)
    : config_(config),
      environment_(environment),
      joining_(config.joining, environment.key),
      admits_(config.admit_every, config.admits),
      lists_(config.lists) {}

// --- users

void GridAdministration::on_request(Time now, GridRequest request, const std::set<GridId>& in_use, Actions& out) {
  if (auto* join_request = std::get_if<Joining::JoinRequest>(&request.what)) {
    Status asked = check_join_request(*join_request);
    if (asked) asked = joining_.ask(now, std::move(*join_request), out);
    if (!asked) answer(request.number, asked.error(), out);
    return;
  }
  if (const auto* left = std::get_if<LeaveGrid>(&request.what)) return answer(request.number, leave(now, *left, in_use, out), out);
  const auto done = std::visit(
      [&]<class What>(const What& what) -> Answer {
        if constexpr (std::is_same_v<What, Joining::JoinRequest> || std::is_same_v<What, LeaveGrid>) {
          GW_ASSERT(false);  // above
        } else {
          return carry_out(now, what, out);
        }
      },
      request.what);
  answer(request.number, done, out);
}

void GridAdministration::answer(std::uint64_t number, const Answer& result, Actions& out) {
  job::GridAnswered answered{.request = number};
  if (result) {
    answered.text = *result;
  } else {
    answered.error = result.error();
  }
  out.after_disk(job::Notify{std::move(answered)});
}

GridAdministration::Answer GridAdministration::carry_out(Time now, const CreateGrid& request, Actions& out) {
  GW_TRY_VOID(wire::check_grid_name(request.name));
  GridCredentials credentials = found_grid(request.name, request.secret, environment_.key, wall(now), environment_.rng);
  const GridId id = credentials.id;
  GW_TRY_VOID(environment_.grids.add(now, std::move(credentials), out));
  return id.hash.hex();
}

GridAdministration::Answer GridAdministration::carry_out(Time now, const JoinOpenGrid& request, Actions& out) {
  GW_TRY_VOID(wire::check_grid_name(request.name));
  GridCredentials credentials = GridCredentials::open(request.name);
  const GridId id = credentials.id;
  GW_TRY_VOID(environment_.grids.add(now, std::move(credentials), out));
  return id.hash.hex();
}

Status GridAdministration::check_join_request(const Joining::JoinRequest& join_request) const {
  GW_TRY_VOID(wire::check_grid_name(join_request.name));
  const GridId id = wire::private_grid(join_request.invitation.grid_key);
  if (const Grid* there = environment_.grids.find(id); there != nullptr && !there->credentials.revoked())
    return fail(Kind::invalid, "this peer is in that grid already, as '{}'", there->credentials.name);
  if (const Grid* there = environment_.grids.find(join_request.name); there != nullptr && there->credentials.id != id)
    return fail(Kind::invalid, "this peer is in another grid called '{}': give the new one another name (--as)", join_request.name);
  return ok();
}

GridAdministration::Answer GridAdministration::leave(Time now, const LeaveGrid& request, const std::set<GridId>& in_use, Actions& out) {
  const Grid* grid = environment_.grids.find(request.grid);
  if (grid == nullptr && environment_.grids.remove_damaged(request.grid, out)) return request.grid.hash.hex();
  if (grid == nullptr) return fail(Kind::not_found, "this peer is not in grid {}", request.grid.brief());
  if (in_use.contains(request.grid))
    return fail(Kind::invalid, "jobs of this peer run in grid '{}': wait for their end, or cancel them ('godwit job list')",
                grid->credentials.name);
  environment_.grids.remove(now, request.grid, out);
  return request.grid.hash.hex();
}

Result<Grid*> GridAdministration::private_grid(const GridId& id) {
  Grid* grid = environment_.grids.find(id);
  if (grid == nullptr) return fail(Kind::not_found, "this peer is not in grid {}", id.brief());
  if (!grid->credentials.is_private())
    return fail(
        Kind::invalid,
        "grid '{}' is open: every peer that knows its name can join ('godwit up --grid {}'); 'godwit grid create' makes private ones",
        grid->credentials.name, grid->credentials.name);
  return grid;
}

GridAdministration::Answer GridAdministration::carry_out(Time now, const Invite& request, Actions& out) {
  GW_TRY(Grid * grid, private_grid(request.grid));
  GW_TRY(const wire::Invitation invitation, invite(grid->credentials, request.terms, wall(now), environment_.rng));
  Grids::record(grid->credentials, out);
  return text_of(invitation);
}

Result<std::uint64_t> GridAdministration::serial_of(const Grid& grid, const PeerId& peer) const {
  if (peer == environment_.self) return fail(Kind::invalid, "this peer cannot revoke itself: 'godwit grid leave' leaves a grid");
  if (const overlay::Membership* shown = grid.overlay.membership_filter()->known_members().find(peer)) return shown->serial;
  for (const auto& [serial, member] : grid.credentials.members)
    if (member.peer == peer) return serial;
  return fail(Kind::not_found, "no member {} of grid '{}' is known here: 'godwit grid list -o json' has the serials of members",
              peer.brief(), grid.credentials.name);
}

GridAdministration::Answer GridAdministration::carry_out(Time now, const Revoke& request, Actions& out) {
  GW_TRY(Grid * grid, private_grid(request.grid));
  std::vector<std::uint64_t> serials = request.serials;
  for (const PeerId& peer : request.peers) {
    GW_TRY(const std::uint64_t serial, serial_of(*grid, peer));
    serials.push_back(serial);
  }
  GW_TRY(Revocations list, revoke(grid->credentials, serials));
  if (list.names(grid->credentials.membership.serial)) return fail(Kind::invalid, "this would revoke this peer itself");
  adopt(now, *grid, std::move(list), out);
  return request.grid.hash.hex();
}

// --- joining

void GridAdministration::on_connected(Time, const PeerId& peer, const std::string& address, Actions& out) {
  if (!address.empty()) joining_.on_connected(peer, address, out);
}

Result<overlay::Membership> GridAdministration::let_in(Time now, const PeerId& from, const PeerMessage::Admit& request,
                                                       GridCredentials*& credentials, Actions& out) {
  GW_TRY(const wire::Invitation invitation, wire::parse_invitation(request.invitation()));
  Grid* grid = environment_.grids.find(wire::private_grid(invitation.grid_key));
  if (grid == nullptr) return fail(Kind::not_found, "the peer that was asked is not in that grid");
  PublicKey key;
  std::ranges::copy(as_bytes(request.key()), key.begin());
  if (environment_.grids.id_of(key) != from) return fail(Kind::invalid, "the key in the request is that of another peer");
  const bool holder = invitation.role == wire::Invitation::Role::holder;
  GW_TRY(auto membership, admit(grid->credentials, invitation, {.peer = from, .name = request.name()}, key, wall(now), environment_.rng));
  Grids::record(grid->credentials, out);
  if (holder) credentials = &grid->credentials;
  return membership;
}

void GridAdministration::on_admit(Time now, const PeerId& from, const PeerMessage::Admit& request, Actions& out) {
  if (!admits_.take(now)) return;  // the peer asks again
  GridCredentials* key_giver = nullptr;
  const auto membership = let_in(now, from, request, key_giver, out);
  PeerMessage message;
  PeerMessage::Admitted& answer = *message.mutable_admitted();
  const auto invitation = wire::parse_invitation(request.invitation());
  answer.set_grid((invitation ? wire::private_grid(invitation->grid_key) : GridId{}).bytes());
  if (membership) {
    write(*membership, *answer.mutable_membership());
    if (key_giver != nullptr) answer.set_secret(key_giver->secret->data(), key_giver->secret->size());
  } else {
    out.notify(job::PeerRefused{from, fmt::format("it asked to be let into a private grid: {}", membership.error().detail)});
    answer.set_why(membership.error().detail);
    answer.set_not_a_holder(membership.error().kind == Kind::not_found);
  }
  out.after_disk(job::Send{from, std::move(message)});
}

void GridAdministration::on_admitted(Time now, const PeerId& from, const PeerMessage::Admitted& answer, Actions& out) {
  if (auto join_result = joining_.on_admitted(from, answer)) finish(now, std::move(*join_result), out);
}

void GridAdministration::finish(Time now, Joining::JoinResult join_result, Actions& out) {
  Answer result = std::string();
  if (join_result.credentials) {
    const GridId id = join_result.credentials->id;
    // The membership was revoked and is granted again.
    if (const Grid* old = environment_.grids.find(id); old != nullptr && old->credentials.revoked())
      environment_.grids.remove(now, id, out);
    const Status added = environment_.grids.add(now, *std::move(join_result.credentials), out);
    result = added ? Answer(id.hash.hex()) : Answer(added.error());
  } else {
    result = join_result.credentials.error();
  }
  answer(join_result.join_request.request.value_or(0), result, out);
}

// --- revocations

void GridAdministration::adopt(Time now, Grid& grid, Revocations list, Actions& out) {
  const std::vector<Overlay::Known> members = grid.overlay.all();
  environment_.grids.revoke(now, grid, std::move(list), out);
  remind_at_ = std::min(remind_at_, now + config_.remind_every);
  const PeerMessage message = revocations_message(grid);
  for (std::size_t i = 0; i < std::min(members.size(), config_.told); ++i) out.send(members[i].descriptor.id, message);
  if (grid.credentials.revoked())
    out.notify(job::PeerRefused{
        environment_.self, fmt::format("its own membership of grid '{}' was revoked: ask for another invitation", grid.credentials.name)});
}

void GridAdministration::on_revocations(Time now, const PeerId& from, const PeerMessage::Revocations& message, Actions& out) {
  Grid* grid = environment_.grids.find(GridId::from(message.grid()));
  if (grid == nullptr || !grid->credentials.is_private()) return;
  const std::uint64_t mine = grid->credentials.revocations.version;
  if (message.signature().empty()) {
    if (!grid->overlay.admits(now, from) || message.version() == mine) return;
    return out.send(from, message.version() < mine ? revocations_message(*grid) : version_message(*grid));
  }
  // The list is signed by the grid's key, so any peer may bring it.
  const Revocations list = read_list(message);
  if (!brings_news(grid->credentials, list) || !lists_.admit(now, from)) return;
  if (const Status good = check(*grid->credentials.key, list); !good) return out.notify(job::PeerRefused{from, good.error().detail});
  GW_REACHED("grid administration: a list of revocations came");
  if (auto merged = merge(grid->credentials, list)) adopt(now, *grid, *std::move(merged), out);
}

void GridAdministration::on_seen(Time now, const PeerId& peer, Actions& out) {
  for (const auto& [id, grid] : environment_.grids.all()) {
    if (!grid->credentials.is_private() || grid->credentials.revoked() || grid->overlay.find(peer) == nullptr) continue;
    out.send(peer, version_message(*grid));
    remind_at_ = std::min(remind_at_, now + config_.remind_every);
  }
}

void GridAdministration::on_tick(Time now, Actions& out) {
  for (Joining::JoinResult& late : joining_.on_tick(now, out)) finish(now, std::move(late), out);
  if (now < remind_at_) return;
  remind_at_ = now + config_.remind_every;
  for (const auto& [id, grid] : environment_.grids.all()) {
    if (!grid->credentials.is_private() || grid->credentials.revoked()) continue;
    const std::vector<Overlay::Known> members = grid->overlay.all();
    if (!members.empty()) out.send(members[environment_.rng.below(members.size())].descriptor.id, version_message(*grid));
  }
}

}  // namespace gw::peer
