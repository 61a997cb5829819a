#pragma once
// The jobs of this home that are over.

#include <cstdint>
#include <map>
#include <set>

#include "job/actions.h"
#include "job/home/predecessors.h"
#include "wire/records.pb.h"

namespace gw::peer {

// Remembers how each job ended, for display, and so that a charter submitted twice is one job. The job's output stays on disk as long.
//
// Limits: Config. A job that ended too long ago is forgotten with its records and its output. If there are too many jobs, or their output
// is too large, those that ended first are forgotten. A value without threads.
class PastJobs {
 public:
  struct Config {
    std::size_t jobs = 1000;
    job::Time age = std::chrono::hours(24 * 30);
    std::uint64_t bytes = 10ull << 30;  // of output; the job that ended last stays even if it is larger
  };
  explicit PastJobs(Config config) : config_(config) {}

  // REQUIRES: the record has been written, in this turn or before.
  void add(const job::JobId& id, wire::pb::JobRecord record, job::Actions& out);
  // An unknown job is not an error.
  void forget(job::JobId id, job::Actions& out);  // by value: the caller's id may be part of the erased entry
  // `since_1970`: wall-clock time, for the age of jobs.
  void on_tick(job::Time since_1970, job::Actions& out);
  // In wall-clock time.
  job::Time next_deadline() const;

  // How a job has ended, for one that follows it.
  job::JobCourse course_of(const job::JobId& id) const;
  // nullptr: unknown, or forgotten.
  const wire::pb::JobRecord* find(const job::JobId& id) const;
  const std::map<job::JobId, wire::pb::JobRecord>& all() const { return jobs_; }
  std::uint64_t bytes() const { return bytes_; }
  const Config& config() const { return config_; }

 private:
  const Config config_;
  std::map<job::JobId, wire::pb::JobRecord> jobs_;
  std::set<std::pair<std::uint64_t, job::JobId>> by_end_;
  std::uint64_t bytes_ = 0;  // of the output of all
};

}  // namespace gw::peer
