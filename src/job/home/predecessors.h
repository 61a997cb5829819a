#pragma once
// The jobs that a job is to follow.

#include <cstdint>
#include <functional>
#include <vector>

#include "job/authority/manifest.h"

namespace gw::job {

// The state of a job at this home, as far as a job that follows it is concerned. ended_badly: cancelled, or with a failed task or an exit
// code other than 0. unknown: it never was here, or is forgotten.
enum class JobCourse : std::uint8_t { unknown, unfinished, ended_well, ended_badly };
using CourseOfJob = std::function<JobCourse(const JobId&)>;

// Holds back a job until the jobs that its manifest names have ended well. Costs O(jobs it still waits for) per look. Limit: that of the
// manifest. A value without threads.
class Predecessors {
 public:
  // `course_of` may be empty if the manifest names no jobs.
  Predecessors(const Manifest& manifest, CourseOfJob course_of);

  // The job does not begin yet, as of the last look().
  bool waiting() const { return !left_.empty(); }
  // Kind::invalid: the job cannot begin any more, and why.
  Status look();
  // The job has begun in an earlier boot.
  void clear() { left_.clear(); }

 private:
  CourseOfJob course_of_;
  std::vector<JobId> left_;
};

}  // namespace gw::job
