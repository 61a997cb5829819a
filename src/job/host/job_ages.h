#pragma once
// When a job was submitted, as far as a lender believes it.

#include <cstdint>
#include <map>

#include "job/names.h"

namespace gw::job {

// Bounds the times of submission that homes tell (design 016, "Age of a job").
//
// An older job takes held slots from a younger one, so a home gains from an early time, and nobody else knows the right one: a signature of
// the submitter would prove nothing, since the submitter gains too. The lender therefore believes a time at most Config::believed before
// the moment in which it saw the job first. Honest times are nearly always within that, so all lenders see two gangs in the same order; a
// liar is ahead of jobs that were submitted up to so much before its own, and of no others.
//
// Limits: Config. When a home has more jobs than that, the one that asked longest ago is forgotten, and is new when it asks again. All
// times are since 1970. Costs: O(log jobs) per call, O(jobs of a home) when one is forgotten. A value without threads.
class JobAges {
 public:
  struct Config {
    Time believed = std::chrono::minutes(10);
    std::size_t homes = 1024;
    std::size_t jobs_per_home = 64;
  };

  JobAges() : JobAges(Config()) {}
  explicit JobAges(const Config& config) : config_(config) {}

  Time believed(Time now, const PeerId& home, const JobId& job, Time told);

 private:
  struct Seen {
    Time first{0}, last{0};
  };
  struct Home {
    Time last{0};
    std::map<JobId, Seen> jobs;
  };

  Config config_;
  std::map<PeerId, Home> homes_;
};

}  // namespace gw::job
