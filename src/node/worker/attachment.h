#pragma once
// What goes to a worker beside a frame, put together from blobs.

#include "job/actions.h"
#include "node/disk/blob_store.h"
#include "os/sealed_memory.h"

namespace gw::node {

// Blocks on the disk. Every blob is checked against its hash, and pieces against the hash of the whole: what comes out is what the manifest
// or the keeper named. Kind::corrupt, Kind::not_found.
Result<os::SealedMemory> assemble(const job::Attachment& what, BlobStore& blobs);

}  // namespace gw::node
