#pragma once
// A reference of a host to an image of its thread.

#include <cstdint>
#include <optional>

#include "job/authority/budget.h"
#include "job/images/image_trees.h"

namespace gw::job {

// The charge for one thread with an image of this size.
inline StoredForOthers stored_for(const ImageTrees::Size& size, std::uint64_t determinants = 0) {
  return {.threads = 1, .blobs = size.blobs, .bytes = size.bytes, .nodes = size.nodes, .determinants = determinants};
}

// The owner of a SavedImage holds the image's tree and must call release().
struct SavedImage {
  Hash256 root;
  std::uint64_t determinants = 0;
  std::uint64_t input_pieces = 0;
  std::uint64_t mail = 0;
  // The image may be stored at the keeper only when home has stored the spawns up to here. Otherwise a spawn in the image's outbox could be
  // sent again by a host that has no image of the child.
  std::uint64_t after_spawn = 0;
  ImageTrees::Size size = {};   // of the whole image
  ImageTrees::Size fresh = {};  // of its parts that no image here had before
};

// Kind::corrupt: the image refers to parts of images that are not here.
inline Result<SavedImage> hold(ImageTrees& trees, const JobId& job, const NewImage& image, Actions& out) {
  GW_TRY_VOID(trees.add(job, image, out));
  ImageTrees::Size fresh{.blobs = image.fresh.size(), .nodes = 1 + image.fresh_nodes.size()};
  for (const auto& [hash, bytes] : image.fresh) fresh.bytes += bytes.size();
  return SavedImage{.root = image.root,
                    .determinants = image.determinants,
                    .input_pieces = image.input_pieces,
                    .mail = image.mail,
                    .after_spawn = image.last_spawn,
                    .size = trees.size({job, image.root}),
                    .fresh = fresh};
}

inline void release(ImageTrees& trees, const JobId& job, std::optional<SavedImage>& image, Actions& out) {
  if (image) trees.release({job, image->root}, out);
  image.reset();
}

}  // namespace gw::job
