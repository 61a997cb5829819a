#include "tracker/peer_directory.h"

#include "wire/messages/overlay_messages.h"
#include "wire/messages/peer_messages.h"

namespace gw::tracker {

Status PeerDirectory::announce(WallSeconds now, const wire::pb::Announcement& announcement) {
  expire(now);
  if (announcement.grid().size() != sizeof(Hash256)) return fail(Kind::invalid, "a grid is named by 32 bytes");
  GW_TRY_VOID(wire::check(announcement.descriptor()));
  const GridId grid = GridId::from(announcement.grid());
  overlay::Descriptor descriptor = overlay::read(announcement.descriptor(), signer_);
  if (!is_genuine(grid, signer_, descriptor)) return fail(Kind::invalid, "the descriptor is not signed by the peer it describes");
  auto& peers = grids_[grid];
  if (const auto known = peers.find(descriptor.id); known != peers.end()) {
    if (newer(known->second->descriptor, descriptor)) return fail(Kind::invalid, "a newer descriptor of this peer is known");
    by_age_.erase(known->second);
    peers.erase(known);
  } else if (peers.size() >= config_.peers_of_grid) {
    return fail(Kind::overloaded, "this tracker knows {} peers of the grid, which is its limit", peers.size());
  }
  if (by_age_.size() >= config_.peers) forget(by_age_.begin());
  const PeerId id = descriptor.id;
  grids_[grid][id] = by_age_.insert(by_age_.end(), {grid, std::move(descriptor), announcement.descriptor(), now});
  return ok();
}

void PeerDirectory::forget(ByAge::iterator entry) {
  const auto grid = grids_.find(entry->grid);
  grid->second.erase(entry->descriptor.id);
  if (grid->second.empty()) grids_.erase(grid);
  by_age_.erase(entry);
}

void PeerDirectory::expire(WallSeconds now) {
  while (!by_age_.empty() && now - by_age_.front().last_seen > config_.lasts) forget(by_age_.begin());
}

std::vector<wire::pb::Descriptor> PeerDirectory::some(WallSeconds now, const GridId& grid, std::size_t count, Rng& rng) {
  expire(now);
  const auto found = grids_.find(grid);
  if (found == grids_.end()) return {};
  // Every place in the result is as likely for every peer (reservoir sampling).
  std::vector<wire::pb::Descriptor> chosen;
  std::size_t seen = 0;
  for (const auto& [id, entry] : found->second) {
    if (chosen.size() < count) {
      chosen.push_back(entry->message);
    } else if (const std::size_t place = rng.below(seen + 1); place < count) {
      chosen[place] = entry->message;
    }
    ++seen;
  }
  return chosen;
}

wire::pb::TrackerState PeerDirectory::state() const {
  wire::pb::TrackerState state;
  for (const Entry& entry : by_age_) {
    wire::pb::TrackerEntry& one = *state.add_entries();
    one.mutable_announcement()->set_grid(entry.grid.bytes());
    *one.mutable_announcement()->mutable_descriptor() = entry.message;
    one.set_heard(static_cast<std::uint64_t>(entry.last_seen.count()));
  }
  return state;
}

void PeerDirectory::restore(WallSeconds now, const wire::pb::TrackerState& state) {
  for (const wire::pb::TrackerEntry& entry : state.entries()) {
    const WallSeconds last_seen(static_cast<std::int64_t>(entry.heard()));
    if (last_seen <= now) (void)announce(last_seen, entry.announcement());
  }
  expire(now);
}

}  // namespace gw::tracker
