#pragma once
// An image as a worker hands it over, checked: the new parts of its tree, and the numbers that the job needs of it.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "base/shared_bytes.h"
#include "job/actions.h"
#include "job/names.h"
#include "job/thread_id.h"
#include "wire/image/image.h"

namespace gw::job {

// Invariant: every hash in `fresh` is that of its bytes; the pages of fresh nodes and the nodes of the root are in `fresh`, or the worker
// claims that an earlier image has them (ImageTrees::add checks that).
struct NewImage {
  Hash256 root;                                         // names the image
  std::vector<Hash256> pieces;                          // of long states; all fresh
  std::vector<Hash256> nodes;                           // all of them, each once
  std::map<Hash256, std::vector<Hash256>> fresh_nodes;  // with the pages of each, each once
  std::map<Hash256, SharedBytes> fresh;                 // root, pieces, nodes and pages
  SharedBytes encoded;                                  // the bytes from the worker
  ThreadId thread;
  std::uint64_t epoch = 0;
  std::uint64_t determinants = 0;
  std::uint64_t input_pieces = 0;  // of standard input, that it contains
  std::uint64_t mail = 0;          // items of its mailbox, likewise
  std::uint64_t last_spawn = 0;    // number of the last spawn in its outbox, in the log
};

// Decodes an image and hashes everything in it. Takes time in proportion to its size: not for the node thread. Kind::corrupt if it cannot
// be read, does not match its hashes, or has no gate state. Makes no copy: `owner` keeps the bytes.
Result<NewImage> check_new_image(ByteView encoded, const std::shared_ptr<const void>& owner);

// The children of a root or a node, each once. Kind::corrupt if these bytes are not a root or a node.
struct RootChildren {
  std::vector<Hash256> pieces;
  std::vector<Hash256> nodes;
};
Result<RootChildren> children_of_root(ByteView root);
Result<std::vector<Hash256>> children_of_node(ByteView node);

// The image of a root with its states and nodes, read one by one, without its pages. Kind::corrupt if a part does not match its hash;
// otherwise the error of `read`.
using ReadPart = std::function<Result<std::string>(const Hash256&)>;
Result<wire::Image> join_nodes(const Hash256& root, const ReadPart& read);

// Whether the image, which came from a keeper, goes on where its thread has to. Kind::corrupt with a sentence if not.
Status check_gate(const wire::Image& image, const Attachment::Gate& expected);

}  // namespace gw::job
