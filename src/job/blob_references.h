#pragma once
// Which blobs this peer has and needs: fetches what is lacking, serves what others lack.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "job/actions.h"
#include "job/image_manifest.h"

namespace gw::job {

// Counts who needs which blob; one that nobody needs is dropped. A blob that is needed and not there is asked from the peers that are said
// to have it, again and again in turn, and checked against its hash when it comes.
//
// Invariant: has(hash) only after the disk said so. Limits: Config. A value without threads.
class BlobReferences {
 public:
  struct Config {
    std::size_t blobs = 1u << 20;
    std::size_t in_flight = 32;  // asked for at once
    std::size_t waiters = 64;    // peers waiting for a blob from our disk
    std::size_t sources = 4;     // peers that are said to have a blob
    Time retry = std::chrono::milliseconds(800);
  };
  explicit BlobReferences(Config config) : config_(config) {}

  bool has(const Hash256& hash) const;
  std::size_t size() const { return blobs_.size(); }

  // One more needs it: it is on disk since a life before; it comes with `bytes`; or `from`, in the name of the job, is to be asked.
  void adopt(const Hash256& hash);
  void put(Blob blob, Actions& out);
  Status want(Time now, const Hash256& hash, const JobId& job, const PeerId& from, Actions& out);
  // One fewer. What this turn records takes effect first.
  void release(const Hash256& hash, Actions& out);
  std::vector<Hash256> all() const;

  // For local use, answered by on_disk.
  void load(const Hash256& hash, Actions& out) { out.add(LoadBlob{hash}); }

  void on_want(const PeerId& from, const JobId& job, const Hash256& hash, Actions& out);
  // Kind::corrupt if the bytes are not what their name says.
  Status on_blob(const PeerId& from, const JobMessage::Blob& message, Actions& out);
  void on_stored(const Hash256& hash);
  // Sends it to who waits.
  void on_loaded(const Hash256& hash, const std::optional<std::string>& bytes, Actions& out);
  void on_tick(Time now, Actions& out);
  Time next_deadline() const;

 private:
  enum class State : std::uint8_t { asked, storing, stored };
  // A peer, and the job in which both take part.
  struct Partner {
    PeerId peer;
    JobId job;
    auto operator<=>(const Partner&) const = default;
  };
  struct Entry {
    State state;
    std::uint32_t needs = 1;
    std::vector<Partner> sources = {};  // in the order in which they are asked
    bool was_asked = false;             // the first of them
    Time ask_again{0};
  };

  void add_source(Entry& entry, const Partner& from) const;
  void store(const Hash256& hash, std::string bytes, Actions& out);

  Config config_;
  std::map<Hash256, Entry> blobs_;
  std::set<Hash256> asked_;                   // those in State::asked
  std::map<Hash256, std::uint32_t> writing_;  // stores the disk has not answered: a blob may be dropped and come again meanwhile
  std::map<Hash256, std::set<Partner>> waiters_;
};

}  // namespace gw::job
