#include "job/placing/search_query.h"

#include <algorithm>

#include "job/authority/signed_text.h"
#include "job/placing/capacity.h"

namespace gw::job {

std::uint64_t asked_name(const PeerId& peer) {
  std::uint64_t name = 0;
  for (std::size_t i = 0; i < sizeof(name); ++i) name = name << 8 | peer.hash.bytes[i];
  return name;
}

JobMessage search_message(const Charter& charter, const JobMessage::Query& query, wire::pb::Descriptor home, std::uint32_t hops,
                          const wire::Signer& signer) {
  JobMessage message;
  JobMessage::Search& search = *message.mutable_search();
  *search.mutable_charter() = charter.signed_charter();
  search.set_query(query.SerializeAsString());
  search.set_signature(sign_text(signer, kSearchTitle, search.query()));
  *search.mutable_home() = std::move(home);
  search.set_hops(hops);
  return message;
}

Result<JobMessage::Query> read_query(const JobMessage::Search& search, const JobId& job) {
  JobMessage::Query query;
  const auto require = [](bool condition, std::string_view rule) -> Status {
    return condition ? ok() : Status(fail(Kind::invalid, "it sent a search that is not right: {}", rule));
  };
  GW_TRY_VOID(require(query.ParseFromString(search.query()), "a query that cannot be read"));
  GW_TRY_VOID(require(query.job() == job.bytes(), "a query for another job"));
  GW_TRY_VOID(require(query.round() != 0, "rounds begin with 1"));
  GW_TRY_VOID(require(query.radius_ns() <= wire::kWholeGridRadius, "a radius is at most an hour"));
  GW_TRY_VOID(require(query.slots() > 0 && query.slots() <= wire::kMaxJobSlots, "1 to 65536 slots are searched"));
  GW_TRY_VOID(require(query.priority() <= wire::kMaxPriority, "a priority is at most 100"));
  constexpr std::uint64_t kMaxWallTime = std::uint64_t{1} << 62;  // nanoseconds since 1970: sums must not overflow
  GW_TRY_VOID(require(query.submitted_at_ns() <= kMaxWallTime, "a job was submitted before the year 2200"));
  GW_TRY_VOID(require(query.asked_size() <= wire::kMaxAsked, "a home asks at most 64 peers itself"));
  GW_TRY_VOID(check(query.needs()));
  return query;
}

bool is_query_of(const JobMessage::Search& search, const PeerId& home, const wire::Signer& signer) {
  PublicKey key;
  if (search.home().key().size() != key.size()) return false;
  std::ranges::copy(as_bytes(search.home().key()), key.begin());
  return signer.id_of(key) == home && is_signed_text(signer, key, kSearchTitle, search.query(), search.signature());
}

}  // namespace gw::job
