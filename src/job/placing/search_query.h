#pragma once
// The question of a search: which slots a job lacks, and how far it looks for them.

#include <string_view>

#include "job/actions.h"
#include "job/authority/charter.h"
#include "wire/signer.h"

namespace gw::job {

inline constexpr std::string_view kSearchTitle = "godwit search 1";
// The radius of a search in the whole grid.
inline constexpr Time kWholeGrid{static_cast<std::int64_t>(wire::kWholeGridRadius)};

// How a peer is named among those that home asks itself: eight bytes of an id tell the few dozen of them apart.
std::uint64_t asked_name(const PeerId& peer);

// `home`: the descriptor of the signer's peer.
JobMessage search_message(const Charter& charter, const wire::pb::JobMessage::Query& query, wire::pb::Descriptor home, std::uint32_t hops,
                          const wire::Signer& signer);

// Reads the query of a search for this job. Nothing is said about signatures. Kind::invalid: a field is out of range.
Result<wire::pb::JobMessage::Query> read_query(const JobMessage::Search& search, const JobId& job);
// Whether `home` has signed the query, and the descriptor is one of `home`. Whoever passes a search on could change a query that is not
// signed, and make a whole grid answer a peer that has asked nobody. Nothing is said about the signature of the descriptor.
bool is_query_of(const JobMessage::Search& search, const PeerId& home, const wire::Signer& signer);

}  // namespace gw::job
