#pragma once
// This peer's part in the searches of other homes; docs/design/016-search.md.

#include <cstdint>
#include <list>
#include <map>
#include <utility>

#include "job/actions.h"
#include "job/authority/charter.h"
#include "overlay/per_peer_rate_limit.h"
#include "peer/grids.h"

namespace gw::peer {

using job::JobId;
using job::JobMessage;

// Passes each search on, once, to the neighbours that are within its radius around home, and says whether this peer answers it.
//
// The problem. One message of a home makes every peer of a grid send some, so whoever can send a search can make the grid work: with ever
// new searches, with copies, with the name of a peer that searches nothing, or with searches that a peer on the way has changed.
//
// Invariants.
// 1. A search is a (job, round), and is handled once as long as it is remembered. It is remembered only after it was found genuine, so that
//    a forged one cannot take the place of the real one.
// 2. Home has signed the query, leads the job by its charter, and is described by a descriptor of its own, in the grid of the job.
// 3. A search is of the present boot of its home, as far as is known: whoever has kept an older one cannot send it again.
// 4. A search goes to at most the search neighbours of the overlay, not back, and not to peers that home has asked itself.
// 5. Per period, at most so many searches of one sender are looked at, so many of one home answered, and so many of one home passed on: a
//    home with many jobs reaches its neighbours for all of them, but the whole grid for a few at a time.
//
// Cheap checks come first. Limits: Config. A machine without I/O or threads: its peer owns and drives it.
class SearchRelay {
 public:
  struct Config {
    std::size_t seen = 16384;
    Time seen_for = std::chrono::minutes(10);
    overlay::PerPeerRateLimit::Config senders{.period = std::chrono::seconds(1), .per_peer = 128, .peers = 1024};
    overlay::PerPeerRateLimit::Config homes{.period = std::chrono::seconds(1), .per_peer = 64, .peers = 1024};
    overlay::PerPeerRateLimit::Config passed_on{.period = std::chrono::seconds(10), .per_peer = 32, .peers = 1024};
  };
  struct Environment {
    PeerId self;
    const wire::Signer& signer;
    Grids& grids;
  };
  using Query = JobMessage::Query;

  SearchRelay(const Config& config, Environment environment);

  // The query of a search that has not been handled and is worth a look. Kind::overloaded: it is not. Kind::invalid: its sender should have
  // dropped it.
  Result<Query> look(Time now, const PeerId& from, const JobMessage& message);
  // Whether its home has sent it. A relay need not know that it has not.
  bool is_genuine(Time now, const job::Charter& charter, const JobMessage::Search& search, Actions& out);
  // Handles a genuine search: passes it on. True: this peer is within the radius, and answers.
  bool handle(Time now, const PeerId& from, const job::Charter& charter, const Query& query, const JobMessage& message, Actions& out);

  std::size_t size() const { return seen_.size(); }

 private:
  using Name = std::pair<JobId, std::uint64_t>;  // job and round

  void remember(Time now, const Name& name);
  void pass_on(const PeerId& from, const Grid& grid, const overlay::Descriptor& home, const Query& query, const JobMessage& message,
               Actions& out) const;

  const Config config_;
  const Environment environment_;
  overlay::PerPeerRateLimit senders_;
  overlay::PerPeerRateLimit homes_;
  overlay::PerPeerRateLimit passed_on_;
  std::map<Name, Time> seen_;
  std::list<Name> oldest_first_;
};

}  // namespace gw::peer
