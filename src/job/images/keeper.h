#pragma once
// Keeps what other peers' threads need to go on after their hosts: images and determinants.

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "job/actions.h"
#include "job/authority/authority.h"
#include "job/authority/budget.h"
#include "job/effects/effect_gate.h"
#include "job/images/blob_references.h"
#include "job/images/image_fetches.h"
#include "job/images/saved_image.h"
#include "job/live_peers.h"
#include "wire/records.pb.h"

namespace gw::job {

// The records of one thread that a keeper has found on disk.
struct KeeperRecords {
  wire::pb::KeptRecord kept;
  std::map<std::uint64_t, wire::pb::DeterminantsRecord> determinants;  // by the index of the first
};

// The keeper of any number of threads of any jobs; docs/design/003-peers.md has the protocol. What it acknowledges is on its disk.
//
// Invariants: per thread, the host that writes has the highest (epoch, keeper_generation) seen, older ones are refused; an epoch is raised
// only by a grant of the leader; determinants have no gap after the image. The first image of a child is written by the host that may write
// for its parent, until a grant of the child's own has been shown; the number of the spawn proves whose child it is. A host that asks for
// the state of a thread changes nothing but the epoch; the first write of an epoch replaces all, unless the host has got its state here. A
// write that is over budget is refused with a sentence, and home chooses another keeper. No step but the question to home is O(threads).
// Limits: Config. A machine without I/O or threads: its peer owns and drives it.
class Keeper {
 public:
  struct Config {
    std::size_t determinants = wire::kMaxDeterminants;  // of one thread, after its image
    Time ask_every = std::chrono::seconds(10);
    // An answer with the image and all determinants is long: a host that asks again sooner than this gets none. Hosts ask every 800 ms.
    Time answer_every = std::chrono::milliseconds(400);
    // A kept image is needed until its home says otherwise, and home may be away for long: a machine that is switched off over the weekend
    // comes back.
    Time orphan_after = std::chrono::days(7);
  };
  struct Environment {  // outlives it
    const PeerLiveness& peers;
    ImageTrees& images;
    Authorities& authorities;
    Budget& budget;
  };
  using Name = ImageFetches::Name;
  // The host that writes or reads, as its grant says.
  struct Bearer {
    PeerId host;
    std::uint64_t epoch;
    std::uint64_t keeper_generation;
  };

  Keeper(const Config& config, const Environment& environment)
      : config_(config),
        environment_(environment),
        fetches_(environment.images, [this](const Name& name, const ImageTrees::Size& size) { return admit_image(name, size); }) {}
  Keeper(const Keeper&) = delete;  // its fetches refer to it

  // Before anything else. `read` reads the image's blobs from the disk. Kind::corrupt if its root or nodes are damaged or gone: then
  // nothing is kept of this thread, and its records are dropped.
  Status recover(Time now, const Name& name, const KeeperRecords& records, const ImageTrees::ReadBlob& read, Actions& out);
  // The thread's records are damaged. Always Kind::corrupt, with the sentence to tell.
  Status drop_records(const Name& name, const KeeperRecords& records, Actions& out) const;

  // The host that writes for the thread now, if one has shown a grant of it. Any other host has to show a grant.
  std::optional<Bearer> bearer(const Name& name) const;

  // The image of the thread, if all that is kept of it is in there. nullopt: there is none, or more.
  std::optional<Hash256> whole_image(const Name& name) const;

  // REQUIRES of the next three: the bearer's grant was checked, and the job's authority is there.
  void on_keep_image(Time now, const JobId& job, const Bearer& bearer, const JobMessage::KeepImage& message, Actions& out);
  void on_keep_determinants(Time now, const JobId& job, const Bearer& bearer, const JobMessage::KeepDeterminants& message, Actions& out);
  void on_want_image(Time now, const JobId& job, const Bearer& bearer, const JobMessage::WantImage& message, Actions& out);
  // REQUIRES: the message is from the leader.
  void on_forget(const JobId& job, const JobMessage::Forget& message, Actions& out);
  void on_image_change(const ImageTrees::Change& change, Actions& out);
  void on_tick(Time now, Actions& out);
  Time next_deadline() const { return threads_.empty() ? kNever : ask_at_; }
  std::size_t size() const { return threads_.size(); }

 private:
  struct Offer {  // of an image that is being fetched
    std::uint64_t determinants;
    PeerId from;
    std::uint64_t progress;      // of this disk, when the host was answered last
    ImageTrees::Size size = {};  // at most, as far as its nodes are known
  };
  struct Spawn {
    ThreadId parent;
    std::uint64_t number;
  };
  struct Thread {
    std::optional<Spawn> spawned;  // no grant of its own has been shown: the next three are its parent's
    PeerId host;
    std::uint64_t epoch = 0;
    std::uint64_t keeper_generation = 0;
    std::optional<Hash256> root;      // of its image
    std::optional<Hash256> previous;  // of the image of an earlier epoch: the next one leaves unchanged pages to it
    bool written = false;             // by the host of this epoch and generation
    std::uint64_t base = 0;           // determinants in the image
    std::deque<Determinant> log;
    std::map<std::uint64_t, std::uint64_t> batches;  // records: first index, count
    ImageTrees::Size size = {};                      // of the image
    StoredForOthers charged;                         // to the budget
    std::optional<Offer> offer;
    std::uint64_t changes = 0;  // of image and log, since the start of this peer
    Time last_seen{0};
    std::optional<Time> answered_at;  // when the present host was sent the image
    std::uint64_t next() const { return base + log.size(); }
  };

  Result<Thread*> find_or_add(const Name& name);
  Budget::Account account_of(const Name& name) const;
  Status charge(const Name& name, Thread& thread, std::uint64_t more_determinants = 0);
  Status admit_image(const Name& name, const ImageTrees::Size& size);
  void refuse(const Name& name, const Bearer& bearer, const std::string& sentence, Actions& out) const;
  JobMessage kept_message(const Name& name, const Thread& thread) const;
  static bool outranks(const Bearer& bearer, const Thread& thread);
  static void take_over(Thread& thread, const Bearer& bearer);
  Thread* admit(Time now, const Name& name, const Bearer& bearer, Actions& out);
  Thread* admit_child(Time now, const Name& parent, const Bearer& bearer, std::uint64_t spawn, Actions& out);
  void on_fetched(std::vector<ImageFetches::Done> done, Actions& out);
  void commit(const Name& name, Thread& thread, const Hash256& root, Actions& out);
  void write(const Name& name, const Thread& thread, Actions& out) const;
  void drop_batches(const Name& name, Thread& thread, Actions& out);
  // all: also the pages that the next image may have in common with this one.
  enum class Clear : std::uint8_t { all, state };
  void clear(const Name& name, Thread& thread, Clear what, Actions& out);
  void end_fetch(const Name& name, Thread& thread, Actions& out);
  void send_image(const Bearer& bearer, const Name& name, const Thread& thread, Actions& out) const;
  void acknowledge(const PeerId& to, const Name& name, const Thread& thread, Actions& out) const;
  void forget(std::map<Name, Thread>::iterator thread, Actions& out);

  const Config config_;
  const Environment environment_;
  std::map<Name, Thread> threads_;
  ImageFetches fetches_;
  Time ask_at_{0};
};

}  // namespace gw::job
