#pragma once
// Reads what single tasks of a job have printed, and how they ended, from the segments of the job.

#include <cstdint>
#include <filesystem>
#include <list>
#include <map>
#include <optional>
#include <vector>

#include "job/home/task_list.h"
#include "node/control.h"
#include "node/disk/segment_file.h"

namespace gw::node {

// For each job that is read task by task the reader keeps an index: where the entries of each thread begin, and where its end is. Entries
// of a task that ran on the task plane follow each other; of a thread that prints for a while the index has one mark for each kStride bytes
// of segment in which the thread has entries. The index is made when the job is read for the first time, from the headers of its segments;
// when the job grows, only new headers are read. Output in the order of its arrival needs no index.
//
// Limits: 16 bytes for each task of a job; jobs of kMaxTasks tasks together, of which the least recently used is dropped.
// Blocks on the disk; belongs to one thread.
class TaskReader {
 public:
  static constexpr std::uint64_t kStride = 64u << 10;
  static constexpr std::size_t kMaxTasks = 4u << 20;

  explicit TaskReader(std::filesystem::path folder) : folder_(std::move(folder)) {}

  struct Source {
    job::JobId job;
    std::uint32_t tasks = 0;  // of the array
    segment::Position end;    // of what is on the medium
    bool over = false;        // nothing more will come
  };
  // Fills in how the tasks that are over have ended, and when. Kind::corrupt, Kind::not_found: a segment is damaged or missing, and where.
  Status complete(const Source& source, std::vector<ThreadView>& tasks);
  // The next frames of the output of the job. The same errors.
  Result<OutputFrames> frames(const Source& source, const FrameQuery& query);
  void forget(const job::JobId& job);

 private:
  // 0: none. A position plus 1, in one number.
  using Packed = std::uint64_t;
  struct Thread {
    Packed first = 0;  // of its entries since its last run began
    Packed end = 0;
  };
  struct Job {
    job::JobId id;
    std::uint32_t tasks = 0;
    segment::Position scanned;
    std::vector<Thread> by_task;                                   // as far as there are entries
    std::map<job::ThreadId, Thread> forked;                        // threads that are no tasks
    std::map<job::ThreadId, std::vector<segment::Position>> more;  // marks of threads whose entries lie apart
  };

  Result<Job*> indexed(const Source& source);
  static Thread& slot(Job& job, job::ThreadId thread);
  static const Thread* find(const Job& job, job::ThreadId thread);
  static void add(Job& job, const SegmentCursor::Entry& entry);
  void make_room();
  Result<OutputFrames> by_arrival(const Source& source, const FrameQuery& query) const;
  Result<OutputFrames> by_task(const Source& source, const FrameQuery& query);
  Status append_thread(const Job& job, job::ThreadId id, const FrameQuery& query, SegmentCursor& cursor, OutputFrames& out) const;

  const std::filesystem::path folder_;
  std::list<Job> jobs_;  // the one asked for last is first
};

}  // namespace gw::node
