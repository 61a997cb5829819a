#pragma once
// When a job asks for slots, and how far away.
//
// The problem. There is no list of all peers and no directory of free slots, and the nearest peers with free slots are the best ones: their
// code, images and results travel the shortest way. A search goes through the neighbours of home in rounds (docs/design/016-search.md).
//
// Ways that were rejected. Rounds that end after a fixed time: a job on two peers would wait for nothing. Rounds that end with the answers
// of the peers that home asks itself: the answers of the peers behind them come later, and each round would begin before the one before it
// is over. Asking all neighbours again when one of them announces free slots: in a busy grid one of them does all the time.
//
// Invariants.
// 1. Numbers of rounds rise, over restarts of home too: a peer handles each number once.
// 2. An answer counts only for a round of the search that is under way.
// 3. Between two rounds there is at least Config::wait, in one search twice as long each time, up to Config::longest.
// 4. The radius doubles with each round. After Config::fruitless rounds without an answer of a new peer it is the whole grid, until the
//    search ends.

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "job/live_peers.h"
#include "job/names.h"

namespace gw::job {

// The rounds of one job. Costs: O(neighbours) per round. Limits: Config::heard; peers that are waited for are at most the neighbours of
// home. A value without I/O or threads.
class SlotSearch {
 public:
  struct Config {
    Time wait = std::chrono::milliseconds(300);  // after the first round
    Time longest = std::chrono::minutes(1);
    // The first answers wait for better ones, at most for so long; twice as long, if more peers are asked meanwhile. Without a limit peers
    // that announce slots again and again would keep a job from choosing.
    Time answer = std::chrono::milliseconds(500);
    Time least_radius = std::chrono::milliseconds(1);  // a local network is searched at once
    std::uint32_t fruitless = 2;
    std::size_t heard = 4096;
  };
  struct Round {
    std::uint64_t number;
    Time radius;              // kWholeGrid: everywhere
    bool passed_on;           // false: nobody but the peers in `ask` is meant
    std::vector<PeerId> ask;  // by home itself
  };

  SlotSearch(const Config& config, std::uint64_t boot) : config_(config), number_(boot << 32) {}

  // The job lacks slots. A new search begins one round below the last round of the search before it, or with the whole grid, unless one is
  // under way.
  enum class Reach : std::uint8_t { near, whole_grid };
  void begin(Time now, Reach reach = Reach::near);
  // The same without rounds: only ask() is used, until begin() is called.
  void begin_without_rounds();
  // Nothing is lacking that rounds could find: ask() goes on.
  void stop_rounds();
  // The job lacks nothing any more.
  void end();
  bool under_way() const { return under_way_; }

  // The next round, if it is due.
  std::optional<Round> next(Time now, const std::vector<LivePeers::Neighbour>& neighbours);
  bool is_due(Time now) const { return next_at_ <= now; }
  // A round for these peers alone, of which home has heard that they have slots now.
  Round ask(Time now, std::span<const PeerId> peers);
  // An answer of this peer to the present round is expected.
  void expect(const PeerId& peer) { expected_.insert(peer); }
  // The peer has answered that round. False: such a round was not asked, or is long over.
  bool on_answer(const PeerId& peer, std::uint64_t round);
  void on_peer_lost(const PeerId& peer) { expected_.erase(peer); }

  // Peers whose answer is expected.
  const std::set<PeerId>& expected() const { return expected_; }
  // All peers that home has asked itself have answered, or have had the time to.
  bool has_answers(Time now) const { return expected_.empty() || now >= answers_by_; }
  // The time by which answers of other peers have come too.
  Time answers_by() const { return answers_by_; }
  Time next_round() const { return next_at_; }

 private:
  Time next_radius(const std::vector<LivePeers::Neighbour>& neighbours) const;

  const Config config_;
  std::uint64_t number_;
  bool under_way_ = false;
  std::uint64_t first_ = 0;  // round of this search
  std::uint32_t level_ = 0;  // of the next round: how often the radius was doubled
  bool whole_grid_ = false;  // is searched from now on
  std::uint32_t fruitless_ = 0;
  bool heard_new_ = false;  // since the last round
  Time wait_{0};            // after the next round
  Time earliest_{0};        // of the next round, of this search or another
  Time next_at_ = kNever;   // kNever: there are no rounds
  Time answers_since_{0};   // the first peers whose answers are awaited were asked
  Time answers_by_{0};
  std::set<PeerId> expected_;
  std::set<PeerId> heard_;  // that have answered this search
};

}  // namespace gw::job
