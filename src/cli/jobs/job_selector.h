#pragma once
// The ways to name a job on the command line.

#include <string>
#include <string_view>
#include <vector>

#include "node/control.h"

namespace gw::cli {

// `jobs`: newest first, as the daemon lists them. A job is named by
//   last, last-2     the job submitted last, and the second before it;
//   a name           that `run --name` gave it;
//   digits           with which its id begins.
// Kind::not_found: there is none; Kind::invalid: there are several.
Result<job::JobId> find_job(std::string_view text, const std::vector<node::JobSummary>& jobs);

// Each word names a job, or a range of jobs by their age: last-3..last. No job is in the result twice.
Result<std::vector<node::JobSummary>> find_jobs(const std::vector<std::string>& words, const std::vector<node::JobSummary>& jobs);

// The help text of an argument that names a job, or several.
inline constexpr const char* kJobText = "Job: its id, the first digits of it, its name, or last, last-1, ...";
inline constexpr const char* kJobsText = "Jobs: ids, first digits, names, last, last-1, or a range such as last-3..last";

}  // namespace gw::cli
