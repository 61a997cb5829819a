#pragma once
// Whether this peer can be the home of a new job.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "job/authority/manifest.h"
#include "job/home/home.h"
#include "peer/grids.h"
#include "peer/past_jobs.h"
#include "peer/uploads.h"

namespace gw::peer {

// The state of a peer that a new job has to fit to: jobs that run, and those that are over and not forgotten; grids; uploaded blobs.
struct JobsHere {
  const std::map<job::JobId, std::unique_ptr<job::Home>>& homes;
  const PastJobs& past;
  std::size_t most;  // that run
  const Grids& grids;
  const Uploads& uploads;
  PeerId self;
};

// A job that was checked, and the blobs that it names.
struct Submission {
  job::Charter charter;
  job::Manifest manifest;
  std::vector<Hash256> blobs;
};

// Whether this peer can be the home of that job now; the arguments are those of Submit. Afterwards its grid is not nullptr.
Result<Submission> check_submission(const JobsHere& here, ByteView charter, ByteView manifest, ByteView row_inputs);

// The grid that a job names, in a sentence for people; none: that of jobs that name none.
std::string describe_grid(const std::optional<GridId>& grid);

// Kind::invalid: the submitter has used the key of this charter for another job, with other content, since the same content gives the same
// charter. Kind::overloaded: too many jobs run. Kind::not_found: a job that the new one is to follow is not known. O(jobs), which are few.
Status check_new_job(const JobsHere& jobs, const job::Charter& charter, const job::Manifest& manifest);

}  // namespace gw::peer
