#pragma once
// Reads what jobs have printed, from their segments.

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

namespace gw::node {

// The output of a job is that of task 0 from beginning to end, then task 1, and so on, then that of forked threads by id; its segments have
// it in the order in which it came. For each job that is asked for, and for no other, the reader remembers marks: where in the segments a
// thread stands, and how much it has printed before, one for each kStride bytes of segment that a thread appears in. From the nearest mark
// it goes on by reading headers. A job that grows is followed by reading the headers that are new.
//
// Limits: kMaxJobs are remembered, the one asked for longest ago is forgotten; a job costs 32 bytes for each thread and each kStride.
// Blocks on the disk; belongs to one thread.
class OutputReader {
 public:
  static constexpr std::uint64_t kStride = 64u << 10;
  static constexpr std::size_t kMaxJobs = 8;

  explicit OutputReader(std::filesystem::path folder) : folder_(std::move(folder)) {}

  struct Request {
    job::JobId job;
    std::uint32_t tasks = 0;
    Stream stream = Stream::output;
    std::uint64_t offset = 0;
    std::uint64_t limit = 0;
    std::uint64_t final_size = 0;  // bytes that will not change; all there are, if the job is over
    bool over = false;
    segment::Position end;  // of what is on the medium
  };
  // Kind::corrupt, Kind::not_found: what was written is damaged or missing, and where.
  Result<OutputPiece> read(const Request& request);
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
  struct Job {
    job::JobId id;
    segment::Position scanned;
    std::map<job::ThreadId, Thread> threads;
  };

  static std::size_t slot(Stream stream) { return static_cast<std::size_t>(stream) - 1; }
  Job& job(const job::JobId& id);
  Status catch_up(Job& job, segment::Position end) const;
  Status append(const Job& job, job::ThreadId id, const Thread& thread, const Request& request, std::uint64_t from, std::uint64_t to,
                std::string& out) const;

  const std::filesystem::path folder_;
  std::list<Job> jobs_;  // the one asked for last is first
};

}  // namespace gw::node
