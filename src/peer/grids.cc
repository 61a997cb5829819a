#include "peer/grids.h"

#include <algorithm>

#include "base/reached.h"
#include "job/records.h"
#include "wire/grid_name.h"
#include "wire/messages/peer_messages.h"
#include "wire/records.pb.h"

namespace gw::peer {

// --- one grid

Grid::Grid(GridCredentials given, const Overlay::Config& config, const Overlay::Self& self, const overlay::Signer& signer, Rng rng)
    : credentials(std::move(given)), overlay(config, self, signer, rng) {}

bool Grid::alive(const PeerId& peer) const { return peer == overlay.self().id || (!credentials.revoked() && overlay.alive(peer)); }

const std::vector<job::LivePeers::LivePeer>& Grid::all_alive() const {
  if (alive_) return *alive_;
  std::vector<LivePeer>& list = alive_.emplace();
  std::map<PeerId, std::uint32_t> announced{{overlay.self().id, overlay.self().free_slots}};
  list.push_back({overlay.self().id, overlay.self().free_slots, overlay.self().slots});
  for (const auto& [descriptor, state, last_seen, distance] : overlay.all()) {
    if (!alive(descriptor.id)) continue;
    announced[descriptor.id] = descriptor.free_slots;
    // A descriptor may be some rounds old: a peer that lends slots may have a free one by now, and asking costs one message.
    list.push_back({descriptor.id, std::max(descriptor.free_slots, std::min(descriptor.slots, 1u)), descriptor.slots});
  }
  std::ranges::sort(list, {}, &LivePeer::peer);
  note_announced(std::move(announced));
  return list;
}

void Grid::note_announced(std::map<PeerId, std::uint32_t> announced) const {
  for (const auto& [peer, free] : announced) {
    const auto before = announced_.find(peer);
    if (before == announced_.end() || before->second < free) note_opened(peer, free);
  }
  announced_ = std::move(announced);
}

void Grid::note_opened(const PeerId& peer, std::uint32_t slots) const {
  std::erase_if(opened_, [&](const Opening& opening) { return opening.peer == peer; });
  opened_.push_back({peer, ++openings_, std::min(slots, wire::kMaxJobSlots) + kToldBeside});
  if (opened_.size() > kOpened) opened_.pop_front();
}

std::vector<PeerId> Grid::opened_since(std::uint64_t& mark) const {
  all_alive();
  std::vector<PeerId> peers;
  for (Opening& opening : opened_) {
    if (opening.number <= mark || opening.told == 0) continue;
    --opening.told;
    peers.push_back(opening.peer);
  }
  mark = openings_;
  return peers;
}

std::vector<job::LivePeers::Neighbour> Grid::neighbours() const {
  std::vector<Neighbour> list{{overlay.self().id, Time(0)}};
  if (credentials.revoked()) return list;
  for (const overlay::Descriptor* neighbour : overlay.search_neighbours()) list.push_back({neighbour->id, overlay.distance(neighbour->id)});
  return list;
}

// The address without port and without its last part: machines of one site mostly differ in that alone.
std::string Grid::network(const PeerId& peer) const {
  const overlay::Descriptor* known = peer == overlay.self().id ? &overlay.self() : overlay.find(peer);
  if (known == nullptr) return "";
  const std::string host = known->address.substr(0, known->address.rfind(':'));
  const bool is_version_4 = host.find_first_not_of("0123456789.") == std::string::npos;
  return host.substr(0, std::min(host.rfind(is_version_4 ? '.' : ':'), host.size()));
}

// --- all of them

Grids::Grids(const Config& config, const Overlay::Self& self, const overlay::Signer& signer, Rng& rng)
    : config_(config), self_(self), signer_(signer), rng_(rng.next()), remember_wait_(config.remember_first) {
  for (const std::string& name : config_.grids) make(GridCredentials::open(name));
}

void Grids::make(GridCredentials credentials) {
  credentials.order = next_order_++;
  Overlay::Config one = config_.overlay;
  one.grid = credentials.id;
  one.known.insert(one.known.end(), credentials.addresses.begin(), credentials.addresses.end());
  if (credentials.is_private())
    one.members = {.grid_key = *credentials.key, .own = credentials.membership, .wall_offset = config_.wall_offset};
  const GridId id = credentials.id;
  const overlay::Revocations revoked = credentials.revocations;
  Grid& grid = *(grids_[id] = std::make_unique<Grid>(std::move(credentials), one, self_, signer_, Rng(rng_.next())));
  grid.overlay.set_slots(slots_, free_slots_);
  if (contact_) grid.overlay.set_contact(*contact_);
  overlay::Output nobody_yet;
  if (revoked.version > 0) grid.overlay.revoke(Time(0), revoked, nobody_yet);
}

Status Grids::restore(const Stored& stored) {
  std::vector<GridCredentials> all_credentials;
  for (const wire::pb::GridRecord& record : stored.records) {
    if (record.left()) continue;
    GW_TRY(GridCredentials credentials, GridCredentials::read(record));
    all_credentials.push_back(std::move(credentials));
  }
  std::ranges::sort(all_credentials, {}, &GridCredentials::order);
  for (GridCredentials& credentials : all_credentials)
    if (recorded_.insert(credentials.id); !grids_.contains(credentials.id)) make(std::move(credentials));
  unknown_keys_ = stored.unknown_keys;
  for (const GridId& id : stored.damaged)
    if (!grids_.contains(id)) damaged_.insert(id);
  const bool none_on_disk = stored.records.empty() && stored.damaged.empty() && !stored.unknown_keys;
  if (grids_.empty() && none_on_disk && !config_.otherwise.empty()) make(GridCredentials::open(config_.otherwise));
  return ok();
}

template <class Input>
void Grids::tell(const GridId& id, Grid& grid, Actions& out, const Input& input) {
  if (grid.credentials.revoked()) return;
  overlay::Output output;
  input(grid.overlay, output);
  grid.forget_alive();
  carry_out(id, std::move(output), out);
}

template <class Input>
void Grids::tell_all(Actions& out, const Input& input) {
  for (auto& [id, grid] : grids_) tell(id, *grid, out, input);
}

// If there is only one grid, every peer belongs to it, known or not.
template <class Input>
void Grids::tell_where_known(const PeerId& peer, Actions& out, const Input& input) {
  for (auto& [id, grid] : grids_) {
    if (grid->credentials.revoked() || (grids_.size() != 1 && grid->overlay.find(peer) == nullptr)) continue;
    overlay::Output output;
    input(grid->overlay, output);
    // Messages about jobs come often, and change who is alive only with an event.
    if (!output.events.empty()) grid->forget_alive();
    carry_out(id, std::move(output), out);
  }
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
      if (seen->alive) newly_seen_.push_back(seen->peer);
      if (!seen->alive) losses_.push_back({grid, seen->peer});
    } else if (const auto* refused = std::get_if<overlay::Refused>(&event)) {
      out.notify(job::PeerRefused{refused->peer, refused->sentence});
    } else if (const auto* located = std::get_if<overlay::Located>(&event)) {
      key_answers_.push_back({grid, located->number, located->found ? std::optional(located->host.id) : std::nullopt});
    } else if (const auto* expelled = std::get_if<overlay::Expelled>(&event)) {
      out.add(job::Disconnect{expelled->peer, fmt::format("your membership of grid {} was revoked", grid.brief())});
    }
  }
}

// --- start, join, leave

void Grids::start(Time now, const std::map<GridId, std::vector<std::string>>& remembered, Actions& out) {
  remembered_ = remembered;
  remember_at_ = now + remember_wait_;
  for (auto& [id, grid] : grids_) begin(now, *grid, remembered_[id], out);
}

void Grids::begin(Time now, Grid& grid, const std::vector<std::string>& remembered, Actions& out) {
  if (recorded_.insert(grid.credentials.id).second) record(grid.credentials, out);
  tell(grid.credentials.id, grid, out, [&](Overlay& overlay, overlay::Output& output) { overlay.start(now, remembered, output); });
}

void Grids::record(const GridCredentials& credentials, Actions& out) {
  out.record(job::RecordKey{.kind = job::RecordKind::grid, .job = {credentials.id.hash}}.encode(),
             credentials.record().SerializeAsString());
}

Status Grids::add(Time now, GridCredentials credentials, Actions& out) {
  if (const Grid* there = find(credentials.id))
    return fail(Kind::invalid, "this peer is in that grid already, as '{}'", there->credentials.name);
  if (find(credentials.name) != nullptr)
    return fail(Kind::invalid, "this peer is in another grid called '{}': give the new one another name (--as)", credentials.name);
  if (grids_.size() >= kMost) return fail(Kind::overloaded, "this peer is in {} grids, which is its limit: leave one", grids_.size());
  const GridId id = credentials.id;
  make(std::move(credentials));
  if (grids_.at(id)->credentials.is_private()) put_first(*grids_.at(id), out);
  damaged_.erase(id);  // begin() replaces the record
  const GridId lost{job::RecordKey::lost_grids().job.hash};
  if (remove_damaged(lost, out)) GW_REACHED("grids: a grid was joined after the records of all were lost");
  begin(now, *grids_.at(id), {}, out);
  return ok();
}

// A private grid that its user creates or joins is where the user's next jobs run, unless the configuration names grids.
void Grids::put_first(Grid& grid, Actions& out) {
  const auto is_configured = [this](const Grid& other) {
    return !other.credentials.is_private() && std::ranges::find(config_.grids, other.credentials.name) != config_.grids.end();
  };
  std::uint64_t first = grid.credentials.order;
  for (const auto& [id, other] : grids_)
    if (!is_configured(*other)) first = std::min(first, other->credentials.order);
  for (const auto& [id, other] : grids_) {
    if (other.get() == &grid || other->credentials.order < first || other->credentials.order > grid.credentials.order) continue;
    ++other->credentials.order;
    if (recorded_.contains(id)) record(other->credentials, out);
  }
  grid.credentials.order = first;
}

void Grids::remove(Time now, const GridId& id, Actions& out) {
  Grid& grid = *grids_.at(id);
  tell(id, grid, out, [now](Overlay& overlay, overlay::Output& output) { overlay.leave(now, output); });
  erase_records(id, out);
  remembered_.erase(id);
  recorded_.erase(id);
  grids_.erase(id);
}

bool Grids::remove_damaged(const GridId& id, Actions& out) {
  if (damaged_.erase(id) == 0) return false;
  erase_records(id, out);
  return true;
}

void Grids::erase_records(const GridId& id, Actions& out) const {
  // Leaving a grid that is joined by default must be remembered.
  std::optional<std::string> record;
  if (!config_.otherwise.empty() && id == wire::open_grid(config_.otherwise)) {
    wire::pb::GridRecord left;
    left.set_name(config_.otherwise);
    left.set_left(true);
    record = left.SerializeAsString();
  }
  out.record(job::RecordKey{.kind = job::RecordKind::grid, .job = {id.hash}}.encode(), std::move(record));
  out.record(job::RecordKey{.kind = job::RecordKind::peers, .job = {id.hash}}.encode(), std::nullopt);
}

void Grids::revoke(Time now, Grid& grid, overlay::Revocations list, Actions& out) {
  tell(grid.credentials.id, grid, out, [&](Overlay& overlay, overlay::Output& output) { overlay.revoke(now, list, output); });
  grid.credentials.revocations = std::move(list);
  grid.forget_alive();
  record(grid.credentials, out);
}

void Grids::on_rumoured(Time now, const GridId& id, const wire::pb::Descriptor& descriptor, Actions& out) {
  if (Grid* grid = find(id))
    tell(id, *grid, out, [&](Overlay& overlay, overlay::Output& output) { overlay.on_rumoured(now, descriptor, output); });
}

void Grids::on_rumoured(Time now, const GridId& id, const std::string& address, Actions& out) {
  if (Grid* grid = find(id))
    tell(id, *grid, out, [&](Overlay& overlay, overlay::Output& output) { overlay.on_rumoured(now, address, output); });
}

void Grids::leave(Time now, Actions& out) {
  remember(out);
  tell_all(out, [now](Overlay& overlay, overlay::Output& output) { overlay.leave(now, output); });
}

void Grids::remember(Actions& out) {
  for (const auto& [id, grid] : grids_) {
    std::vector<std::string> addresses = grid->overlay.to_remember();
    // A peer that knows no other peer has lost its network: the remembered addresses stay, to rejoin with.
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

// --- inputs

void Grids::on_message(Time now, const PeerId& from, const overlay::Message& message, Actions& out) {
  const auto found = grids_.find(GridId::from(message.grid()));
  if (found == grids_.end()) {
    GW_REACHED("grids: a message of a grid that is not ours");  // this peer, or an earlier one at its address, has left it
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

std::uint64_t Grids::place(Time now, const GridId& grid, const Hash256& key, Actions& out) {
  std::uint64_t number = 0;
  tell(grid, *grids_.at(grid), out,
       [&](Overlay& overlay, overlay::Output& output) { number = overlay.place(now, key, /*demand=*/1, output); });
  return number;
}

bool Grids::introduce(Time now, const GridId& id, const wire::pb::Descriptor& descriptor, Actions& out) {
  bool genuine = false;
  if (Grid* grid = find(id))
    tell(id, *grid, out, [&](Overlay& overlay, overlay::Output& output) { genuine = overlay.introduce(now, descriptor, output); });
  return genuine;
}

void Grids::on_seen(Time now, const PeerId& from, Actions& out) {
  tell_where_known(from, out, [&](Overlay& overlay, overlay::Output& output) { overlay.on_seen(now, from, output); });
}

void Grids::watch_peer(Time now, const PeerId& with, Actions& out) {
  tell_where_known(with, out, [&](Overlay& overlay, overlay::Output& output) { overlay.watch_peer(now, with, output); });
}

void Grids::set_slots(std::uint32_t slots, std::uint32_t free_slots) {
  slots_ = slots;
  free_slots_ = free_slots;
  for (auto& [id, grid] : grids_) {
    if (grid->overlay.self().slots == slots && grid->overlay.self().free_slots == std::min(slots, free_slots)) continue;
    grid->overlay.set_slots(slots, free_slots);
    grid->forget_alive();
  }
}

void Grids::set_contact(const overlay::Contact& contact) {
  contact_ = contact;
  for (auto& [id, grid] : grids_) grid->overlay.set_contact(contact);
}

// --- queries

const Grid* Grids::main() const {
  // The order of a damaged grid is not known. Another grid in its place might be an open one, and would get the code of private jobs.
  if (config_.grids.empty() && !damaged_.empty()) return nullptr;
  const Grid* first = nullptr;
  for (const auto& [id, grid] : grids_)
    if (first == nullptr || grid->credentials.order < first->credentials.order) first = grid.get();
  return first;
}

bool Grids::is_damaged(const std::optional<GridId>& grid) const {
  if (grid) return !grids_.contains(*grid) && (damaged_.contains(*grid) || unknown_keys_);
  return main() == nullptr && (!damaged_.empty() || unknown_keys_);
}

const Grid* Grids::find(const std::string& name) const {
  for (const auto& [id, grid] : grids_)
    if (grid->credentials.name == name) return grid.get();
  return nullptr;
}

std::vector<const Grid*> Grids::in_order() const {
  std::vector<const Grid*> list;
  for (const auto& [id, grid] : grids_) list.push_back(grid.get());
  std::ranges::sort(list, {}, [](const Grid* grid) { return grid->credentials.order; });
  return list;
}

bool Grids::admits(Time now, const PeerId& peer) const {
  return std::ranges::any_of(
      grids_, [&](const auto& entry) { return !entry.second->credentials.revoked() && entry.second->overlay.admits(now, peer); });
}

const Grid* Grids::find(const GridId& grid) const {
  const auto found = grids_.find(grid);
  return found == grids_.end() ? nullptr : found->second.get();
}

const overlay::Descriptor* Grids::newest(const PeerId& peer) const {
  const overlay::Descriptor* newest = nullptr;
  for (const auto& [id, grid] : grids_)
    if (const overlay::Descriptor* known = grid->overlay.find(peer); known != nullptr && (newest == nullptr || newer(*known, *newest)))
      newest = known;
  return newest;
}

overlay::Contact Grids::contact_of(const PeerId& peer) const {
  const overlay::Descriptor* known = newest(peer);
  return known != nullptr ? overlay::contact_of(*known) : overlay::Contact{};
}

std::string Grids::name_of(const PeerId& peer) const {
  const overlay::Descriptor* known = newest(peer);
  return known != nullptr ? known->name : "";
}

Time Grids::distance(const PeerId& peer) const {
  Time nearest = job::kNever;
  for (const auto& [id, grid] : grids_) nearest = std::min(nearest, grid->overlay.distance(peer));
  return nearest;
}

bool Grids::alive(const PeerId& peer) const {
  return std::ranges::any_of(grids_, [&](const auto& entry) { return entry.second->alive(peer); });
}

Status Grids::may_run(Time now, const PeerId& home, const std::optional<GridId>& grid) const {
  if (!grid || home == self_.id) return ok();
  const Grid* found = find(*grid);
  if (found == nullptr) return fail(Kind::invalid, "it wants to run a job in grid {}, which this peer is not in", grid->brief());
  if (!found->overlay.admits(now, home))
    return fail(Kind::invalid, "it wants to run a job in the private grid '{}' and has shown no membership of it", found->credentials.name);
  return ok();
}

}  // namespace gw::peer
