#pragma once
// The store of the peer of a command: in memory, or in one file.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <variant>

#include "job/actions.h"
#include "node/disk/blob_reader.h"
#include "peer/peer.h"

namespace gw::node {

// The number of bytes of the standard input that have been read for the program.
struct InputTaken {
  std::uint64_t bytes;
};
// A thread's output from this effect on is stored, and was not shown.
struct Unshown {
  std::uint64_t sequence;         // in its stream to home
  std::uint64_t shown_bytes = 0;  // of this effect
};
// The part of a stored effect that was not shown; none: all of it was shown, or there is nothing to show.
std::optional<job::Effect> rest_to_show(const job::Effect& effect, const std::map<job::ThreadId, Unshown>& unshown);
using DiskAction = std::variant<job::Persist, job::DropRecords, job::StoreBlob, job::DropBlob, job::RetainBlobs, InputTaken>;

// The disk of a peer that lives in a command. Blocks; belongs to one thread.
class JobStore : public BlobReader {
 public:
  // Applies all actions together, in their order. They are on the medium, if there is one, when it returns.
  virtual Status commit(std::span<const DiskAction> actions) = 0;
  // The records and blobs that earlier runs have left; refers to the store, which outlives it.
  virtual Result<peer::Stored> stored() = 0;
  // The size of the file, if there is one.
  virtual std::uint64_t file_bytes() const = 0;
};

}  // namespace gw::node
