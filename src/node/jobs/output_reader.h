#pragma once
// Reads the output of jobs from their segments.

#include <array>
#include <cstdint>
#include <filesystem>
#include <list>
#include <map>
#include <string>
#include <vector>

#include "node/control.h"
#include "node/disk/segment_file.h"
#include "node/jobs/output_progress.h"
#include "wire/records.pb.h"

namespace gw::node {

// The output of a job is that of task 0 from beginning to end, then task 1, and so on, then that of forked threads by id; its segments have
// the entries in the order of their arrival. For each job that is read the reader keeps an index of marks: a position in the segments and
// the size of a thread's output before it, one mark for each kStride bytes of segment in which the thread has entries. From the nearest
// mark it reads headers. When a job grows, it reads only the new headers.
//
// Limits: an index of kMaxJobs jobs, of which the least recently used is dropped; a job costs 32 bytes per thread and kStride.
// Blocks on the disk; belongs to one thread.
class OutputReader {
 public:
  static constexpr std::uint64_t kStride = 64u << 10;
  static constexpr std::size_t kMaxJobs = 8;

  explicit OutputReader(std::filesystem::path folder) : folder_(std::move(folder)) {}

  struct Request {
    job::JobId job;
    Stream stream = Stream::output;
    std::uint64_t offset = 0;
    std::uint64_t limit = 0;
    std::uint64_t final_size = 0;  // bytes that will not change; all bytes, if the job is over
    bool over = false;
    segment::Position end;  // of what is on the medium
  };
  // Kind::corrupt, Kind::not_found: a segment is damaged or missing, and where.
  Result<OutputPiece> read(const Request& request);
  // The last entry of a job that is over (job::details_of), of the given size. Kind::corrupt, Kind::not_found.
  Result<wire::pb::JobRecord> details(const job::JobId& job, segment::Position end, std::uint32_t bytes) const;
  void forget(const job::JobId& job);

 private:
  using Sizes = std::array<std::uint64_t, kStreams>;  // by stream
  struct Mark {
    segment::Position at;
    Sizes before;
  };
  struct Thread {
    std::vector<Mark> marks;
    Sizes size{};
  };
  struct Position {  // in the output of the job: threads before this one have so many bytes
    job::ThreadId thread{0};
    std::uint64_t begin = 0;
  };
  struct Job {
    job::JobId id;
    segment::Position scanned;
    std::map<job::ThreadId, Thread> threads;
    Sizes size{};                                // of all threads
    std::array<Position, kStreams> last_read{};  // where the last read of each stream ended
  };

  static std::size_t slot(Stream stream) { return static_cast<std::size_t>(stream) - 1; }
  Job& job(const job::JobId& id);
  static void drop(Job& job, job::ThreadId id);
  Status catch_up(Job& job, segment::Position end) const;
  Status append(const Job& job, job::ThreadId id, const Thread& thread, const Request& request, std::uint64_t from, std::uint64_t to,
                std::string& out) const;

  const std::filesystem::path folder_;
  std::list<Job> jobs_;  // the one asked for last is first
};

}  // namespace gw::node
