#pragma once
// The files a program can be resumed from.

#include <string>

#include "base/result.h"
#include "wire/image/image.h"

namespace gw::cli {

// Reads and decodes an image. The content of its pages is checked when they are used.
Result<wire::Image> read_image(const std::string& file);

// Whether the file is a job file (--checkpoint-every) and not an image. Fails if it cannot be read.
Result<bool> is_job_file(const std::string& file);

}  // namespace gw::cli
