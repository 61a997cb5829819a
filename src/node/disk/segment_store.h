#pragma once
// What jobs of this home have written: segments, one folder for each job.

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <vector>

#include "node/disk/segment_file.h"

namespace gw::node {

// Appends entries to the segments of jobs. An entry counts when somebody has recorded that the job's output goes on to behind it
// (Disk does, in the records): what lies behind the recorded end was being written when the process or the power went, and is cut off when
// the job is written to again. So entries and records become true together.
//
// append() only hands bytes to the system; they are on the medium when flush() has returned. After a failure of either call abandon(): what
// was appended and not recorded is gone. Limit: kMaxOpen files between two flushes more than jobs appended to. Blocks on the disk; belongs
// to one thread at a time.
class SegmentStore {
 public:
  using Position = segment::Position;
  static constexpr std::size_t kMaxOpen = 64;

  // Makes the folder if it is not there.
  static Result<SegmentStore> open(const std::filesystem::path& folder);

  // Returns where the job's output ends then. `recorded`: where it ends according to the records; looked at when the job is written to for
  // the first time, or after abandon(). Kind::overloaded: no room. Kind::corrupt: the segment is shorter than recorded.
  Result<Position> append(const job::JobId& job, Position recorded, const job::EffectEntry& entry);
  Status flush();
  void abandon();

  // All headers up to `end`, in the order in which they were appended. Kind::corrupt, Kind::not_found.
  Result<std::vector<job::StoredEffect>> headers(const job::JobId& job, Position end) const;
  // One that is not there is no error.
  Status drop(const job::JobId& job);
  // Removes the folders of all others.
  Status retain(const std::set<job::JobId>& jobs);

  const std::filesystem::path& folder() const { return folder_; }

 private:
  struct Writer {
    os::UniqueFd fd;
    Position end;
    bool unflushed = false;
  };

  explicit SegmentStore(std::filesystem::path folder) : folder_(std::move(folder)) {}
  Result<Writer> resume(const job::JobId& job, Position recorded);
  Result<os::UniqueFd> create(const std::filesystem::path& folder, std::uint32_t number);
  Status begin_next(const job::JobId& job, Writer& writer);

  std::filesystem::path folder_;
  std::map<job::JobId, Writer> writers_;
  std::set<std::filesystem::path> unflushed_folders_;
};

}  // namespace gw::node
