#include "job/images/image_trees.h"

#include <algorithm>

#include "base/check.h"
#include "base/reached.h"

namespace gw::job {

ImageTrees::Subtree* ImageTrees::find(const Key& key) {
  const auto found = subtrees_.find(key);
  return found == subtrees_.end() ? nullptr : &found->second;
}

bool ImageTrees::complete(const Name& name) const {
  const auto found = subtrees_.find({Level::root, name.job, name.root});
  return found != subtrees_.end() && found->second.lacking == 0;
}

// The sizes of blobs that an earlier boot stored are not known.
std::uint64_t ImageTrees::bytes_of(const Key& key, const Subtree& subtree) const {
  const auto known = [&](const Hash256& hash, std::uint64_t at_most) {
    const std::uint64_t bytes = blobs_.bytes_of(hash);
    return bytes == 0 ? at_most : bytes;
  };
  std::uint64_t bytes = known(key.hash, key.level == Level::root ? wire::kMaxRootBytes : wire::kMaxNodeBytes);
  for (const Hash256& leaf : subtree.leaves) bytes += known(leaf, wire::kPageBytes);
  return bytes;
}

ImageTrees::Size ImageTrees::size(const Name& name) const {
  Size size;
  const auto add = [&](const Subtree& subtree, std::uint64_t at_most) {
    size.blobs += 1 + subtree.leaves.size();
    size.bytes += subtree.bytes > 0 ? subtree.bytes : at_most + subtree.leaves.size() * wire::kPageBytes;
  };
  const Subtree& root = subtrees_.at({Level::root, name.job, name.root});
  add(root, wire::kMaxRootBytes);
  for (const Hash256& node : root.nodes) add(subtrees_.at({Level::node, name.job, node}), wire::kMaxNodeBytes);
  size.nodes = 1 + root.nodes.size();
  return size;
}

ImageTrees::Size ImageTrees::size_at_most(const Name& name) const {
  const Subtree& root = subtrees_.at({Level::root, name.job, name.root});
  return root.listed ? root.at_most : Size{.blobs = 1, .bytes = wire::kMaxRootBytes, .nodes = 1};
}

// Adds what is below a subtree that has become known to the size of its root, or of all roots that wait for it.
void ImageTrees::count_listed(const Key& key, Subtree& subtree) {
  const auto add_leaves = [](Size& size, const Subtree& below) {
    size.blobs += below.leaves.size();
    size.bytes += below.leaves.size() * wire::kPageBytes;
  };
  if (key.level == Level::node) {
    const auto waiting = roots_waiting_.find(key);
    if (waiting == roots_waiting_.end()) return;
    for (const Key& above : waiting->second)
      if (Subtree& root = subtrees_.at(above); root.listed) add_leaves(root.at_most, subtree);
    return;
  }
  const std::uint64_t nodes = subtree.nodes.size();
  subtree.at_most = {.blobs = 1 + nodes, .bytes = wire::kMaxRootBytes + nodes * wire::kMaxNodeBytes, .nodes = 1 + nodes};
  add_leaves(subtree.at_most, subtree);
  for (const Hash256& node : subtree.nodes)
    if (const Subtree& below = subtrees_.at({Level::node, key.job, node}); below.listed) add_leaves(subtree.at_most, below);
}

// --- counting lacking parts

// REQUIRES: the caller holds the blob.
void ImageTrees::hold_leaf(const Key& key, Subtree& subtree, const Hash256& leaf) {
  subtree.leaves.push_back(leaf);
  if (blobs_.has(leaf)) return;
  ++subtree.lacking;
  waiting_[leaf].insert(key);
}

// REQUIRES: the caller holds the node.
void ImageTrees::hold_node(const Key& key, Subtree& subtree, const Hash256& node) {
  subtree.nodes.push_back(node);
  const Key below{Level::node, key.job, node};
  if (find(below)->lacking == 0) return;
  ++subtree.lacking;
  roots_waiting_[below].insert(key);
}

void ImageTrees::lack_less(const Key& key) {
  Subtree& subtree = subtrees_.at(key);
  GW_ASSERT(subtree.lacking > 0);
  if (--subtree.lacking > 0) return;
  if (subtree.bytes == 0) subtree.bytes = bytes_of(key, subtree);
  if (key.level == Level::root) return changes_.push_back({name_of(key), Change::What::complete});
  const auto waiting = roots_waiting_.extract(key);
  if (waiting.empty()) return;
  for (const Key& root : waiting.mapped()) lack_less(root);
}

void ImageTrees::lack_more(const Key& key) {
  Subtree& subtree = subtrees_.at(key);
  if (++subtree.lacking > 1 || key.level == Level::root) return;
  for (auto& [above, root] : subtrees_) {
    if (above.level != Level::root || above.job != key.job || std::ranges::find(root.nodes, key.hash) == root.nodes.end()) continue;
    if (roots_waiting_[key].insert(above).second) lack_more(above);
  }
}

// The caller has held everything below the subtree. The subtree's own blob may still be on its way to the disk.
void ImageTrees::set_listed(const Key& key, Subtree& subtree) {
  subtree.listed = true;
  count_listed(key, subtree);
  if (blobs_.has(key.hash)) return lack_less(key);
  waiting_[key.hash].insert(key);
}

// Counts one more need. nullptr: the subtree was held already. Otherwise it is new, and the caller has to hold its blobs and what is below.
ImageTrees::Subtree* ImageTrees::hold(const Key& key) {
  const auto [found, fresh] = subtrees_.try_emplace(key);
  if (fresh) return &found->second;
  ++found->second.needs;
  return nullptr;
}

// --- images saved here

Status ImageTrees::check_references(const JobId& job, const NewImage& image) const {
  for (const Hash256& node : image.nodes)
    if (!image.fresh_nodes.contains(node) && !subtrees_.contains({Level::node, job, node}))
      return fail(Kind::corrupt, "an image of thread {} lacks a node", image.thread.value());
  for (const auto& [node, pages] : image.fresh_nodes)
    for (const Hash256& page : pages)
      // A page that was damaged on this disk is on its way again: the image is complete when the page is back.
      if (!image.fresh.contains(page) && !blobs_.is_needed(page, job))
        return fail(Kind::corrupt, "an image of thread {} lacks a page", image.thread.value());
  const bool held = subtrees_.contains({Level::root, job, image.root});
  if (!held && subtrees_.size() + image.fresh_nodes.size() >= config_.subtrees)
    return fail(Kind::overloaded, "this peer holds {} parts of images, which is its limit", subtrees_.size());
  return ok();
}

// Stores a blob of the new image that is being fetched from another peer, so that the fetch ends.
void ImageTrees::give(const JobId& job, const NewImage& image, const Hash256& hash, Actions& out) {
  const auto fresh = image.fresh.find(hash);
  if (fresh == image.fresh.end() || !blobs_.is_asked(hash)) return;
  blobs_.put(hash, fresh->second, job, out);
  blobs_.release(hash, job, out);  // the subtrees that wait for it have needs of their own
}

// REQUIRES: the node is held.
void ImageTrees::supply_node(const JobId& job, const NewImage& image, const Hash256& node, Actions& out) {
  const Key key{Level::node, job, node};
  Subtree& subtree = subtrees_.at(key);
  const auto pages = image.fresh_nodes.find(node);
  if (subtree.lacking == 0 || pages == image.fresh_nodes.end()) return;
  give(job, image, node, out);
  for (const Hash256& page : pages->second) {
    if (subtree.listed) {
      give(job, image, page, out);
      continue;
    }
    if (const auto fresh = image.fresh.find(page); fresh != image.fresh.end()) {
      blobs_.put(page, fresh->second, job, out);
    } else {
      blobs_.adopt(page, job);
    }
    hold_leaf(key, subtree, page);
  }
  if (!subtree.listed) set_listed(key, subtree);
}

Status ImageTrees::add(const JobId& job, const NewImage& image, Actions& out) {
  GW_TRY_VOID(check_references(job, image));
  const auto hold_saved = [&](const Key& key) {
    if (hold(key) != nullptr) blobs_.put(key.hash, image.fresh.at(key.hash), job, out);
  };
  const Key key{Level::root, job, image.root};
  hold_saved(key);
  Subtree& subtree = subtrees_.at(key);
  if (subtree.lacking == 0) return ok();
  give(job, image, image.root, out);
  for (const Hash256& piece : image.pieces) {
    if (subtree.listed) {
      give(job, image, piece, out);
    } else {
      blobs_.put(piece, image.fresh.at(piece), job, out);
      hold_leaf(key, subtree, piece);
    }
  }
  for (const Hash256& node : image.nodes) {
    if (!subtree.listed) hold_saved({Level::node, job, node});
    supply_node(job, image, node, out);
    if (!subtree.listed) hold_node(key, subtree, node);
  }
  if (!subtree.listed) set_listed(key, subtree);
  return ok();
}

// --- images from elsewhere

Status ImageTrees::want(Time now, const Name& name, const PeerId& from, Actions& out) {
  GW_TRY_VOID(want_subtree(now, {Level::root, name.job, name.root}, from, out));
  if (complete(name)) changes_.push_back({name, Change::What::complete});
  return ok();
}

Status ImageTrees::want_subtree(Time now, const Key& key, const PeerId& source, Actions& out) {
  if (subtrees_.size() >= config_.subtrees && !subtrees_.contains(key))
    return fail(Kind::overloaded, "this peer holds {} parts of images, which is its limit", subtrees_.size());
  GW_TRY_VOID(blobs_.want(now, key.hash, key.job, source, out));
  Subtree* subtree = hold(key);
  if (subtree == nullptr) {
    blobs_.release(key.hash, key.job, out);  // the need was counted before; this call only adds a source
    return ok();
  }
  subtree->source = source;
  if (blobs_.has(key.hash)) {
    load(key, out);
  } else {
    waiting_[key.hash].insert(key);
  }
  return ok();
}

void ImageTrees::load(const Key& key, Actions& out) {
  std::set<Key>& loading = loading_[key.hash];
  if (loading.empty()) blobs_.load(key.hash, out);
  loading.insert(key);
}

void ImageTrees::on_stored(const Hash256& hash, Actions& out) {
  if (!blobs_.has(hash)) return;  // dropped and asked for again meanwhile
  const auto waiting = waiting_.extract(hash);
  if (waiting.empty()) return;
  ++progress_;
  for (const Key& key : waiting.mapped()) {
    Subtree* subtree = find(key);
    if (subtree == nullptr) continue;
    if (key.hash == hash && !subtree->listed) {
      load(key, out);
    } else if (key.hash != hash && blobs_.bytes_of(hash) > wire::kPageBytes) {
      tell_roots(key, Change::What::lost, "a page of its image is larger than a page");
    } else {
      lack_less(key);
    }
  }
}

void ImageTrees::on_loaded(Time now, const Hash256& hash, const std::optional<std::string>& bytes, Actions& out) {
  const auto loading = loading_.extract(hash);
  if (loading.empty()) return;
  for (const Key& key : loading.mapped()) {
    const auto found = subtrees_.find(key);
    if (found == subtrees_.end() || found->second.listed) continue;
    Subtree& subtree = found->second;
    if (!bytes) {  // damaged: it is asked for again, or lost
      waiting_[hash].insert(key);
    } else if (Status listed = list(now, key, subtree, *bytes, out); !listed) {
      tell_roots(key, Change::What::lost, listed.error().detail);
    } else {
      tell_roots(key, Change::What::grown);
    }
  }
}

// Children are asked for from the source of their subtree.
Status ImageTrees::list(Time now, const Key& key, Subtree& subtree, const std::string& bytes, Actions& out) {
  GW_ASSERT(subtree.source.has_value());
  RootChildren below;
  if (key.level == Level::root) {
    GW_TRY(below, children_of_root(as_bytes(bytes)));
  } else {
    GW_TRY(below.pieces, children_of_node(as_bytes(bytes)));
  }
  for (const Hash256& leaf : below.pieces) {
    GW_TRY_VOID(blobs_.want(now, leaf, key.job, *subtree.source, out));
    hold_leaf(key, subtree, leaf);
  }
  for (const Hash256& node : below.nodes) {
    GW_TRY_VOID(want_subtree(now, {Level::node, key.job, node}, *subtree.source, out));
    hold_node(key, subtree, node);
  }
  set_listed(key, subtree);
  return ok();
}

// --- images stored by an earlier boot

void ImageTrees::adopt_node(const JobId& job, const Hash256& node, const std::vector<Hash256>& pages) {
  const Key key{Level::node, job, node};
  Subtree* subtree = hold(key);
  if (subtree == nullptr) return;
  blobs_.adopt(node, job);
  for (const Hash256& page : pages) {
    blobs_.adopt(page, job);
    hold_leaf(key, *subtree, page);
  }
  set_listed(key, *subtree);
}

Status ImageTrees::adopt(const Name& name, const ReadBlob& read) {
  const auto read_blob = [&](const Hash256& hash) -> Result<std::string> {
    auto bytes = read(hash);
    if (!bytes) return fail(Kind::corrupt, "a part of the image is not on the disk");
    return *std::move(bytes);
  };
  GW_TRY(const std::string bytes, read_blob(name.root));
  GW_TRY(const RootChildren below, children_of_root(as_bytes(bytes)));
  std::map<Hash256, std::vector<Hash256>> pages;
  for (const Hash256& node : below.nodes) {
    if (subtrees_.contains({Level::node, name.job, node})) continue;
    GW_TRY(const std::string node_bytes, read_blob(node));
    GW_TRY(pages[node], children_of_node(as_bytes(node_bytes)));
  }
  const Key key{Level::root, name.job, name.root};
  Subtree* subtree = hold(key);
  if (subtree == nullptr) return ok();
  blobs_.adopt(name.root, name.job);
  for (const Hash256& piece : below.pieces) {
    blobs_.adopt(piece, name.job);
    hold_leaf(key, *subtree, piece);
  }
  for (const Hash256& node : below.nodes) {
    adopt_node(name.job, node, pages[node]);
    hold_node(key, *subtree, node);
  }
  set_listed(key, *subtree);
  changes_.clear();  // no machine waits for changes of an adopted image
  return ok();
}

// --- releasing

void ImageTrees::release(const Name& name, Actions& out) { release(Key{Level::root, name.job, name.root}, out); }

void ImageTrees::release(const Key& key, Actions& out) {
  const auto found = subtrees_.find(key);
  GW_ASSERT(found != subtrees_.end());
  if (--found->second.needs > 0) return;
  const Subtree subtree = std::move(found->second);
  subtrees_.erase(found);
  const auto forget = [&](auto& waiting, const auto& what) {
    const auto waits = waiting.find(what);
    if (waits == waiting.end()) return;
    waits->second.erase(key);
    if (waits->second.empty()) waiting.erase(waits);
  };
  for (const Hash256& leaf : subtree.leaves) {
    if (subtree.lacking > 0) forget(waiting_, leaf);
    blobs_.release(leaf, key.job, out);
  }
  for (const Hash256& node : subtree.nodes) {
    const Key below{Level::node, key.job, node};
    if (subtree.lacking > 0) forget(roots_waiting_, below);
    release(below, out);
  }
  forget(waiting_, key.hash);
  forget(loading_, key.hash);
  blobs_.release(key.hash, key.job, out);
}

// --- damage: rare, so a scan of all subtrees is acceptable

std::vector<ImageTrees::Key> ImageTrees::parents_of(const Hash256& blob) const {
  std::vector<Key> parents;
  for (const auto& [key, subtree] : subtrees_)
    if (key.hash == blob || std::ranges::find(subtree.leaves, blob) != subtree.leaves.end()) parents.push_back(key);
  return parents;
}

void ImageTrees::on_damaged(const Hash256& hash) {
  for (const Key& key : parents_of(hash)) {
    if (!subtrees_.at(key).listed || !waiting_[hash].insert(key).second) continue;
    GW_REACHED("trees: a part of an image was damaged");
    lack_more(key);
  }
}

// The subtrees concerned wait for the blob to be stored, or for the disk to read it.
void ImageTrees::on_lost(const Hash256& hash) {
  std::set<Key> above;
  for (const auto* waits : {&waiting_, &loading_})
    if (const auto found = waits->find(hash); found != waits->end()) above.insert(found->second.begin(), found->second.end());
  for (const Key& key : above) {
    GW_REACHED("trees: a part of an image was lost");
    tell_roots(key, Change::What::lost, fmt::format("blob {} of its image is lost: no peer that takes part in the job has it", hash.hex()));
  }
}

// Reports a change to all roots that wait for this incomplete node, or to the root itself.
void ImageTrees::tell_roots(const Key& key, Change::What what, const std::string& sentence) {
  if (key.level == Level::root) return changes_.push_back({name_of(key), what, sentence});
  const auto waiting = roots_waiting_.find(key);
  if (waiting == roots_waiting_.end()) return;
  for (const Key& root : waiting->second) changes_.push_back({name_of(root), what, sentence});
}

}  // namespace gw::job
