#pragma once
// Builds the sealed memory that goes to a worker beside a frame from blobs.

#include <functional>
#include <vector>

#include "job/actions.h"
#include "node/disk/blob_reader.h"
#include "os/sealed_memory.h"
#include "wire/image/image.h"

namespace gw::node {

// Blocks on the disk. Every blob is checked against its hash, and pieces against the hash of the whole: what comes out is what the manifest
// or the keeper named. Kind::not_found: a blob is not here, or damaged here. Kind::corrupt: together they are not what they should be.
// Kind::overloaded: the whole is larger than `max_bytes`; a stranger chooses its size, so it is refused before it is in memory.
//
// An image comes out as several memories: first root, states and nodes, then packs with at most kPackBytes of pages each, which the worker
// lets go one by one, so that never two copies of a large memory exist. All else is one, which the pieces are copied into one by one.
//
// `go_on` is called at the beginning and after every kPackBytes that were read. False: the result is not needed any more, and the answer
// is Kind::disconnected.
inline constexpr std::size_t kPackBytes = 64u << 20;
using GoOn = std::function<bool()>;
Result<std::vector<os::SealedMemory>> assemble(const job::Attachment& what, std::uint64_t max_bytes, BlobReader& blobs, const GoOn& go_on);

// Root, states and nodes of an image; its pages are elsewhere. Kind::corrupt, Kind::not_found.
Result<wire::Image> image_without_pages(const Hash256& root, BlobReader& blobs);

}  // namespace gw::node
