#pragma once
// Replicates the state of one thread to its keepers: its last image, the determinants since, and the first images of its children.
//
// The problem. A thread may send only effects that a replay would repeat, so its host must know what is stable: an image or a determinant
// is stable when every keeper on home's record has it on disk. Keepers die and are replaced while the thread runs.
//
// Invariants.
// 1. Something is called stable only when all replicas on home's record have acknowledged it, and it stays so: a keeper that is added to
//    the record has everything that was stable before home records it.
// 2. Between telling home that another keeper is filled and home's word on it, nothing becomes stable: home may have recorded it or not.
// 3. A replica is sent the image first, then the determinants after it; both are repeated until the replica acknowledges them.
// 4. At most one image is on its way. One that comes meanwhile waits; a newer one takes its place.
// 5. The first image of a child goes to the keepers of its parent, in the name of the parent. A spawn may leave when all keepers on record
//    have that image; a keeper that is added has those of all spawns that home has not stored. So whichever keepers of the parent home
//    has on record when it stores the spawn have the child.
// 6. Home numbers its words about keepers: an older one changes nothing. A keeper that home has taken off the record may be left out, since
//    what is stable is at all others too.

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "job/actions.h"
#include "job/effects/effect_gate.h"
#include "job/images/saved_image.h"

namespace gw::job {

// The replicas of one running thread: the keepers on home's record, and the one that is being filled.
//
// Costs: O(replicas) per call, besides the determinants that a call sends. Limits: two replicas on record and one more; determinants
// between two images as the gate has them. A machine without I/O or threads: its thread owns and drives it.
class ImageReplicator {
 public:
  struct Config {
    Time retry = std::chrono::milliseconds(800);
    Time patience = std::chrono::seconds(15);  // with a keeper that does not answer, or has no more than before
    Time longest = std::chrono::minutes(30);   // for an image that comes
    std::size_t spawned = 64;                  // images of children whose spawns home has not stored; the gate sends fewer
  };
  struct Environment {  // outlives it
    JobId job;
    PeerId home;
    ImageTrees& images;
  };
  struct Name {
    ThreadId thread;
    std::uint64_t epoch;
  };
  struct Keeper {
    PeerId peer;
    std::uint64_t generation = 0;
    wire::pb::SignedGrant grant = {};  // to write there
  };
  // The image and the determinants that have become stable.
  struct Progress {
    std::optional<Hash256> image = std::nullopt;               // its root
    std::optional<std::uint64_t> determinants = std::nullopt;  // their number
    bool anything() const { return image || determinants; }
  };
  // The state from which a thread restarts.
  struct Restored {
    std::optional<SavedImage> image = std::nullopt;
    std::deque<Determinant> determinants = {};  // after it
  };

  ImageReplicator(const Config& config, const Environment& environment, const Name& name, const std::vector<Keeper>& keepers,
                  Restored restored);
  void close(Actions& out);

  // --- the worker

  // An image that needs no replica of its own, but later images share its pages.
  void set_initial(const SavedImage& image, Actions& out);
  // The keepers may have the image already: two images of a thread that has not run in between are the same.
  Progress add_image(Time now, SavedImage image, Actions& out);
  // The first image of the child of this spawn, and the same once more: the next image leaves pages to it. Kind::invalid: there is one, or
  // there are too many.
  Status add_spawned(Time now, std::uint64_t spawn, const std::array<SavedImage, 2>& image, Actions& out);
  // Kind::invalid: it does not follow the one before.
  Status add_determinant(const Determinant& determinant);
  // Home has stored so many spawns: see SavedImage::after_spawn. Their children are home's to place.
  void set_stored(Time now, std::uint64_t spawns, Actions& out);
  // Sends what replicas lack and were not sent, and what is due again.
  void sync(Time now, Actions& out);
  // When sync() has something to send again.
  Time due() const;

  // --- keepers, and home's words about them

  Progress on_kept(Time now, const PeerId& from, const JobMessage::Kept& kept, Actions& out);
  Progress on_keeper_change(Time now, const JobMessage::KeeperChange& change, Actions& out);

  // --- what is known

  bool has_stable() const { return stable_.has_value(); }
  const std::optional<SavedImage>& stable() const { return stable_; }
  // Whether an image that is on its way has this blob. A stable image is at the keepers too.
  bool is_sending(const Hash256& root) const;
  // The room that the images held here take on the disk. Images of one thread share most pages, so the largest stands for all of them;
  // the first image of a child counts with its own pages.
  ImageTrees::Size held() const;
  bool has_initial() const { return initial_.has_value(); }
  // The first image of the child of this spawn, if home has not stored the spawn.
  std::optional<Hash256> spawned(std::uint64_t spawn) const;
  // Whether home may hear of this spawn.
  bool may_spawn(std::uint64_t spawn) const;
  // An image is on its way, or a keeper is being filled: another image would have to wait.
  bool busy() const { return replicating_.has_value() || filling() != nullptr; }
  // Everything that was saved and recorded is stable.
  bool settled() const { return !busy() && stable_determinants_ == recorded(); }
  const std::deque<Determinant>& log() const { return log_; }
  std::uint64_t stable_determinants() const { return stable_determinants_; }
  std::uint64_t recorded() const { return (stable_ ? stable_->determinants : 0) + log_.size(); }
  // A keeper that has not said for long that it has more, or refuses to keep more.
  std::optional<PeerId> stalled(Time now) const;

 private:
  enum class Role : std::uint8_t { on_record, filling, filled };  // filled: and home was told so
  struct Replica {
    Keeper keeper;
    Role role = Role::on_record;
    std::optional<Hash256> image = std::nullopt;    // that the keeper has
    std::optional<Hash256> offered = std::nullopt;  // the last one it was told of
    std::map<std::uint64_t, bool> spawned = {};     // images of children it was told of, by spawn, and whether it has them
    std::uint64_t determinants = 0;                 // number that the keeper has
    std::uint64_t sent = 0;                         // determinants it was sent
    bool answered = false;                          // so it has seen the grant
    bool refuses = false;
    std::uint64_t coming = 0;   // progress that the keeper reported for an image on its way
    Time offered_at{0};         // when it was told of it
    Time waits_since = kNever;  // for an answer that says more than the one before
    Time resend_at{0};
  };

  const Replica* filling() const;
  Replica* filling();
  const SavedImage* image_for(const Replica& replica) const;
  bool lacks(const Replica& replica) const;
  void sync(Time now, Replica& replica, Actions& out);
  void offer(Time now, Replica& replica, const SavedImage& image, bool with_grant, Actions& out) const;
  bool offer_spawned(Replica& replica, bool resend, bool with_grant, Actions& out) const;
  JobMessage keep_image_message(const Replica& replica, const SavedImage& image, bool with_grant) const;
  bool is_here(const SavedImage& image) const;
  static bool has(const Replica& replica, std::uint64_t spawn);
  bool home_decides() const;
  void note_answer(Time now, Replica& replica, bool more) const;
  bool send_determinants(Replica& replica, bool with_grant, Actions& out) const;
  void send_filled(Replica& replica, Time now, Actions& out) const;
  Progress advance(Time now, Actions& out);
  void promote(Actions& out);
  void check_filled(Time now, Actions& out);
  void set_current(const JobMessage::KeeperChange& change);

  const Config config_;
  const Environment environment_;
  const Name name_;
  std::vector<Replica> replicas_;  // those on record first, and at most one that is not
  std::uint64_t order_ = 0;        // of home's last word about them
  std::optional<SavedImage> initial_;
  std::optional<SavedImage> stable_;
  std::optional<SavedImage> replicating_;        // on its way to the keepers
  std::optional<SavedImage> queued_;             // came meanwhile
  std::map<std::uint64_t, SavedImage> spawned_;  // by spawn, until home has stored it
  std::optional<SavedImage> last_spawned_;       // if it is the last image that was saved
  std::deque<Determinant> log_;                  // since the stable image
  std::uint64_t stable_determinants_ = 0;
  std::uint64_t stored_spawns_ = 0;
};

}  // namespace gw::job
