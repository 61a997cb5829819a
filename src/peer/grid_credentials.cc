#include "peer/grid_credentials.h"

#include <algorithm>

#include "wire/grid_name.h"
#include "wire/messages/overlay_messages.h"

namespace gw::peer {
namespace {

template <std::size_t kSize>
void copy(const std::string& bytes, std::array<std::uint8_t, kSize>& array) {
  std::ranges::copy(as_bytes(bytes), array.begin());
}

std::string text(ByteView bytes) { return std::string(as_text(bytes)); }

bool has_size(const std::string& bytes, std::size_t size) { return bytes.empty() || bytes.size() == size; }

bool is_sound(const wire::pb::GridRecord& record) {
  const auto names_peer = [](const auto& one) { return one.peer().size() == sizeof(Hash256); };
  return has_size(record.grid_key(), sizeof(PublicKey)) && has_size(record.secret(), sizeof(GridCredentials::Secret)) &&
         has_size(record.revocations_signature(), sizeof(Signature)) && std::ranges::all_of(record.members(), names_peer) &&
         record.grid_key().empty() != record.has_membership() && std::ranges::is_sorted(record.revoked()) &&
         (!record.has_membership() || wire::check(record.membership()));
}

}  // namespace

GridCredentials GridCredentials::open(std::string name) {
  const GridId id = wire::open_grid(name);
  return {.id = id, .name = std::move(name)};
}

wire::pb::GridRecord GridCredentials::record() const {
  wire::pb::GridRecord record;
  record.set_name(name);
  record.set_order(order);
  if (!key) return record;
  record.set_grid_key(text(*key));
  write(membership, *record.mutable_membership());
  if (secret) record.set_secret(text(*secret));
  record.set_revocations_version(revocations.version);
  record.mutable_revoked()->Assign(revocations.serials.begin(), revocations.serials.end());
  record.set_revocations_signature(text(revocations.signature));
  record.mutable_addresses()->Assign(addresses.begin(), addresses.end());
  for (const auto& [serial, made] : invitations) {
    auto& issued = *record.add_invitations();
    issued.set_serial(serial);
    issued.set_until(made.until);
    issued.set_uses(made.uses);
    issued.set_holder(made.role == wire::Invitation::Role::holder);
  }
  for (const auto& [serial, member] : members) {
    auto& issued = *record.add_members();
    issued.set_serial(serial);
    issued.set_until(member.until);
    issued.set_peer(member.peer.bytes());
    issued.set_name(member.name);
  }
  return record;
}

Result<GridCredentials> GridCredentials::read(const wire::pb::GridRecord& record) {
  if (!is_sound(record)) return fail(Kind::corrupt, "the record of grid '{}' is inconsistent: the store is damaged", record.name());
  GridCredentials credentials = open(record.name());
  credentials.order = record.order();
  if (record.grid_key().empty()) return credentials;
  copy(record.grid_key(), credentials.key.emplace());
  credentials.id = wire::private_grid(*credentials.key);
  credentials.membership = overlay::read(record.membership());
  if (!record.secret().empty()) copy(record.secret(), credentials.secret.emplace());
  credentials.revocations.version = record.revocations_version();
  credentials.revocations.serials.assign(record.revoked().begin(), record.revoked().end());
  copy(record.revocations_signature(), credentials.revocations.signature);
  credentials.addresses.assign(record.addresses().begin(), record.addresses().end());
  for (const auto& issued : record.invitations()) {
    const auto role = issued.holder() ? wire::Invitation::Role::holder : wire::Invitation::Role::member;
    credentials.invitations[issued.serial()] = {issued.until(), static_cast<std::uint16_t>(issued.uses()), role};
  }
  for (const auto& issued : record.members())
    credentials.members[issued.serial()] = {PeerId::from(issued.peer()), issued.name(), issued.until()};
  return credentials;
}

}  // namespace gw::peer
