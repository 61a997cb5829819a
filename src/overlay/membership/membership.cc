#include "overlay/membership/membership.h"

#include <algorithm>

namespace gw::overlay {
namespace {

constexpr std::string_view kMembership = "godwit membership 1";  // no other text that a grid key signs begins like these
constexpr std::string_view kRevocations = "godwit revocations 1";

Bytes membership_text(const GridId& grid, const PublicKey& member, std::uint64_t serial, std::uint64_t until) {
  ByteWriter text;
  text.bytes(as_bytes(kMembership));
  text.bytes(grid.hash.bytes);
  text.bytes(member);
  text.u64(serial);
  text.u64(until);
  return text.take();
}

Bytes revocations_text(const GridId& grid, std::uint64_t version, const std::vector<std::uint64_t>& serials) {
  ByteWriter text;
  text.bytes(as_bytes(kRevocations));
  text.bytes(grid.hash.bytes);
  text.u64(version);
  for (const std::uint64_t serial : serials) text.u64(serial);
  return text.take();
}

bool over(WallSeconds now, const Membership& membership) {
  return now > kClockSkew && static_cast<std::uint64_t>((now - kClockSkew).count()) > membership.until;
}

GridId id_of(const PublicKey& grid_key) { return {sha256(grid_key)}; }

}  // namespace

Membership make_membership(const SigningKey& grid, const PublicKey& member, std::uint64_t serial, std::uint64_t until) {
  return {serial, until, grid.sign(membership_text(id_of(grid.public_key()), member, serial, until))};
}

Membership read(const wire::pb::Membership& message) {
  Membership membership{.serial = message.serial(), .until = message.until()};
  GW_ASSERT(message.signature().size() == membership.signature.size());
  std::ranges::copy(as_bytes(message.signature()), membership.signature.begin());
  return membership;
}

void write(const Membership& membership, wire::pb::Membership& message) {
  message.set_serial(membership.serial);
  message.set_until(membership.until);
  message.set_signature(membership.signature.data(), membership.signature.size());
}

bool Revocations::names(std::uint64_t serial) const {
  return std::ranges::binary_search(serials, serial) || std::ranges::binary_search(serials, invitation_of(serial));
}

Revocations make_revocations(const SigningKey& grid, std::uint64_t version, std::vector<std::uint64_t> serials) {
  GW_ASSERT(version > 0 && serials.size() <= Revocations::kMost);
  const Signature signature = grid.sign(revocations_text(id_of(grid.public_key()), version, serials));
  return {version, std::move(serials), signature};
}

Status check(const PublicKey& grid_key, const Revocations& list) {
  if (list.version == 0) return fail(Kind::invalid, "a list of revocations has no version");
  if (list.serials.size() > Revocations::kMost)
    return fail(Kind::invalid, "a list of revocations has more than {} entries", Revocations::kMost);
  if (std::ranges::adjacent_find(list.serials, std::greater_equal()) != list.serials.end())
    return fail(Kind::invalid, "a list of revocations is not in order");
  if (!verify(grid_key, revocations_text(id_of(grid_key), list.version, list.serials), list.signature))
    return fail(Kind::invalid, "a list of revocations is not signed by the key of the grid");
  return ok();
}

// --- known members

Status KnownMembers::admit(WallSeconds now, const PeerId& peer, const PublicKey& key, const Membership& membership) {
  if (membership.serial == 0) return fail(Kind::invalid, "it has shown no membership of the private grid");
  if (revocations_.names(membership.serial))
    return fail(Kind::invalid, "its membership {:016x} of the private grid was revoked", membership.serial);
  if (over(now, membership))
    return fail(Kind::invalid, "its membership {:016x} of the private grid has expired, or a clock is wrong by more than {} minutes",
                membership.serial, std::chrono::duration_cast<std::chrono::minutes>(kClockSkew).count());
  const auto known = members_.find(peer);
  if (known != members_.end() && known->second.membership == membership) return ok();
  if (!verify(grid_key_, membership_text(grid_id_, key, membership.serial, membership.until), membership.signature))
    return fail(Kind::invalid, "its membership {:016x} of the private grid is not signed by the grid's key for this peer",
                membership.serial);
  if (known == members_.end()) make_room();
  members_[peer] = {membership, ++next_order_};
  return ok();
}

void KnownMembers::make_room() {
  if (members_.size() < config_.members) return;
  members_.erase(std::ranges::min_element(members_, {}, [](const auto& entry) { return entry.second.order; }));
}

bool KnownMembers::has(WallSeconds now, const PeerId& peer) const {
  const auto found = members_.find(peer);
  return found != members_.end() && !over(now, found->second.membership);
}

const Membership* KnownMembers::find(const PeerId& peer) const {
  const auto found = members_.find(peer);
  return found == members_.end() ? nullptr : &found->second.membership;
}

std::vector<PeerId> KnownMembers::revoke(Revocations list) {
  revocations_ = std::move(list);
  std::vector<PeerId> gone;
  std::erase_if(members_, [&](const auto& entry) {
    if (!revocations_.names(entry.second.membership.serial)) return false;
    gone.push_back(entry.first);
    return true;
  });
  return gone;
}

}  // namespace gw::overlay
