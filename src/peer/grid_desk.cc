#include "peer/grid_desk.h"

#include <algorithm>

#include "base/reached.h"
#include "wire/grid_name.h"

namespace gw::peer {
namespace {

using job::Message;
using overlay::Revocations;

Message revocations_message(const Grid& grid) {
  Message message;
  Message::Revocations& list = *message.mutable_revocations();
  list.set_grid(grid.pass.id.bytes());
  list.set_version(grid.pass.revocations.version);
  list.mutable_serials()->Assign(grid.pass.revocations.serials.begin(), grid.pass.revocations.serials.end());
  list.set_signature(grid.pass.revocations.signature.data(), grid.pass.revocations.signature.size());
  return message;
}

// Only which one it is: whoever has another one says so, or sends it.
Message version_message(const Grid& grid) {
  Message message;
  message.mutable_revocations()->set_grid(grid.pass.id.bytes());
  message.mutable_revocations()->set_version(grid.pass.revocations.version);
  return message;
}

Revocations read_list(const Message::Revocations& message) {
  Revocations list{.version = message.version()};
  list.serials.assign(message.serials().begin(), message.serials().end());
  std::ranges::copy(as_bytes(message.signature()), list.signature.begin());
  return list;
}

}  // namespace

GridDesk::GridDesk(const Config& config, const Place& place)
    : config_(config), place_(place), joining_(config.joining, place.key), admits_(config.admit_every, config.admits) {}

// --- people

void GridDesk::on_request(Time now, GridRequest request, const std::set<GridId>& in_use, Actions& out) {
  if (auto* wish = std::get_if<Joining::Wish>(&request.what)) {
    Status asked = check_wish(*wish);
    if (asked) asked = joining_.ask(now, std::move(*wish), out);
    if (!asked) answer(request.number, asked.error(), out);
    return;
  }
  if (const auto* left = std::get_if<LeaveGrid>(&request.what)) return answer(request.number, leave(now, *left, in_use, out), out);
  const auto done = std::visit(
      [&]<class What>(const What& what) -> Answer {
        if constexpr (std::is_same_v<What, Joining::Wish> || std::is_same_v<What, LeaveGrid>) {
          GW_ASSERT(false);  // above
        } else {
          return carry_out(now, what, out);
        }
      },
      request.what);
  answer(request.number, done, out);
}

void GridDesk::answer(std::uint64_t number, const Answer& result, Actions& out) {
  job::GridAnswered answered{.request = number};
  if (result) {
    answered.text = *result;
  } else {
    answered.error = result.error();
  }
  out.after_disk(job::Notify{std::move(answered)});
}

GridDesk::Answer GridDesk::carry_out(Time now, const CreateGrid& request, Actions& out) {
  GW_TRY_VOID(wire::check_grid_name(request.name));
  GridPass pass = found_grid(request.name, request.secret, place_.key, wall(now), place_.rng);
  const GridId id = pass.id;
  GW_TRY_VOID(place_.grids.add(now, std::move(pass), out));
  return id.hash.hex();
}

GridDesk::Answer GridDesk::carry_out(Time now, const JoinOpenGrid& request, Actions& out) {
  GW_TRY_VOID(wire::check_grid_name(request.name));
  GridPass pass = GridPass::open(request.name);
  const GridId id = pass.id;
  GW_TRY_VOID(place_.grids.add(now, std::move(pass), out));
  return id.hash.hex();
}

Status GridDesk::check_wish(const Joining::Wish& wish) const {
  GW_TRY_VOID(wire::check_grid_name(wish.name));
  const GridId id = wire::private_grid(wish.invitation.grid_key);
  if (const Grid* there = place_.grids.find(id); there != nullptr && !there->pass.revoked())
    return fail(Kind::invalid, "this peer is in that grid already, as '{}'", there->pass.name);
  if (const Grid* there = place_.grids.find(wish.name); there != nullptr && there->pass.id != id)
    return fail(Kind::invalid, "this peer is in another grid called '{}': give the new one another name (--as)", wish.name);
  return ok();
}

GridDesk::Answer GridDesk::leave(Time now, const LeaveGrid& request, const std::set<GridId>& in_use, Actions& out) {
  const Grid* grid = place_.grids.find(request.grid);
  if (grid == nullptr) return fail(Kind::not_found, "this peer is not in grid {}", request.grid.brief());
  if (in_use.contains(request.grid))
    return fail(Kind::invalid, "jobs of this peer run in grid '{}': wait for their end, or cancel them ('godwit job list')",
                grid->pass.name);
  place_.grids.remove(now, request.grid, out);
  return request.grid.hash.hex();
}

Result<Grid*> GridDesk::private_grid(const GridId& id) {
  Grid* grid = place_.grids.find(id);
  if (grid == nullptr) return fail(Kind::not_found, "this peer is not in grid {}", id.brief());
  if (!grid->pass.is_private())
    return fail(Kind::invalid,
                "grid '{}' is open: whoever knows its name is in it ('godwit up --grid {}'); 'godwit grid create' makes private ones",
                grid->pass.name, grid->pass.name);
  return grid;
}

GridDesk::Answer GridDesk::carry_out(Time now, const Invite& request, Actions& out) {
  GW_TRY(Grid * grid, private_grid(request.grid));
  GW_TRY(const wire::Invitation invitation, invite(grid->pass, request.terms, wall(now), place_.rng));
  Grids::record(grid->pass, out);
  return text_of(invitation);
}

Result<std::uint64_t> GridDesk::serial_of(const Grid& grid, const PeerId& peer) const {
  if (peer == place_.self) return fail(Kind::invalid, "this peer cannot revoke itself: 'godwit grid leave' leaves a grid");
  if (const overlay::Membership* shown = grid.overlay.membership_filter()->known_members().find(peer)) return shown->serial;
  for (const auto& [serial, member] : grid.pass.members)
    if (member.peer == peer) return serial;
  return fail(Kind::not_found, "no member {} of grid '{}' is known here: 'godwit grid list -o json' has the serials of members",
              peer.brief(), grid.pass.name);
}

GridDesk::Answer GridDesk::carry_out(Time now, const Revoke& request, Actions& out) {
  GW_TRY(Grid * grid, private_grid(request.grid));
  std::vector<std::uint64_t> serials = request.serials;
  for (const PeerId& peer : request.peers) {
    GW_TRY(const std::uint64_t serial, serial_of(*grid, peer));
    serials.push_back(serial);
  }
  GW_TRY(Revocations list, revoke(grid->pass, serials));
  if (list.names(grid->pass.membership.serial)) return fail(Kind::invalid, "this would revoke this peer itself");
  adopt(now, *grid, std::move(list), out);
  return request.grid.hash.hex();
}

// --- joining

void GridDesk::on_connected(Time, const PeerId& peer, const std::string& address, Actions& out) {
  if (!address.empty()) joining_.on_connected(peer, address, out);
}

Result<overlay::Membership> GridDesk::let_in(Time now, const PeerId& from, const Message::Admit& request, GridPass*& pass, Actions& out) {
  GW_TRY(const wire::Invitation invitation, wire::parse_invitation(request.invitation()));
  Grid* grid = place_.grids.find(wire::private_grid(invitation.grid_key));
  if (grid == nullptr) return fail(Kind::not_found, "the peer that was asked is not in that grid");
  PublicKey key;
  std::ranges::copy(as_bytes(request.key()), key.begin());
  if (place_.grids.id_of(key) != from) return fail(Kind::invalid, "the request was made with the key of somebody else");
  const bool holder = invitation.role == wire::Invitation::Role::holder;
  GW_TRY(auto membership, admit(grid->pass, invitation, {.peer = from, .name = request.name()}, key, wall(now), place_.rng));
  Grids::record(grid->pass, out);
  if (holder) pass = &grid->pass;
  return membership;
}

void GridDesk::on_admit(Time now, const PeerId& from, const Message::Admit& request, Actions& out) {
  if (!admits_.take(now)) return;  // it asks again
  GridPass* key_giver = nullptr;
  const auto membership = let_in(now, from, request, key_giver, out);
  Message message;
  Message::Admitted& answer = *message.mutable_admitted();
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

void GridDesk::on_admitted(Time now, const PeerId& from, const Message::Admitted& answer, Actions& out) {
  if (auto granted = joining_.on_admitted(from, answer)) finish(now, std::move(*granted), out);
}

void GridDesk::finish(Time now, Joining::Granted granted, Actions& out) {
  Answer result = std::string();
  if (granted.pass) {
    const GridId id = granted.pass->id;
    // It was revoked, and is let in again.
    if (const Grid* old = place_.grids.find(id); old != nullptr && old->pass.revoked()) place_.grids.remove(now, id, out);
    const Status added = place_.grids.add(now, *std::move(granted.pass), out);
    result = added ? Answer(id.hash.hex()) : Answer(added.error());
  } else {
    result = granted.pass.error();
  }
  answer(granted.wish.request.value_or(0), result, out);
}

// --- revocations

void GridDesk::adopt(Time now, Grid& grid, Revocations list, Actions& out) {
  const std::vector<Overlay::Known> members = grid.overlay.all();
  place_.grids.revoke(now, grid, std::move(list), out);
  remind_at_ = std::min(remind_at_, now + config_.remind_every);
  const Message message = revocations_message(grid);
  for (std::size_t i = 0; i < std::min(members.size(), config_.told); ++i) out.send(members[i].descriptor.id, message);
  if (grid.pass.revoked())
    out.notify(job::PeerRefused{place_.self,
                                fmt::format("its own membership of grid '{}' was revoked: ask for another invitation", grid.pass.name)});
}

void GridDesk::on_revocations(Time now, const PeerId& from, const Message::Revocations& message, Actions& out) {
  Grid* grid = place_.grids.find(GridId::from(message.grid()));
  if (grid == nullptr || !grid->pass.is_private()) return;
  const std::uint64_t mine = grid->pass.revocations.version;
  if (message.signature().empty()) {
    if (!grid->overlay.admits(now, from) || message.version() == mine) return;
    return out.send(from, message.version() < mine ? revocations_message(*grid) : version_message(*grid));
  }
  // Signed by the grid's key: whoever brings it.
  const Revocations list = read_list(message);
  if (list == grid->pass.revocations) return;
  if (const Status good = check(*grid->pass.key, list); !good) return out.notify(job::PeerRefused{from, good.error().detail});
  GW_REACHED("grid desk: a list of revocations was heard");
  if (auto merged = merge(grid->pass, list)) adopt(now, *grid, *std::move(merged), out);
}

void GridDesk::on_seen(Time now, const PeerId& peer, Actions& out) {
  for (const auto& [id, grid] : place_.grids.all()) {
    if (!grid->pass.is_private() || grid->pass.revoked() || grid->overlay.find(peer) == nullptr) continue;
    out.send(peer, version_message(*grid));
    remind_at_ = std::min(remind_at_, now + config_.remind_every);
  }
}

void GridDesk::on_tick(Time now, Actions& out) {
  for (Joining::Granted& late : joining_.on_tick(now, out)) finish(now, std::move(late), out);
  if (now < remind_at_) return;
  remind_at_ = now + config_.remind_every;
  for (const auto& [id, grid] : place_.grids.all()) {
    if (!grid->pass.is_private() || grid->pass.revoked()) continue;
    const std::vector<Overlay::Known> members = grid->overlay.all();
    if (!members.empty()) out.send(members[place_.rng.below(members.size())].descriptor.id, version_message(*grid));
  }
}

}  // namespace gw::peer
