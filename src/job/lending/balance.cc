#include "job/lending/balance.h"

#include <algorithm>

#include "base/reached.h"
#include "job/records.h"
#include "wire/messages/rules.h"
#include "wire/records.pb.h"

namespace gw::job {

Balance::Entry& Balance::change(const PeerId& peer, Time wall) {
  if (!entries_.contains(peer) && entries_.size() >= config_.peers) {
    GW_REACHED("lending: a peer was forgotten in the balance");
    const auto least = std::ranges::min_element(
        entries_, {}, [](const auto& one) { return std::pair(one.second.given + one.second.used, one.second.changed_at); });
    changed_.insert(least->first);
    entries_.erase(least);
  }
  changed_.insert(peer);
  Entry& entry = entries_[peer];
  entry.changed_at = wall;
  return entry;
}

void Balance::give(const PeerId& peer, const ConsumerName& user, Time slot_time, Time wall) {
  Entry& entry = change(peer, wall);
  entry.given += slot_time;
  entry.user = user;
}

void Balance::use(const PeerId& peer, Time slot_time, Time wall) { change(peer, wall).used += slot_time; }

void Balance::record(Time now, Actions& out) {
  if (changed_.empty() || now < record_at_) return;
  record_at_ = now + config_.record_every;
  for (const PeerId& peer : std::exchange(changed_, {})) {
    const auto found = entries_.find(peer);
    out.record(RecordKey{.kind = RecordKind::balance, .job = {peer.hash}}.encode(),
               found == entries_.end() ? std::nullopt : std::optional(encode(found->second)));
  }
}

std::string Balance::encode(const Entry& entry) {
  wire::pb::BalanceRecord record;
  record.set_given_ns(static_cast<std::uint64_t>(entry.given.count()));
  record.set_used_ns(static_cast<std::uint64_t>(entry.used.count()));
  record.set_given_bytes(entry.given_bytes);
  record.set_used_bytes(entry.used_bytes);
  record.set_user(wire::bytes_of(entry.user));
  record.set_changed_at_ns(static_cast<std::uint64_t>(entry.changed_at.count()));
  return record.SerializeAsString();
}

Result<Balance::Entry> Balance::decode(const std::string& bytes) {
  wire::pb::BalanceRecord record;
  if (!record.ParseFromString(bytes) || record.user().size() != sizeof(Hash256))
    return fail(Kind::corrupt, "the balance with a peer cannot be read");
  const auto time = [](std::uint64_t ns) { return Time(static_cast<std::int64_t>(ns & ~(std::uint64_t{1} << 63))); };
  return Entry{.given = time(record.given_ns()),
               .used = time(record.used_ns()),
               .given_bytes = record.given_bytes(),
               .used_bytes = record.used_bytes(),
               .user = wire::hash_of(record.user()),
               .changed_at = time(record.changed_at_ns())};
}

}  // namespace gw::job
