#include "job/lending/balance.h"

#include <algorithm>

#include "base/reached.h"
#include "wire/messages/rules.h"
#include "wire/records.pb.h"

namespace gw::job {
namespace {

// Two users of one peer whose keys begin with the same eight bytes would share a record.
std::string key_of_balance(const Balance::Name& name) {
  if (name.user == ConsumerName()) return RecordKey{.kind = RecordKind::balance, .job = {name.peer.hash}}.encode();
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < sizeof number; ++i) number = number << 8 | name.user.bytes[i];
  return RecordKey{.kind = RecordKind::consumer_balance, .job = {name.peer.hash}, .thread = ThreadId{number}}.encode();
}

}  // namespace

Balance::Entry& Balance::change(const Name& name, Time wall) {
  if (!entries_.contains(name) && entries_.size() >= config_.entries) {
    GW_REACHED("lending: a peer was forgotten in the balance");
    const auto least = std::ranges::min_element(
        entries_, {}, [](const auto& one) { return std::pair(one.second.given + one.second.used, one.second.changed_at); });
    changed_.insert(least->first);
    entries_.erase(least);
  }
  changed_.insert(name);
  Entry& entry = entries_[name];
  entry.changed_at = wall;
  return entry;
}

void Balance::record(Time now, Actions& out) {
  if (changed_.empty() || now < record_at_) return;
  record_at_ = now + config_.record_every;
  for (const Name& name : std::exchange(changed_, {})) {
    const auto found = entries_.find(name);
    out.record(key_of_balance(name), found == entries_.end() ? std::nullopt : std::optional(encode(name, found->second)));
  }
}

std::string Balance::encode(const Name& name, const Entry& entry) {
  wire::pb::BalanceRecord record;
  record.set_given_ns(static_cast<std::uint64_t>(entry.given.count()));
  record.set_used_ns(static_cast<std::uint64_t>(entry.used.count()));
  record.set_given_bytes(entry.given_bytes);
  record.set_used_bytes(entry.used_bytes);
  record.set_user(wire::bytes_of(name.user));
  record.set_changed_at_ns(static_cast<std::uint64_t>(entry.changed_at.count()));
  return record.SerializeAsString();
}

Result<std::pair<Balance::Name, Balance::Entry>> Balance::decode(const RecordKey& key, const std::string& bytes) {
  wire::pb::BalanceRecord record;
  if (!record.ParseFromString(bytes) || record.user().size() != sizeof(Hash256))
    return fail(Kind::corrupt, "the balance with a peer cannot be read");
  const auto time = [](std::uint64_t ns) { return Time(static_cast<std::int64_t>(ns & ~(std::uint64_t{1} << 63))); };
  // Earlier versions recorded all users of a peer together, with the last one.
  Name name{.peer = {key.job.hash}};
  if (key.kind == RecordKind::consumer_balance) name.user = wire::hash_of(record.user());
  return std::pair(name, Entry{.given = time(record.given_ns()),
                               .used = time(record.used_ns()),
                               .given_bytes = record.given_bytes(),
                               .used_bytes = record.used_bytes(),
                               .changed_at = time(record.changed_at_ns())});
}

}  // namespace gw::job
