#pragma once
// A file as the standard input of tasks, or of a job that nobody stays to feed: its pieces are uploaded with those of the input files.

#include <string>

#include "base/result.h"
#include "node/jobs/job_files.h"
#include "wire/worker.pb.h"

namespace gw::cli {

// Adds the pieces of the file to `inputs`. Kind::invalid: it is not a file.
Result<wire::pb::InputEntry> add_stdin_file(const std::string& file, node::InputFiles& inputs);

}  // namespace gw::cli
