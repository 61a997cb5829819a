#pragma once
// The chunks of code and input that this peer fetches for the jobs it hosts: from other hosts of the job where possible, else from home.

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "base/rng.h"
#include "job/actions.h"
#include "job/deadlines.h"
#include "job/images/blob_references.h"
#include "wire/messages/peer_messages.h"

namespace gw::job {

// The name of a chunk in announcements: the first eight bytes of its hash. Two chunks of one name cost a request in vain.
std::uint64_t chunk_name(const Hash256& hash);

// Which peer is asked for which chunk, and when; docs/design/018-swarm.md.
//
// Each host of a job announces the chunks it has to its *partners*, a few hosts of the roster, and to home. A chunk is asked of partners
// that have it, the rarest chunk first, ties in an order that differs from host to host, the nearest partner with room first. Home is asked
// for chunks that no partner has, and may name hosts that are about to have them. A request that is overdue is repeated at a second
// peer. A partner that sends wrong bytes, sends nothing, or lacks what it announced is left out for a while. If home lacks a chunk too,
// take_unserved() returns it: all members of the job have to be asked.
//
// Invariants: a chunk that is wanted is either in flight, at one peer or at two and at home, or in the queue of each peer that may be asked
// for it; no peer has more bytes or chunks in flight than its window. Costs: O(partners) per chunk and event. Limits: Config, and those of
// BlobReferences, which has every chunk that is wanted. A machine without I/O or threads: its peer owns and drives it.
class Swarm {
 public:
  struct Config {
    std::size_t partners = 16;                     // hosts of a job that this peer chooses to exchange announcements with
    std::size_t accepted = 64;                     // partners, those included that have chosen this peer
    std::size_t announced = 4096;                  // chunks that one partner is known to have
    std::size_t window_chunks = 64;                // in flight from one peer
    std::uint64_t window = 4u << 20;               // bytes in flight from one host
    std::uint64_t home_window = 2u << 20;          // and from home, which all hosts ask
    Time first_overdue = std::chrono::seconds(4);  // of a peer that has sent nothing yet; later: a multiple of its own time
    Time least_overdue = std::chrono::milliseconds(1500);
    Time most_overdue = std::chrono::seconds(30);
    Time left_out = std::chrono::seconds(60);             // a partner that sent wrong bytes, or nothing
    std::uint32_t misses = 3;                             // announced chunks that a partner lacked, before it is left out
    Time announce_small = std::chrono::milliseconds(20);  // small chunks are announced together
    std::uint32_t small = 64u << 10;                      // bytes
    Time look_every = std::chrono::seconds(5);            // for new members, while something is wanted
  };
  enum class Priority : std::uint8_t { code, input, ahead };
  struct Chunk {
    Hash256 hash;
    std::uint32_t bytes = wire::kMaxBlobBytes;  // at most, as the manifest says
    Priority priority = Priority::code;
  };
  // The other members of the job.
  using Members = std::function<std::vector<PeerId>(const JobId&)>;
  // The estimated round trip; kNever: not known.
  using Distance = std::function<Time(const PeerId&)>;

  // `blobs` outlives it.
  Swarm(const Config& config, BlobReferences& blobs, Members members, Distance distance, Rng rng)
      : config_(config), blobs_(blobs), members_(std::move(members)), distance_(std::move(distance)), rng_(rng) {}

  // This peer hosts the job, or, if home is `none`, is its home. REQUIRES of the other functions about a job: it is open, or they do
  // nothing.
  void open(const JobId& job, const std::optional<PeerId>& home);
  void close(const JobId& job);

  // REQUIRES: the job needs the blob (BlobReferences::expect), and it is not here.
  void want(Time now, const Chunk& chunk, const JobId& job, Actions& out);
  // The chunk is here: it is announced.
  void add_here(Time now, const Hash256& hash, const JobId& job);
  // The job needs it no more.
  void remove(const Hash256& hash, const JobId& job);

  void on_have(Time now, const PeerId& from, const JobId& job, const JobMessage::Have& have, Actions& out);
  // The answer of a peer to a request: the bytes, which have the hash (`good`) or not, or that it lacks them.
  void on_answer(Time now, const PeerId& from, const JobId& job, const JobMessage::Blob& answer, bool good, Actions& out);
  // The peer has died or restarted.
  void on_peer_gone(Time now, const PeerId& peer, Actions& out);
  void on_tick(Time now, Actions& out);
  Time next_deadline() const;

  // Chunks that home lacks and no partner has, since the last call.
  std::vector<Hash256> take_unserved() { return std::exchange(unserved_, {}); }
  // Hosts that have announced the chunk to this peer, its home; at most `most`.
  std::vector<PeerId> holders(Time now, const JobId& job, const Hash256& hash, const PeerId& without, std::size_t most);

  bool is_home(const JobId& job, const PeerId& peer) const {
    const auto found = jobs_.find(job);
    return found != jobs_.end() && found->second.home == peer;
  }

  // For checkers.
  std::size_t wanted() const { return wanted_.size(); }
  std::size_t in_flight() const { return flights_.size(); }
  std::size_t jobs() const { return jobs_.size(); }

 private:
  // The most urgent first; then the rarest; then as the dice fall, so that hosts do not all ask for the same.
  struct Order {
    Priority priority;
    std::size_t holders;
    std::uint64_t tie;
    auto operator<=>(const Order&) const = default;
  };
  // A peer in a job.
  struct Link {
    JobId job;
    PeerId peer;
    auto operator<=>(const Link&) const = default;
  };
  struct Flight {
    Link link;
    Hash256 hash;
    auto operator<=>(const Flight&) const = default;
  };
  struct Sent {
    Time at;
    std::uint32_t bytes;
    bool overdue = false;
  };
  struct Partner {
    bool home = false;
    bool greeted = false;
    Time distance = kNever;
    std::set<std::uint64_t> has = {};  // chunk names
    std::set<std::pair<Order, Hash256>> queue = {};
    std::uint64_t bytes = 0;   // in flight
    std::size_t chunks = 0;    // in flight
    Time pace{0};              // mean time of an answer; 0: it has not answered yet
    std::uint32_t misses = 0;  // one after the other
    Time left_out_until{0};
  };
  struct Job {
    std::optional<PeerId> home;
    std::map<PeerId, Partner> partners = {};  // home too
    std::set<Hash256> here = {};
    std::vector<std::uint64_t> news = {};  // names of chunks that were not announced yet
    Time look_at{0};
    Time pace{0};  // mean time of an answer of a host
  };
  struct Wanted {
    Chunk chunk;
    std::uint64_t tie;
    std::set<JobId> jobs = {};
    std::vector<Link> asked = {};   // in flight there
    std::vector<Link> queued = {};  // in the queues of these
    Order order = {};               // in them
    bool insists = false;           // hosts that home has named did not send it
    bool home_lacks = false;
  };
  // Partners with room and a queue: hosts before home, the nearest first.
  using Room = std::tuple<bool, Time, Link>;

  Job* find(const JobId& job);
  Partner* find(const Link& link);
  Partner* add_partner(Time now, const JobId& id, Job& job, const PeerId& peer);
  void remove_left(Time now, const JobId& id, Job& job, const std::vector<PeerId>& members);
  void remove_partner(Time now, const Link& link);
  void look_for_partners(Time now, const JobId& id, Job& job, Actions& out);
  bool usable(Time now, const Partner& partner) const { return now >= partner.left_out_until; }
  bool has_room(const Partner& partner) const;
  void note_room(const Link& link, const Partner& partner);
  void leave_queues(const Hash256& hash, Wanted& wanted);
  // Puts the chunk into the queues of the peers that may be asked for it now.
  void place(Time now, const Hash256& hash, Wanted& wanted);
  void place_queue_again(Time now, Partner& partner);
  void ask(Time now, Actions& out);
  void end_flight(const Flight& flight, std::map<Flight, Sent>::iterator sent);
  void leave_out(Time now, const Link& link, Partner& partner);
  Time overdue_after(const Link& link);
  static JobMessage all_here(const Job& job);
  void announce(const JobId& id, Job& job, Actions& out);
  void on_overdue(Time now, const Flight& flight, Actions& out);
  void learn(Time now, const JobId& id, Job& job, const PeerId& peer, std::uint64_t name);

  const Config config_;
  BlobReferences& blobs_;
  const Members members_;
  const Distance distance_;
  Rng rng_;
  std::map<JobId, Job> jobs_;
  std::map<Hash256, Wanted> wanted_;
  std::map<Flight, Sent> flights_;
  Deadlines<Flight> deadlines_;  // overdue, then given up
  Deadlines<JobId> announcements_;
  std::set<Room> rooms_;
  std::vector<Hash256> unserved_;
};

}  // namespace gw::job
