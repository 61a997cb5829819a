#pragma once
// Whether a job fits to the other jobs of its home.

#include <map>
#include <memory>

#include "job/authority/manifest.h"
#include "job/home/home.h"
#include "peer/past_jobs.h"

namespace gw::peer {

// The jobs of a home: those that run, and those that are over and not forgotten.
struct JobsHere {
  const std::map<job::JobId, std::unique_ptr<job::Home>>& homes;
  const PastJobs& past;
  std::size_t most;  // that run
};

// Kind::invalid: the submitter has used the key of this charter for another job, with other content, since the same content gives the same
// charter. Kind::overloaded: too many jobs run. Kind::not_found: a job that the new one is to follow is not known. O(jobs), which are few.
Status check_new_job(const JobsHere& jobs, const job::Charter& charter, const job::Manifest& manifest);

}  // namespace gw::peer
