#include "peer/grids.h"

#include <algorithm>

#include "base/reached.h"
#include "job/records.h"
#include "wire/records.pb.h"

namespace gw::peer {

// --- one grid

Grid::Grid(const Overlay::Config& config, const Overlay::Self& self, const overlay::Notary& notary, Rng rng)
    : overlay(config, self, notary, rng) {}

bool Grid::alive(const PeerId& peer) const { return peer == overlay.self().id || overlay.alive(peer); }

std::vector<job::Neighbours::Neighbour> Grid::all_alive() const {
  std::vector<Neighbour> list{{overlay.self().id, overlay.self().free_slots}};
  for (const auto& [descriptor, state, heard, distance] : overlay.all()) {
    if (!overlay.alive(descriptor.id)) continue;
    // What it said may be some rounds old: whoever lends slots at all may have one by now, and asking costs one message.
    list.push_back({descriptor.id, std::max(descriptor.free_slots, std::min(descriptor.slots, 1u))});
  }
  std::ranges::sort(list, {}, &Neighbour::peer);
  return list;
}

// --- all of them

Grids::Grids(const Config& config, const Overlay::Self& self, const overlay::Notary& notary, Rng& rng)
    : config_(config), remember_wait_(config.remember_first) {
  GW_ASSERT(!config_.grids.empty());
  for (const GridId& id : config_.grids) {
    Overlay::Config one = config_.overlay;
    one.grid = id;
    grids_[id] = std::make_unique<Grid>(one, self, notary, Rng(rng.next()));
  }
}

template <class Input>
void Grids::tell(const GridId& id, Grid& grid, Actions& out, const Input& input) {
  overlay::Output output;
  input(grid.overlay, output);
  carry_out(id, std::move(output), out);
}

template <class Input>
void Grids::tell_all(Actions& out, const Input& input) {
  for (auto& [id, grid] : grids_) tell(id, *grid, out, input);
}

// With one grid there is no question where a peer belongs, known or not.
template <class Input>
void Grids::tell_where_known(const PeerId& peer, Actions& out, const Input& input) {
  for (auto& [id, grid] : grids_)
    if (grids_.size() == 1 || grid->overlay.find(peer) != nullptr) tell(id, *grid, out, input);
}

void Grids::carry_out(const GridId& grid, overlay::Output output, Actions& out) {
  for (overlay::Send& send : output.sends) {
    job::Send& message = std::get<job::Send>(out.now.emplace_back(job::Send{send.to, {}, std::move(send.contact)}));
    *message.message.mutable_overlay() = std::move(send.message);
  }
  for (overlay::Dial& dial : output.dials) out.add(job::Connect{std::move(dial.address)});
  for (const overlay::Event& event : output.events) {
    if (const auto* seen = std::get_if<overlay::Seen>(&event)) {
      out.notify(job::PeerSeen{seen->peer, seen->alive});
      if (!seen->alive) losses_.push_back({grid, seen->peer});
    } else if (const auto* refused = std::get_if<overlay::Refused>(&event)) {
      out.notify(job::PeerRefused{refused->peer, refused->sentence});
    }
  }
}

// --- the life of a peer

void Grids::start(Time now, const std::map<GridId, std::vector<std::string>>& remembered, Actions& out) {
  remembered_ = remembered;
  remember_at_ = now + remember_wait_;
  for (auto& [id, grid] : grids_)
    tell(id, *grid, out, [&](Overlay& overlay, overlay::Output& output) { overlay.start(now, remembered_[id], output); });
}

void Grids::leave(Time now, Actions& out) {
  remember(out);
  tell_all(out, [now](Overlay& overlay, overlay::Output& output) { overlay.leave(now, output); });
}

void Grids::remember(Actions& out) {
  for (const auto& [id, grid] : grids_) {
    std::vector<std::string> addresses = grid->overlay.to_remember();
    // Whoever knows nobody any more has lost its network, and will want those it knew.
    if (addresses.empty() || addresses == remembered_[id]) continue;
    wire::pb::RememberedPeers record;
    for (const std::string& address : addresses) record.add_addresses(address);
    out.record(job::RecordKey{.kind = job::RecordKind::peers, .job = {id.hash}}.encode(), record.SerializeAsString());
    remembered_[id] = std::move(addresses);
  }
}

void Grids::on_tick(Time now, Actions& out) {
  tell_all(out, [&](Overlay& overlay, overlay::Output& output) { overlay.on_tick(now, output); });
  if (now < remember_at_) return;
  remember_wait_ = std::min(2 * remember_wait_, config_.remember_every);
  remember_at_ = now + remember_wait_;
  remember(out);
}

Time Grids::next_deadline() const {
  Time next = remember_at_;
  for (const auto& [id, grid] : grids_) next = std::min(next, grid->overlay.next_deadline());
  return next;
}

// --- what happens

void Grids::on_message(Time now, const PeerId& from, const overlay::Message& message, Actions& out) {
  const auto found = grids_.find(GridId::from(message.grid()));
  if (found == grids_.end()) {
    GW_REACHED("grids: a message of a grid that is not ours");  // we, or somebody at our address, have left it
    return;
  }
  tell(found->first, *found->second, out,
       [&](Overlay& overlay, overlay::Output& output) { overlay.on_message(now, from, message, output); });
}

void Grids::on_connected(Time now, const PeerId& peer, const std::string& address, Actions& out) {
  tell_all(out, [&](Overlay& overlay, overlay::Output& output) { overlay.on_connected(now, peer, address, output); });
}

void Grids::on_unreachable(Time now, const PeerId& peer, overlay::Failure failure, Actions& out) {
  tell_all(out, [&](Overlay& overlay, overlay::Output& output) { overlay.on_unreachable(now, peer, failure, output); });
}

void Grids::on_reset(Time now, const PeerId& peer, Actions& out) {
  tell_all(out, [&](Overlay& overlay, overlay::Output& output) { overlay.on_reset(now, peer, output); });
}

void Grids::on_heard(Time now, const PeerId& from, Actions& out) {
  tell_where_known(from, out, [&](Overlay& overlay, overlay::Output& output) { overlay.on_heard(now, from, output); });
}

void Grids::in_touch(Time now, const PeerId& with, Actions& out) {
  tell_where_known(with, out, [&](Overlay& overlay, overlay::Output& output) { overlay.in_touch(now, with, output); });
}

void Grids::set_slots(std::uint32_t slots, std::uint32_t free_slots) {
  for (auto& [id, grid] : grids_) grid->overlay.set_slots(slots, free_slots);
}

void Grids::set_contact(const overlay::Contact& contact) {
  for (auto& [id, grid] : grids_) grid->overlay.set_contact(contact);
}

// --- what is known

const Grid* Grids::find(const GridId& grid) const {
  const auto found = grids_.find(grid);
  return found == grids_.end() ? nullptr : found->second.get();
}

overlay::Contact Grids::contact_of(const PeerId& peer) const {
  const overlay::Descriptor* newest = nullptr;
  for (const auto& [id, grid] : grids_)
    if (const overlay::Descriptor* known = grid->overlay.find(peer); known != nullptr && (newest == nullptr || newer(*known, *newest)))
      newest = known;
  return newest != nullptr ? overlay::contact_of(*newest) : overlay::Contact{};
}

bool Grids::alive(const PeerId& peer) const {
  return std::ranges::any_of(grids_, [&](const auto& entry) { return entry.second->alive(peer); });
}

std::vector<job::Neighbours::Neighbour> Grids::all_alive() const {
  std::map<PeerId, Neighbour> all;
  for (const auto& [id, grid] : grids_)
    for (const Neighbour& neighbour : grid->all_alive()) all.insert_or_assign(neighbour.peer, neighbour);
  std::vector<Neighbour> list;
  for (const auto& [peer, neighbour] : all) list.push_back(neighbour);
  return list;
}

}  // namespace gw::peer
