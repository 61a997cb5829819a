#pragma once
// The jobs of this home that are over.

#include <cstdint>
#include <map>
#include <set>

#include "job/actions.h"
#include "wire/records.pb.h"

namespace gw::peer {

// Knows how each job ended, so that it can be shown, and so that a manifest submitted twice is one job. Its output stays on disk as long.
//
// Limit: Config::jobs; then the one that ended first is forgotten with all its records. A value without threads.
class PastJobs {
 public:
  struct Config {
    std::size_t jobs = 1000;
  };
  explicit PastJobs(Config config) : config_(config) {}

  // It has been written, in this turn or before.
  void add(const job::JobId& id, wire::pb::JobRecord record, job::Actions& out);
  // nullptr: never heard of, or forgotten.
  const wire::pb::JobRecord* find(const job::JobId& id) const;
  const std::map<job::JobId, wire::pb::JobRecord>& all() const { return jobs_; }

 private:
  const Config config_;
  std::map<job::JobId, wire::pb::JobRecord> jobs_;
  std::set<std::pair<std::uint64_t, job::JobId>> by_end_;
};

}  // namespace gw::peer
