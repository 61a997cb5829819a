#pragma once
// The images this peer holds, as trees: root, nodes, pages. Fetches the lacking parts of an image, but no part that another image has.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "job/actions.h"
#include "job/images/blob_references.h"
#include "job/images/new_image.h"

namespace gw::job {

// Counts how often each subtree is needed in each job. A blob is needed once by each subtree above it, not by each image, so an image of
// which one page in a hundred is new costs a hundredth to hold, to fetch and to release. Keeper and hosts of a peer share this object.
//
// Invariants: 1. a subtree is complete if and only if its own blob and everything below it are on the disk; a complete one is not visited
// again. 2. A subtree that is needed holds all its blobs. 3. take_changes() returns each change once. Limits: Config, and those of
// BlobReferences. A value without threads.
class ImageTrees {
 public:
  struct Config {
    // Twice what the budget allows for others (Budget::Limits), so that the jobs of this peer have room whatever is stored for others.
    std::size_t subtrees = 1u << 18;
  };
  ImageTrees(const Config& config, BlobReferences& blobs) : config_(config), blobs_(blobs) {}

  // An image, in the job of its thread.
  struct Name {
    JobId job;
    Hash256 root;
    auto operator<=>(const Name&) const = default;
  };

  // add(), want() and adopt() each count one more need of the image. add(): the image was saved here. Kind::corrupt if it refers to parts
  // of images that are not here.
  Status add(const JobId& job, const NewImage& image, Actions& out);
  // Asks `from` for the parts that are not here. If the image is complete already, that is a change too.
  Status want(Time now, const Name& name, const PeerId& from, Actions& out);
  // An earlier boot has stored the image. Kind::corrupt if its root or nodes cannot be read.
  using ReadBlob = std::function<std::optional<std::string>(const Hash256&)>;
  Status adopt(const Name& name, const ReadBlob& read);
  // Removes one need.
  void release(const Name& name, Actions& out);

  bool complete(const Name& name) const;
  bool holds(const Name& name) const { return subtrees_.contains(Key{Level::root, name.job, name.root}); }
  struct Size {
    std::uint64_t blobs = 0;
    std::uint64_t bytes = 0;
    std::uint64_t nodes = 0;  // its root included

    Size& operator+=(const Size& more) {
      blobs += more.blobs;
      bytes += more.bytes;
      nodes += more.nodes;
      return *this;
    }
  };
  // The size of an image, as far as its nodes are known; pages of incomplete nodes count as full pages. Cost: O(nodes of the image).
  Size size(const Name& name) const;
  // The same, where every blob counts as the largest of its kind. Cost: O(1), so that it can be asked for each node that comes.
  Size size_at_most(const Name& name) const;
  bool disk_full() const { return blobs_.disk_full(); }

  // Answers of the disk: a blob was stored; a blob was loaded.
  void on_stored(const Hash256& hash, Actions& out);
  void on_loaded(Time now, const Hash256& hash, const std::optional<std::string>& bytes, Actions& out);
  // A stored blob is damaged, and is asked for again.
  void on_damaged(const Hash256& hash);
  // No peer that was asked for the blob has it.
  void on_lost(const Hash256& hash);

  // A change of an image's state since the last call.
  struct Change {
    enum class What : std::uint8_t { grown, complete, lost };  // grown: more of its nodes are known
    Name name;
    What what;
    std::string sentence = {};  // lost: which part
  };
  std::vector<Change> take_changes() { return std::exchange(changes_, {}); }
  bool has_changes() const { return !changes_.empty(); }
  // How many blobs of images have been stored so far.
  std::uint64_t progress() const { return progress_; }
  std::size_t size() const { return subtrees_.size(); }

 private:
  enum class Level : std::uint8_t { root, node };
  struct Key {
    Level level;
    JobId job;
    Hash256 hash;
    auto operator<=>(const Key&) const = default;
  };
  struct Subtree {
    std::uint32_t needs = 1;
    bool listed = false;  // the hashes below it are known
    std::uint32_t lacking =
        1;  // blobs and nodes right below that are not here or not complete, plus 1 until its own blob is stored and listed
    std::vector<Hash256> leaves;  // blobs right below it: pages, or pieces of states
    std::vector<Hash256> nodes;   // of a root
    std::uint64_t bytes = 0;      // of it and its leaves; 0 until it is complete
    Size at_most = {};            // of a root that is listed, as far as its nodes are
    std::optional<PeerId> source = {};
  };

  Subtree* find(const Key& key);
  Subtree* hold(const Key& key);
  void hold_leaf(const Key& key, Subtree& subtree, const Hash256& leaf);
  void hold_node(const Key& key, Subtree& subtree, const Hash256& node);
  void set_listed(const Key& key, Subtree& subtree);
  void count_listed(const Key& key, Subtree& subtree);
  Status check_references(const JobId& job, const NewImage& image) const;
  void give(const JobId& job, const NewImage& image, const Hash256& hash, Actions& out);
  void supply_node(const JobId& job, const NewImage& image, const Hash256& node, Actions& out);
  void adopt_node(const JobId& job, const Hash256& node, const std::vector<Hash256>& pages);
  void load(const Key& key, Actions& out);
  Status want_subtree(Time now, const Key& key, const PeerId& source, Actions& out);
  Status list(Time now, const Key& key, Subtree& subtree, const std::string& bytes, Actions& out);
  void lack_less(const Key& key);
  void lack_more(const Key& key);
  void release(const Key& key, Actions& out);
  void tell_roots(const Key& key, Change::What what, const std::string& sentence = {});
  std::vector<Key> parents_of(const Hash256& blob) const;
  std::uint64_t bytes_of(const Key& key, const Subtree& subtree) const;
  static Name name_of(const Key& key) { return {key.job, key.hash}; }

  const Config config_;
  BlobReferences& blobs_;
  std::map<Key, Subtree> subtrees_;
  std::map<Hash256, std::set<Key>> waiting_;    // subtrees that wait for a blob to be stored
  std::map<Key, std::set<Key>> roots_waiting_;  // roots that wait for a node to be complete
  std::map<Hash256, std::set<Key>> loading_;    // subtrees whose own blob is being read from the disk
  std::vector<Change> changes_;
  std::uint64_t progress_ = 0;
};

}  // namespace gw::job
