#pragma once
// Images that are on their way here from other peers.

#include <functional>
#include <map>
#include <set>
#include <vector>

#include "job/images/image_trees.h"

namespace gw::job {

// The fetches of a peer, at most one per thread. ImageTrees does the fetching.
//
// Invariant: a fetch holds its image. The caller gets the hold when the fetch is done; the fetch releases it when it is cancelled or fails.
// Limits: those of the trees, and the caller's number of threads. A machine without I/O or threads.
class ImageFetches {
 public:
  using Name = std::pair<JobId, ThreadId>;
  struct Done {
    Name name;
    Result<Hash256> root;  // the caller releases it. Kind::not_found: what of it is lost, for people. Kind::overloaded: no room for it
  };

  // Whether there is room for an image of this size, as far as its nodes are known: at most one more node is fetched before this is called
  // again. An error ends the fetch.
  using Admit = std::function<Status(const Name&, const ImageTrees::Size& size)>;

  // The trees outlive this object.
  explicit ImageFetches(ImageTrees& trees) : trees_(trees) {}
  ImageFetches(ImageTrees& trees, Admit admit) : trees_(trees), admit_(std::move(admit)) {}

  // Replaces the thread's present fetch, if there is one. Kind::overloaded: there is no room.
  Status begin(Time now, const Name& name, const Hash256& root, const PeerId& from, Actions& out);
  void cancel(const Name& name, Actions& out);
  // The root that is being fetched; nullptr: none.
  const Hash256* find(const Name& name) const;

  // Returns the fetches that `change` ends.
  std::vector<Done> on_change(const ImageTrees::Change& change, Actions& out);
  std::size_t size() const { return fetches_.size(); }

 private:
  ImageTrees& trees_;
  const Admit admit_;  // none: there is room for all
  std::map<Name, Hash256> fetches_;
  std::map<ImageTrees::Name, std::set<Name>> waiting_;
};

}  // namespace gw::job
