#pragma once
// The output of jobs of this home: segments, in a folder per job.

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <vector>

#include "node/disk/segment_file.h"

namespace gw::node {

// Appends entries to the segments of jobs. An entry counts when a record says that the job's output ends behind it (Disk writes that
// record). Bytes behind the recorded end were being written at a crash, and are cut off at the next append. Therefore entries and records
// take effect together.
//
// append() only hands bytes to the system; they are durable when flush() has returned. After a failure of either, call abandon(): entries
// that were appended and not recorded are dropped. Limit: kMaxOpen files between two flushes more than jobs appended to. Blocks on the
// disk; belongs to one thread at a time.
class SegmentStore {
 public:
  using Position = segment::Position;
  static constexpr std::size_t kMaxOpen = 64;

  // Makes the folder if it is not there.
  static Result<SegmentStore> open(const std::filesystem::path& folder);

  // Returns the new end of the job's output. `recorded`: its end according to the records; used at the first append to the job, and after
  // abandon(). Kind::overloaded: no room. Kind::corrupt: the segment is shorter than recorded.
  Result<Position> append(const job::JobId& job, Position recorded, const job::EffectEntry& entry);
  Status flush();
  void abandon();

  // All headers up to `end`, in the order in which they were appended. Kind::corrupt, Kind::not_found.
  Result<std::vector<job::StoredEffect>> headers(const job::JobId& job, Position end) const;
  // All jobs that have segments.
  std::set<job::JobId> jobs() const;
  // The end of the readable output of a job whose recorded end is lost.
  Position readable_end(const job::JobId& job) const;
  // A missing job is not an error.
  Status drop(const job::JobId& job);
  // Removes the folders of all other jobs.
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
  Status check_end(const job::JobId& job, Position end) const;
  Result<os::UniqueFd> create(const std::filesystem::path& folder, std::uint32_t number);
  Status begin_next(const job::JobId& job, Writer& writer);

  std::filesystem::path folder_;
  std::map<job::JobId, Writer> writers_;
  std::set<std::filesystem::path> unflushed_folders_;
};

}  // namespace gw::node
