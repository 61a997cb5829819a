#pragma once
// A job file as an image.

#include "node/embedded/job_file.h"
#include "wire/image/image.h"

namespace gw::node {

// The program of a job file that was left in order, with its module; the file stays as it is, but for the count of its starts.
// Kind::invalid: it was killed, or has ended; Kind::unsupported: it has several threads, or piped input that it has not read.
Result<wire::Image> image_of_job_file(JobFile& file);

}  // namespace gw::node
